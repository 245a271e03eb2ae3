// The error class for expected failures, the only way from a failure to an HTTP answer, and the one for wrong settings.
import { type ErrorRow, errorTable } from "./error_table.ts";

/** The codes of the table. */
export type ErrorCode = keyof typeof errorTable;

/** The kinds of SQL failures, as `errorDetail.kind` names them. */
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

/** What an error says beside its row of the table. */
export interface ErrorFacts {
  /** Replaces the table's message. Never contains SQL text, bound values or secrets. */
  readonly message?: string;
  /** Replaces `message` for strangers, who may not read the schema. */
  readonly told?: string;
  readonly detail?: ErrorDetail;
  /** True: `message` is the text of a RAISE that the owner of the database wrote for callers. */
  readonly raised?: true;
  readonly issues?: readonly Issue[];
  readonly retryAfterSec?: number;
  /** Further members at the top level of the body, beside `success`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What nobody expected, in place of which this is answered: for the log alone. */
  readonly unexpected?: unknown;
}

/** An expected failure, with the code of its row in the table. */
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

  /** The same failure with these facts in place of its own; members of `extra` stand beside those that it has. */
  with({ extra, ...others }: ErrorFacts): AppError {
    const facts = { ...this.facts, ...others };
    return new AppError(
      this.code,
      extra === undefined ? facts : { ...facts, extra: { ...facts.extra, ...extra } },
    );
  }
}

/** Whether a failure is the expected one with that code. */
export function failedWith(error: unknown, code: ErrorCode): error is AppError {
  return error instanceof AppError && error.code === code;
}

/** `validation_failed` for what is wrong in one place of the request. */
export function invalidInput(path: string, message: string): AppError {
  return new AppError("validation_failed", { issues: [{ path, message }] });
}

/** The body of every failed answer: `success`, `error`, `code` and what belongs to the code. */
export function failureBody({ message, code, facts: { detail, issues, extra } }: AppError): object {
  return {
    success: false,
    error: message,
    code,
    ...(detail ? { errorDetail: detail } : {}),
    ...(issues ? { issues } : {}),
    ...extra,
  };
}

/**
 * A setting that keeps the service from starting. The message is one line, names the variable and contains no secret:
 * it is all that the start prints.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
