// The one closed table of failures and the one error class: the only door from a failure to an HTTP answer.

interface ErrorRow {
  readonly status: number;
  readonly message: string;
  /** Whether the same call can succeed later without being changed. */
  readonly retryable: boolean;
  /** Seconds for `Retry-After`, on those that carry it. */
  readonly retryAfterSec?: number;
}

/** Code → status, message and whether a retry can help. The README's table is tested against it. */
export const errorTable = {
  invalid_json: { status: 400, message: "Send the body as JSON; it could not be parsed", retryable: false },
  validation_failed: { status: 400, message: "Validation failed", retryable: false },
  sql_error: { status: 400, message: "The statement failed", retryable: false },
  multiple_statements: {
    status: 400,
    message: "Send one statement; use batch for several",
    retryable: false,
  },
  no_statement: { status: 400, message: "Send one statement; the text holds none", retryable: false },
  statement_timeout: {
    status: 400,
    message: "Make the statement cheaper; it ran longer than the time limit",
    retryable: false,
  },
  result_too_large: {
    status: 400,
    message: "Ask for less with LIMIT; the result is above the limit",
    retryable: false,
  },
  too_many_affected: {
    status: 400,
    message: "Narrow the statement; it affects more rows than it may and nothing was kept",
    retryable: false,
  },
  missing_bearer: { status: 401, message: "Send an API token as Authorization: Bearer", retryable: false },
  invalid_bearer: {
    status: 401,
    message: "Send a valid API token; this one is unknown, revoked or expired",
    retryable: false,
  },
  balance_exhausted: {
    status: 402,
    message: "Add credit; the prepaid balance is exhausted",
    retryable: false,
  },
  monthly_cap_reached: {
    status: 402,
    message: "Raise the monthly cap or wait for the next month; the cap is reached",
    retryable: false,
  },
  namespace_mismatch: { status: 403, message: "Token namespace mismatch", retryable: false },
  out_of_scope: {
    status: 403,
    message: "Use a token whose scopes list this database and branch",
    retryable: false,
  },
  role_too_low: { status: 403, message: "Use a token with a higher role", retryable: false },
  statement_refused: {
    status: 403,
    message: "This statement is not available to any role",
    retryable: false,
  },
  operator_required: { status: 403, message: "Use the operator key for this call", retryable: false },
  not_found: { status: 404, message: "Nothing is at this address", retryable: false },
  namespace_not_found: { status: 404, message: "Namespace not found", retryable: false },
  database_not_found: { status: 404, message: "Database not found", retryable: false },
  snapshot_not_found: { status: 404, message: "Snapshot not found", retryable: false },
  token_not_found: { status: 404, message: "Token not found", retryable: false },
  method_not_allowed: { status: 405, message: "Use a method that the Allow header lists", retryable: false },
  request_timeout: {
    status: 408,
    message: "Send the whole body faster; it did not arrive in time",
    retryable: true,
  },
  replay_running: {
    status: 409,
    message: "Try again shortly; the first request with this key is still running",
    retryable: true,
    retryAfterSec: 1,
  },
  slug_taken: { status: 409, message: "Choose another slug; this one is taken", retryable: false },
  payload_too_large: { status: 413, message: "Send a smaller body", retryable: false },
  replay_mismatch: {
    status: 422,
    message: "Use a new key; this one belongs to another request",
    retryable: false,
  },
  too_many_requests: {
    status: 429,
    message: "Slow down; this address sends too many requests",
    retryable: true,
    retryAfterSec: 10,
  },
  meter_unreachable: {
    status: 429,
    message: "Try again shortly; the control plane did not answer and nothing ran",
    retryable: true,
    retryAfterSec: 2,
  },
  internal: { status: 500, message: "Internal error; report the request id", retryable: true },
  database_busy: {
    status: 503,
    message: "Try again shortly; the database is busy",
    retryable: true,
    retryAfterSec: 1,
  },
  database_corrupt: {
    status: 503,
    message: "Restore a snapshot; the database file is damaged",
    retryable: false,
    retryAfterSec: 60,
  },
  storage_full: {
    status: 503,
    message: "Try again later; storage is full and the write was not kept",
    retryable: true,
    retryAfterSec: 30,
  },
  not_ready: {
    status: 503,
    message: "Try again shortly; a part of the service does not answer",
    retryable: true,
    retryAfterSec: 2,
  },
  store_unavailable: {
    status: 503,
    message: "Try again shortly; the tenant store does not answer",
    retryable: true,
    retryAfterSec: 2,
  },
  outcome_unknown: {
    status: 503,
    message: "Read before you repeat; the connection to the engine was lost while it committed",
    retryable: false,
    retryAfterSec: 1,
  },
  shutting_down: {
    status: 503,
    message: "Try again shortly; the service is stopping",
    retryable: true,
    retryAfterSec: 1,
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** The known shapes of an SQL failure (contract 3). */
export type SqlErrorKind =
  | "unique_violation"
  | "not_null_violation"
  | "foreign_key_violation"
  | "check_violation"
  | "unknown_table"
  | "unknown_column"
  | "syntax_error"
  | "type_mismatch"
  | "database_locked"
  | "readonly"
  | "parameter_mismatch"
  | "invalid_text"
  | "timeout"
  | "result_too_large"
  | "too_big"
  | "unknown";

/** `errorDetail` of the envelope. `columns` only where a constraint spans several. */
export interface ErrorDetail {
  readonly kind: SqlErrorKind;
  readonly table: string | null;
  readonly column: string | null;
  readonly hint: string;
  readonly columns?: readonly string[];
}

/** One entry of `issues`: where in the request, as `statements[3].sql`, and what is wrong there. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export interface ErrorFacts {
  /** Replaces the table's message. Never contains SQL text, bound values or secrets. */
  readonly message?: string;
  readonly detail?: ErrorDetail;
  readonly issues?: readonly Issue[];
  readonly retryAfterSec?: number;
  /** Further members at the top level of the body, beside `success`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An expected failure with its place in the table. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly status: number;

  constructor(readonly code: ErrorCode, readonly facts: ErrorFacts = {}) {
    super(facts.message ?? errorTable[code].message);
    this.status = errorTable[code].status;
  }

  /** Seconds for `Retry-After`, or undefined where the table has none. */
  get retryAfterSec(): number | undefined {
    const row: ErrorRow = errorTable[this.code];
    return this.facts.retryAfterSec ?? row.retryAfterSec;
  }
}
