// The record of one call of a published endpoint (contract 9).

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
  readonly durationMs: number;
  readonly userId: string | null;
  /** Keyed hash of the client's address. */
  readonly ipHash: string | null;
}
