// The record of one call of a published endpoint, or of equal refusals of one minute.

/** Columns of `_service_meta_endpoint_call`. Times are unix milliseconds. */
export interface EndpointCallRow {
  readonly id: string;
  readonly ts: number;
  /** Its slug. */
  readonly endpoint: string;
  readonly status: "ok" | "error";
  readonly httpStatus: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Of several calls the mean. */
  readonly durationMs: number;
  /** Null where several calls differ. */
  readonly userId: string | null;
  /** Keyed hash of the client's address; null where several calls differ. */
  readonly ipHash: string | null;
  /** Of the error table; null for a call that was answered. */
  readonly code: string | null;
  /** Of a write that a rule has denied: the rules that it met, as JSON. */
  readonly hits: string | null;
  /** Calls that the row stands for. */
  readonly count: number;
}

/** Columns of `_service_meta_query_log`, which tell its rows from those of calls. */
export const LOG_COLUMNS = 14;
const STATUS = 3;

/** Whether values in the order of a log table's columns are of a refused call, whose row later ones replace. */
export function isRefusal(row: readonly unknown[]): boolean {
  return row.length !== LOG_COLUMNS && row[STATUS] === "error";
}
