// Writing the query log and the audit trail inside a tenant's database.
import type { CommitChange } from "../../../sql/service/change_rows.ts";
import { type LogPruning, MANY_AT_ONCE, pruneStatements } from "../../../sql/service/log_pruning.ts";
import { REPLACE_COUNTED } from "../../../sql/words/service_tables.ts";
import type { Connection } from "../../../engine/connection.ts";
import { ENDPOINT_CALL_COLUMNS, LOG_COLUMNS, type LogValue, type LogValues } from "../../log_columns.ts";
import type { WireLogTable } from "./protocol.ts";

/** Rows that one statement inserts, which takes half the time of single inserts. */
const ROWS_AT_ONCE = 16;
/** Rows between two rests, some 0.2 ms of work. */
const ROWS_TO_A_REST = 32;
const LOG = inserts("INSERT OR IGNORE INTO _service_meta_query_log", LOG_COLUMNS);
const ENDPOINT_CALL = inserts(
  "INSERT INTO _service_meta_endpoint_call",
  ENDPOINT_CALL_COLUMNS,
  REPLACE_COUNTED,
);
const INSERT_AUDIT = "INSERT INTO _service_meta_audit VALUES (?,?,?,?,?,?,?,?)";

/** Indexes in a log row of the figures that are filled in when the call has run. */
const STATUS = 7;
const ERROR_KIND = 8;
const ROWS_READ = 9;
const ROWS_WRITTEN = 10;
const DURATION = 11;

/** Figures of one call for its row. */
export interface CallFigures {
  readonly errorKind: string | null;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly ms: number;
}

/** Rows of the two logs travel together; their number of columns tells them apart. `rest` is called now and then. */
export function insertLogRows(
  connection: Connection,
  tables: readonly WireLogTable[],
  rest: () => void = () => {},
): void {
  for (const { rows, columns } of tables) {
    const insert = columns.length === ENDPOINT_CALL_COLUMNS ? ENDPOINT_CALL : LOG;
    let next = 0;
    for (; next + ROWS_AT_ONCE <= rows; next += ROWS_AT_ONCE) {
      if (next > 0 && next % ROWS_TO_A_REST === 0) rest();
      connection.internalRun(insert.many, ...valuesOf(columns, next, next + ROWS_AT_ONCE));
    }
    for (; next < rows; next++) connection.internalRun(insert.one, ...valuesOf(columns, next, next + 1));
  }
}

/** Row after row. */
function valuesOf(columns: WireLogTable["columns"], start: number, end: number): LogValue[] {
  const values: LogValue[] = [];
  for (let row = start; row < end; row++) {
    for (const column of columns) values.push(isList(column) ? column[row] ?? null : column);
  }
  return values;
}

function inserts(
  insert: string,
  columns: number,
  end = "",
): { readonly one: string; readonly many: string } {
  const row = `(${Array(columns).fill("?").join(",")})`;
  const rows = Array(ROWS_AT_ONCE).fill(row).join(",");
  return { one: `${insert} VALUES ${row} ${end}`, many: `${insert} VALUES ${rows} ${end}` };
}

function isList(column: WireLogTable["columns"][number]): column is readonly LogValue[] {
  return Array.isArray(column);
}

/** Inserts the row of a call that has just run, in the open transaction. */
export function insertCallRow(connection: Connection, row: LogValues, figures: CallFigures): void {
  const filled = [...row];
  filled[STATUS] = figures.errorKind === null ? "ok" : "error";
  filled[ERROR_KIND] = figures.errorKind;
  filled[ROWS_READ] = figures.rowsRead;
  filled[ROWS_WRITTEN] = figures.rowsWritten;
  filled[DURATION] = figures.ms;
  connection.internalRun(LOG.one, ...filled);
}

/** Inserts audit rows that are complete. */
export function insertAuditRows(connection: Connection, rows: readonly LogValues[]): void {
  for (const row of rows) connection.internalRun(INSERT_AUDIT, ...row);
}

/** Inserts an audit row. `log` is the call's log row: id, ts, token, user, operation are at 0, 1, 4, 5, 6. */
export function insertAuditRow(
  connection: Connection,
  id: string,
  tables: string,
  log: LogValues,
  rowsWritten: number,
): void {
  connection.internalRun(
    INSERT_AUDIT,
    id,
    log[1] ?? null,
    log[4] ?? null,
    log[5] ?? null,
    log[6] ?? null,
    tables,
    rowsWritten,
    log[0] ?? null,
  );
}

/** Inserts the row that tells of what the open transaction has changed, if it has. */
export function insertChange(connection: Connection, { insert }: CommitChange): void {
  if (insert !== null) connection.internalRun(insert[0], ...insert[1]);
}

/** Deletes rows that are too old or too many, a bounded number at a time. True: there may be more that are too many. */
export function pruneLog(connection: Connection, pruning: LogPruning): boolean {
  const statements = pruneStatements(pruning, (sql, params) => connection.internalRow(sql, ...params)?.[0]);
  let left = false;
  for (const [sql, params] of statements) {
    left = connection.internalChanges(sql, ...params) >= MANY_AT_ONCE || left;
  }
  return left;
}
