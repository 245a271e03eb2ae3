// The last writes of a database, each with the moment just before it, for whoever looks for the one to go back to.
import { isoTime } from "../../core/clock.ts";
import { writtenTables } from "../../sql/grammar/written_tables.ts";
import { readOwnRows } from "../query/read_own.ts";
import type { StatementsContext } from "../query/run_statements.ts";

/** One write. */
export interface WriteView {
  /** Of its audit row. */
  readonly id: string;
  /** When it began. */
  readonly at: string;
  /** The last moment without it, and without what began in the same millisecond. */
  readonly justBefore: string;
  /** Id of the API token or member. */
  readonly actor: string;
  readonly tables: readonly string[];
  readonly rowsWritten: number;
  readonly operation: string;
  /** Id of its row in the query log. */
  readonly queryLogId: string;
  /** Its text, without values; null: that row is older than the log. */
  readonly sql: string | null;
}

/** Which writes. */
export interface WritesInput {
  /** Those that began before then, unix milliseconds; null: all. */
  readonly untilMs: number | null;
  /** Those older than the one of this id; null: all. */
  readonly after: string | null;
  readonly pageSize: number;
}

type WriteTuple = [string, number, string, string, number, string, string, string | null];

/** The time of the audit row is the one that the archive compares with a moment. */
const SELECT =
  "SELECT a.id, a.ts, a.token_id, a.tables, a.rows_written, a.operation, a.query_log_id, l.sql " +
  "FROM _service_meta_audit a LEFT JOIN _service_meta_query_log l ON l.id = a.query_log_id " +
  "WHERE a.id < ? AND a.ts < ? ORDER BY a.id DESC LIMIT ?";
/** Behind every id and every time. */
const ANY_ID = "~";

/** One page, newest first; `older` is the `after` of the next one, null on the last. Errors: those of the store. */
export async function listWrites(
  ctx: StatementsContext,
  { untilMs, after, pageSize }: WritesInput,
): Promise<{ writes: WriteView[]; older: string | null }> {
  const params = [after ?? ANY_ID, untilMs ?? Number.MAX_SAFE_INTEGER, pageSize + 1];
  const rows = await readOwnRows<WriteTuple>(ctx, { sql: SELECT, params });
  const writes = rows.slice(0, pageSize).map(viewOf);
  return { writes, older: rows.length > pageSize ? writes.at(-1)?.id ?? null : null };
}

function viewOf([id, ts, actor, tables, rowsWritten, operation, queryLogId, sql]: WriteTuple): WriteView {
  const at = isoTime(ts);
  const justBefore = isoTime(ts - 1);
  return {
    id,
    at,
    justBefore,
    actor,
    tables: writtenTables(tables),
    rowsWritten,
    operation,
    queryLogId,
    sql,
  };
}
