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
  /** The mean where the row stands for several calls. */
  readonly durationMs: number;
  /** Null where several calls differ. */
  readonly userId: string | null;
  /** Keyed hash of the client's address; null where several calls differ. */
  readonly ipHash: string | null;
  /** The error code; null for a call that succeeded. */
  readonly code: string | null;
  /** For a write that a rule has denied: the rules that it met, as JSON. */
  readonly hits: string | null;
  /** The number of calls that the row stands for. */
  readonly count: number;
}
