// What a namespace's databases used, by hour or by day.
import { AppError } from "../../core/errors.ts";
import { keys } from "../../store/keys.ts";
import type { UsageRecord } from "../../store/money_records.ts";
import { kvEntries } from "../../store/kv_call.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
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

/** In the order of time. Errors: `validation_failed` above 10,000 rows, `meter_unreachable`. */
export async function readUsage(kv: Deno.Kv, namespaceId: string, range: UsageRange): Promise<UsageRow[]> {
  // KV refuses a range that ends before it begins.
  if (range.fromMs >= range.toMs) return [];
  const stepMs = range.by === "day" ? DAY_MS : HOUR_MS;
  const from = keys.usageFrom(namespaceId, Math.floor(range.fromMs / stepMs) * stepMs / HOUR_MS);
  const to = keys.usageFrom(namespaceId, Math.ceil(range.toMs / HOUR_MS));
  const rows = new Map<string, UsageRow>();
  for await (const { key, value } of kvEntries(kv, keys.usageOf(namespaceId), { from, to })) {
    const [, , hour, databaseId] = key;
    if (typeof hour !== "number" || typeof databaseId !== "string") continue;
    const startMs = Math.floor(hour * HOUR_MS / stepMs) * stepMs;
    const name = `${startMs}/${databaseId}`;
    const before = rows.get(name);
    rows.set(name, {
      startMs,
      databaseId,
      requests: (before?.requests ?? 0) + value.requests,
      rowsRead: (before?.rowsRead ?? 0) + value.rowsRead,
      rowsWritten: (before?.rowsWritten ?? 0) + value.rowsWritten,
      costNanoUsd: (before?.costNanoUsd ?? 0) + value.costNanoUsd,
    });
    if (rows.size > MAX_ROWS) {
      throw new AppError("validation_failed", {
        issues: [{ path: "from", message: "Ask for a shorter time or by day; this has too many rows" }],
      });
    }
  }
  return [...rows.values()];
}
