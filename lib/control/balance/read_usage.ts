// What databases used, as it was booked by the hour: in rows for programs, in sums for pages.
import { AppError } from "../../core/errors.ts";
import { keys } from "../../store/keys.ts";
import { kvEntries } from "../../store/kv_call.ts";
import type { UsageRecord } from "../../store/money_records.ts";

const HOUR_MS = 3_600_000;
const stepsMs = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
/** Rows of one answer: a year of hours of one database. */
const MAX_ROWS = 10_000;

/** Which hours or days. */
export interface UsageRange {
  /** Unix milliseconds; the whole hour or day that contains it counts. */
  readonly fromMs: number;
  /** Unix milliseconds, exclusive. */
  readonly toMs: number;
  /** In UTC. */
  readonly by: "hour" | "day";
}

/** Costs include what was written off. */
export interface UsageRow extends UsageRecord {
  /** Unix milliseconds at which the hour or day begins. */
  readonly startMs: number;
  readonly databaseId: string;
}

/** What hours or days, and what databases, come to. */
export interface UsageSums {
  /** By the time at which the hour or day begins, unix milliseconds. */
  readonly byTime: ReadonlyMap<number, UsageRecord>;
  readonly byDatabase: ReadonlyMap<string, UsageRecord>;
}

/**
 * What a namespace's databases used, by hour or by day. In the order of time. Errors: `validation_failed` above
 * 10,000 rows, `meter_unreachable`.
 */
export async function readUsage(kv: Deno.Kv, namespaceId: string, range: UsageRange): Promise<UsageRow[]> {
  const rows = new Map<string, UsageRow>();
  for await (const { startMs, databaseId, used } of booked(kv, namespaceId, range)) {
    const name = `${startMs}/${databaseId}`;
    rows.set(name, { startMs, databaseId, ...sum(rows.get(name), used) });
    if (rows.size > MAX_ROWS) {
      throw new AppError("validation_failed", {
        issues: [{
          path: "from",
          message: `Ask for a shorter time${range.by === "day" ? "" : " or by day"}; this has too many rows`,
        }],
      });
    }
  }
  return [...rows.values()];
}

/** The same in sums. `only`: the database that `byTime` is about; null: all. Errors: `meter_unreachable`. */
export async function sumUsage(
  kv: Deno.Kv,
  namespaceId: string,
  { only, ...range }: UsageRange & { readonly only: string | null },
): Promise<UsageSums> {
  const byTime = new Map<number, UsageRecord>();
  const byDatabase = new Map<string, UsageRecord>();
  for await (const { startMs, databaseId, used } of booked(kv, namespaceId, range)) {
    byDatabase.set(databaseId, sum(byDatabase.get(databaseId), used));
    if (only === null || only === databaseId) byTime.set(startMs, sum(byTime.get(startMs), used));
  }
  return { byTime, byDatabase };
}

async function* booked(kv: Deno.Kv, namespaceId: string, { fromMs, toMs, by }: UsageRange) {
  // KV refuses a range that ends before it begins.
  if (fromMs >= toMs) return;
  const stepMs = stepsMs[by];
  const from = keys.usageFrom(namespaceId, Math.floor(fromMs / stepMs) * stepMs / HOUR_MS);
  const to = keys.usageFrom(namespaceId, Math.ceil(toMs / HOUR_MS));
  for await (const { key, value: used } of kvEntries(kv, keys.usageOf(namespaceId), { from, to })) {
    const [, , hour, databaseId] = key;
    if (typeof hour !== "number" || typeof databaseId !== "string") continue;
    yield { startMs: Math.floor(hour * HOUR_MS / stepMs) * stepMs, databaseId, used };
  }
}

function sum(before: UsageRecord | undefined, used: UsageRecord): UsageRecord {
  return {
    requests: (before?.requests ?? 0) + used.requests,
    rowsRead: (before?.rowsRead ?? 0) + used.rowsRead,
    rowsWritten: (before?.rowsWritten ?? 0) + used.rowsWritten,
    costNanoUsd: (before?.costNanoUsd ?? 0) + used.costNanoUsd,
  };
}
