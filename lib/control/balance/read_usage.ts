// What databases used, as it was booked by the hour: in rows for programs, in sums for pages.
import { HOUR_MS } from "../../core/clock.ts";
import { invalidInput } from "../../core/errors.ts";
import { MAX_USAGE_ROWS } from "../../core/limits.ts";
import { keys } from "../../store/keys.ts";
import { kvEntries, kvGetEach } from "../../store/kv_call.ts";
import type { UsageRecord } from "../../store/money_records.ts";
import { sumOfUsage } from "./database_usage.ts";

/** Hours whose rows of one database are read one behind the other, before the next hour with any is looked for. */
const HOURS_AT_ONCE = 240;

const stepsMs = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;

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

/** A part of the rows. */
export interface UsageRows {
  readonly rows: readonly UsageRow[];
  /** Null: the last part. */
  readonly nextCursor: string | null;
}

/** What hours or days, and what databases, come to. */
export interface UsageSums {
  /** By the time at which the hour or day begins, unix milliseconds. */
  readonly byTime: ReadonlyMap<number, UsageRecord>;
  readonly byDatabase: ReadonlyMap<string, UsageRecord>;
}

/** Which part of the rows; all of them, or none, where both are null. */
export interface UsagePage {
  /** `nextCursor` of the part before. */
  readonly cursor: string | null;
  readonly pageSize: number | null;
  /** The database whose rows are wanted; null or absent: all. */
  readonly only?: string | null;
}

/**
 * What a namespace's databases used, by hour or by day. In the order of time, then of database ids. Errors: `validation_failed`
 * for more than 10,000 rows of which no page is asked for and for what is no cursor, `meter_unreachable`.
 */
export async function readUsage(
  kv: Deno.Kv,
  namespaceId: string,
  range: UsageRange,
  page: UsagePage,
): Promise<UsageRows> {
  const after = cursorOf(page.cursor);
  const pageSize = page.pageSize ?? MAX_USAGE_ROWS;
  const rows: UsageRow[] = [];
  const fromMs = Math.max(range.fromMs, after.startMs);
  const { only = null } = page;
  const entries = only === null
    ? booked(kv, namespaceId, { ...range, fromMs })
    : bookedOf(kv, namespaceId, only, { ...range, fromMs });
  for await (const step of steps(entries)) {
    for (const row of step) if (isBehind(row, after)) rows.push(row);
    if (rows.length > pageSize) break;
  }
  if (rows.length <= pageSize) return { rows, nextCursor: null };
  if (page.pageSize === null && page.cursor === null) {
    const byDay = range.by === "day" ? "" : " or by day";
    throw invalidInput(
      "from",
      `Ask for pages with pageSize, or for a shorter time${byDay}; this has too many rows`,
    );
  }
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  return { rows: shown, nextCursor: last ? `${last.startMs}.${last.databaseId}` : null };
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
    byDatabase.set(databaseId, sumOfUsage(byDatabase.get(databaseId) ?? null, used));
    if (only === null || only === databaseId) {
      byTime.set(startMs, sumOfUsage(byTime.get(startMs) ?? null, used));
    }
  }
  return { byTime, byDatabase };
}

/** What was booked in an hour of one database, and when its hour or day begins. */
interface Booked {
  readonly startMs: number;
  readonly databaseId: string;
  readonly used: UsageRecord;
}

async function* booked(kv: Deno.Kv, namespaceId: string, range: UsageRange): AsyncGenerator<Booked> {
  const hours = hoursOf(range);
  for await (const { hour, databaseId, used } of bookedBetween(kv, namespaceId, hours)) {
    yield { startMs: startOf(hour, range.by), databaseId, used };
  }
}

/** Of one database, whose rows are asked for by their keys: those of thousands of others may stand between them. */
async function* bookedOf(
  kv: Deno.Kv,
  namespaceId: string,
  databaseId: string,
  range: UsageRange,
): AsyncGenerator<Booked> {
  const { from, to } = hoursOf(range);
  for (let next = from; next < to;) {
    const { value: first } = await bookedBetween(kv, namespaceId, { from: next, to }).next();
    if (!first) return;
    next = Math.min(first.hour + HOURS_AT_ONCE, to);
    const hours = Array.from({ length: next - first.hour }, (_, at) => first.hour + at);
    const entries = await kvGetEach(kv, hours.map((hour) => keys.usage(namespaceId, hour, databaseId)));
    for (const [at, { value: used }] of entries.entries()) {
      if (used) yield { startMs: startOf(first.hour + at, range.by), databaseId, used };
    }
  }
}

async function* bookedBetween(
  kv: Deno.Kv,
  namespaceId: string,
  { from, to }: { readonly from: number; readonly to: number },
) {
  // KV refuses a range that ends before it begins.
  if (from >= to) return;
  const range = { from: keys.usageFrom(namespaceId, from), to: keys.usageFrom(namespaceId, to) };
  for await (const { key, value: used } of kvEntries(kv, keys.usageOf(namespaceId), range)) {
    const [, , hour, databaseId] = key;
    if (typeof hour === "number" && typeof databaseId === "string") yield { hour, databaseId, used };
  }
}

/** Unix time in whole hours; `to` is exclusive. Nothing where the range ends before it begins. */
function hoursOf({ fromMs, toMs, by }: UsageRange): { readonly from: number; readonly to: number } {
  const to = Math.ceil(toMs / HOUR_MS);
  return { from: fromMs < toMs ? startOf(fromMs / HOUR_MS, by) / HOUR_MS : to, to };
}

/** Unix milliseconds at which the hour or day begins. */
function startOf(hour: number, by: UsageRange["by"]): number {
  return Math.floor(hour * HOUR_MS / stepsMs[by]) * stepsMs[by];
}

/** The rows of one hour or day after the other, each in the order of database ids. */
async function* steps(entries: AsyncGenerator<Booked>): AsyncGenerator<UsageRow[]> {
  let startMs = -Infinity;
  let rows = new Map<string, UsageRow>();
  for await (const entry of entries) {
    if (entry.startMs !== startMs) {
      yield inOrder(rows);
      startMs = entry.startMs;
      rows = new Map();
    }
    const { databaseId, used } = entry;
    rows.set(databaseId, { startMs, databaseId, ...sumOfUsage(rows.get(databaseId) ?? null, used) });
  }
  yield inOrder(rows);
}

function inOrder(rows: ReadonlyMap<string, UsageRow>): UsageRow[] {
  return [...rows.values()].sort((a, b) => a.databaseId < b.databaseId ? -1 : 1);
}

/** The row that a cursor names. Errors: `validation_failed`. */
function cursorOf(cursor: string | null): Pick<UsageRow, "startMs" | "databaseId"> {
  if (cursor === null) return { startMs: -Infinity, databaseId: "" };
  const [, startMs, databaseId] = /^(\d{1,15})\.(\w+)$/.exec(cursor) ?? [];
  if (startMs !== undefined && databaseId !== undefined) return { startMs: Number(startMs), databaseId };
  throw invalidInput("cursor", "Send the nextCursor of the page before");
}

function isBehind(row: UsageRow, after: Pick<UsageRow, "startMs" | "databaseId">): boolean {
  return row.startMs > after.startMs || row.startMs === after.startMs && row.databaseId > after.databaseId;
}
