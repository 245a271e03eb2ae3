// How long the calls of a database took, from its query log: the median, and what 95 of 100 calls stayed below.
import { DAY_MS, HOUR_MS, isoTime } from "../../core/clock.ts";
import { idFloor } from "../../core/ids.ts";
import { readOwnRows } from "./read_own.ts";
import type { StatementsContext } from "./run_statements.ts";

/** Calls that are looked at, the newest: what the engine sorts in some 20 ms. */
const MOST_CALLS = 10_000;
const stepMs = { hour: HOUR_MS, day: DAY_MS } as const;
/** How far back unless told otherwise. */
const spanMs = { hour: DAY_MS, day: 30 * DAY_MS } as const;

/** Milliseconds in the engine of calls that reached it. Null where there was none. */
export interface Latency {
  readonly calls: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** The same over time; hours or days without calls are left out. */
export interface LatencyReport extends Latency {
  readonly over: readonly (Latency & { readonly from: string })[];
}

/** Which calls. */
export interface LatencyInput {
  /** Unix milliseconds; `since` inclusive, `until` exclusive. Null: the last 24 hours or 30 days, until now. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** In UTC. */
  readonly by: "hour" | "day";
}

/** Nearest rank: a figure is one that a call really took. */
const RANKED = "WITH calls AS (SELECT CAST(ts / ? AS INTEGER) AS bar, duration_ms AS ms " +
  "FROM _service_meta_query_log WHERE id >= ? AND id < ? AND duration_ms > 0 ORDER BY id DESC LIMIT ?), " +
  "ranked AS (SELECT bar, ms, row_number() OVER (PARTITION BY bar ORDER BY ms) AS place, " +
  "count(*) OVER (PARTITION BY bar) AS calls, row_number() OVER (ORDER BY ms) AS overall, " +
  "count(*) OVER () AS everything FROM calls) ";
const SELECT = RANKED +
  "SELECT bar, max(calls), max(ms) FILTER (WHERE place = (calls * 50 + 99) / 100), " +
  "max(ms) FILTER (WHERE place = (calls * 95 + 99) / 100) FROM ranked GROUP BY bar " +
  "UNION ALL SELECT NULL, count(*), max(ms) FILTER (WHERE overall = (everything * 50 + 99) / 100), " +
  "max(ms) FILTER (WHERE overall = (everything * 95 + 99) / 100) FROM ranked ORDER BY 1";

type Row = [bar: number | null, calls: number, p50: number | null, p95: number | null];

/** Of the newest 10,000 calls of that time. Errors: those of a read. */
export async function readLatency(
  ctx: StatementsContext,
  { sinceMs, untilMs, by }: LatencyInput,
): Promise<LatencyReport> {
  const until = untilMs ?? ctx.clock.now() + 1;
  const since = sinceMs ?? until - spanMs[by];
  const params = [stepMs[by], idFloor("qry", since), idFloor("qry", until), MOST_CALLS];
  const rows = await readOwnRows<Row>(ctx, { sql: SELECT, params });
  const latencyOf = ([, calls, p50Ms, p95Ms]: Row): Latency => ({ calls, p50Ms, p95Ms });
  const whole = rows.find(([bar]) => bar === null);
  return {
    ...(whole === undefined ? { calls: 0, p50Ms: null, p95Ms: null } : latencyOf(whole)),
    over: rows.flatMap((row) =>
      row[0] === null ? [] : [{ from: isoTime(row[0] * stepMs[by]), ...latencyOf(row) }]
    ),
  };
}
