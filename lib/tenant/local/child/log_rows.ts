// Writing the query log and the audit trail inside a tenant's database.
import type { Connection } from "./connection.ts";
import type { WireLogRow } from "./protocol.ts";

const INSERT_LOG = "INSERT OR IGNORE INTO _service_meta_query_log VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
const INSERT_ENDPOINT_CALL = "INSERT OR IGNORE INTO _service_meta_endpoint_call VALUES (?,?,?,?,?,?,?,?,?,?)";
const INSERT_AUDIT = "INSERT INTO _service_meta_audit VALUES (?,?,?,?,?,?,?,?)";

/** Places in a log row that are filled in when the call has run. */
const STATUS = 7;
const ERROR_KIND = 8;
const ROWS_READ = 9;
const ROWS_WRITTEN = 10;
const DURATION = 11;

/** Columns of `_service_meta_endpoint_call`. */
const ENDPOINT_CALL_COLUMNS = 10;

export interface CallFigures {
  readonly errorKind: string | null;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly ms: number;
}

/** Rows of the two logs travel together; their number of columns tells them apart. */
export function insertLogRow(connection: Connection, row: WireLogRow): void {
  connection.internalRun(row.length === ENDPOINT_CALL_COLUMNS ? INSERT_ENDPOINT_CALL : INSERT_LOG, ...row);
}

/** The row of a call that has just run, in the transaction that is open. */
export function insertCallRow(connection: Connection, row: WireLogRow, figures: CallFigures): void {
  const filled = [...row];
  filled[STATUS] = figures.errorKind === null ? "ok" : "error";
  filled[ERROR_KIND] = figures.errorKind;
  filled[ROWS_READ] = figures.rowsRead;
  filled[ROWS_WRITTEN] = figures.rowsWritten;
  filled[DURATION] = figures.ms;
  connection.internalRun(INSERT_LOG, ...filled);
}

/** `log` is the call's log row: id, ts, …, token, user, operation stand at 0, 1, 4, 5, 6. */
export function insertAuditRow(
  connection: Connection,
  id: string,
  tables: string,
  log: WireLogRow,
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

/** Deletes rows older than an id, a bounded number at a time so that no commit grows long. */
export function pruneLog(connection: Connection, beforeId: string): void {
  const ulid = beforeId.slice(beforeId.indexOf("_") + 1);
  for (
    const [table, prefix] of [["_service_meta_query_log", "qry"], ["_service_meta_audit", "evt"], [
      "_service_meta_endpoint_call",
      "evt",
    ]]
  ) {
    connection.internalRun(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id < ? ORDER BY id LIMIT 5000)`,
      `${prefix}_${ulid}`,
    );
  }
}
