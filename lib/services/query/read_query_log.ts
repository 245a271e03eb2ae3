// The query log of a database, newest first, from its own table.
import { isoTime } from "../../core/clock.ts";
import { readOwn } from "./read_own.ts";
import { readResult } from "./read_result.ts";
import type { StatementsContext } from "./run_statements.ts";
import { requireCursor } from "../shown_page.ts";

/** Which rows of the log are wanted. */
export interface QueryLogInput {
  /** Unix milliseconds; `since` inclusive, `until` exclusive. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly tokenId: string | null;
  readonly status: "ok" | "error" | null;
  readonly cursor: string | null;
  readonly pageSize: number;
  /** Only the row with this id. */
  readonly id?: string;
}

/** A row of the log as the API shows it. */
export interface QueryLogEntry {
  readonly id: string;
  readonly ts: string;
  readonly namespaceId: string;
  readonly dbId: string;
  readonly tokenId: string;
  readonly userId: string | null;
  readonly operation: string;
  readonly status: string;
  readonly errorKind: string | null;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly durationMs: number;
  readonly statementCount: number;
  readonly sql: string;
}

const SELECT =
  `SELECT id, ts, namespace_id AS namespaceId, db_id AS dbId, token_id AS tokenId, user_id AS userId,
operation, status, error_kind AS errorKind, rows_read AS rowsRead, rows_written AS rowsWritten,
duration_ms AS durationMs, statement_count AS statementCount, sql FROM _service_meta_query_log`;

/** One page; `nextCursor` is null on the last. Errors: `validation_failed` for a cursor that is none. */
export async function readQueryLog(
  ctx: StatementsContext,
  input: QueryLogInput,
): Promise<{ entries: QueryLogEntry[]; nextCursor: string | null }> {
  requireCursor(input.cursor, "qry");
  const conditions: string[] = [];
  const params: (string | number)[] = [];
  const where = (condition: string, value: string | number | null) => {
    if (value === null) return;
    conditions.push(condition);
    params.push(value);
  };
  where("id = ?", input.id ?? null);
  where("id < ?", input.cursor);
  where("ts >= ?", input.sinceMs);
  where("ts < ?", input.untilMs);
  where("token_id = ?", input.tokenId);
  where("status = ?", input.status);
  const filter = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  const [json] = await readOwn(ctx, [{
    sql: `${SELECT}${filter} ORDER BY id DESC LIMIT ?`,
    params: [...params, input.pageSize + 1],
  }]);
  const entries = entriesOf(json);
  const page = entries.slice(0, input.pageSize);
  return { entries: page, nextCursor: entries.length > input.pageSize ? page.at(-1)?.id ?? null : null };
}

/** Guarantee: `SELECT` names its columns as `QueryLogEntry` names its members, with the time as a number. */
function entriesOf(json: string | undefined): QueryLogEntry[] {
  const { columns, rows } = readResult(json);
  const entries: unknown = rows.map((row) =>
    Object.fromEntries(columns.map((name, at) => [name, name === "ts" ? isoTime(Number(row[at])) : row[at]]))
  );
  return entries as QueryLogEntry[];
}
