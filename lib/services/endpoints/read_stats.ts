// Calls of an endpoint by hour, added up from the call log in the tenant's own database: whichever instance answered
// a call, and on whichever engine.
import { callerId } from "../../access/caller.ts";
import { DAY_MS, HOUR_MS, isoTime, roundMs } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { idFloor } from "../../core/ids.ts";
import { type DatabaseAddress, readableDatabase, trunkTarget } from "../databases/database_record.ts";
import { readOwnRows } from "../query/read_own.ts";
import { type EndpointContext, requireEndpoint } from "./endpoint_context.ts";

/** Which endpoint, and which span of time. */
export interface StatsInput {
  readonly address: DatabaseAddress;
  readonly slug: string;
  /** Unix milliseconds, inclusive; 24 hours before `toMs` where not given. */
  readonly fromMs: number | null;
  /** Unix milliseconds, exclusive; now where not given. */
  readonly toMs: number | null;
}

/** One hour, in UTC, in which there were calls. */
export interface HourStats {
  /** When the hour begins, ISO 8601. */
  readonly from: string;
  readonly calls: number;
  /** Calls by HTTP status, refused ones too. */
  readonly byStatus: Readonly<Record<string, number>>;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly durationAvgMs: number;
  readonly durationMaxMs: number;
}

const MAX_DAYS = 31;

/** An id is never older than the time of its row, and the table is ordered by id: older rows are not read. */
const SELECT = "SELECT ts / 3600000 AS hour, http_status, sum(count), sum(rows_read), sum(rows_written), " +
  "sum(duration_ms * count), max(duration_ms) FROM _service_meta_endpoint_call " +
  "WHERE id >= ? AND ts >= ? AND ts < ? AND endpoint = ? GROUP BY hour, http_status ORDER BY hour, http_status";

type Sums = [
  hour: number,
  status: number,
  calls: number,
  rowsRead: number,
  rowsWritten: number,
  durationMs: number,
  longestMs: number,
];

/**
 * In the order of time; hours without calls are left out. Free, and not in the query log. Errors:
 * `endpoint_not_found`, `validation_failed` (`from`, `to`), those of `readableDatabase` and of the pipeline.
 */
export async function readStats(ctx: EndpointContext, input: StatsInput): Promise<HourStats[]> {
  const { address, slug } = input;
  const database = await readableDatabase(ctx, address);
  await requireEndpoint(ctx, database, slug);
  const { fromMs, toMs } = boundedRange(input, ctx.clock.now());
  const target = trunkTarget(database, address.namespaceSlug, "read");
  const params = [idFloor("evt", fromMs), fromMs, toMs, slug];
  const reader = { ...ctx.query, target, tokenId: callerId(ctx.caller) };
  const byHour = Map.groupBy(await readOwnRows<Sums>(reader, { sql: SELECT, params }), ([hour]) => hour);
  return [...byHour].map(([hour, sums]) => hourStats(hour, sums));
}

function boundedRange(
  { fromMs, toMs }: Pick<StatsInput, "fromMs" | "toMs">,
  nowMs: number,
): { fromMs: number; toMs: number } {
  const to = toMs ?? nowMs + 1;
  const from = fromMs ?? to - DAY_MS;
  if (from >= to) {
    const issue = toMs === null
      ? { path: "from", message: "Send a time that is not in the future" }
      : { path: "to", message: "Send a time after from" };
    throw new AppError("validation_failed", { issues: [issue] });
  }
  if (to - from > MAX_DAYS * DAY_MS) {
    throw invalidInput("from", `Ask for at most ${MAX_DAYS} days at once: a later from, or an earlier to`);
  }
  return { fromMs: from, toMs: to };
}

function hourStats(hour: number, sums: readonly Sums[]): HourStats {
  const total = (column: 2 | 3 | 4 | 5) => sums.reduce((sum, row) => sum + row[column], 0);
  const calls = total(2);
  return {
    from: isoTime(hour * HOUR_MS),
    calls,
    byStatus: Object.fromEntries(sums.map(([, status, count]) => [String(status), count])),
    rowsRead: total(3),
    rowsWritten: total(4),
    durationAvgMs: roundMs(total(5) / calls),
    durationMaxMs: Math.max(...sums.map((row) => row[6])),
  };
}
