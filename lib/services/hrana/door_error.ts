// Failures in the words of libSQL's servers, by which clients and ORMs recognise them.
import type { AppError, ErrorCode, SqlErrorKind } from "../../core/errors.ts";

/** An error as the protocol has it. */
export interface DoorError {
  readonly message: string;
  readonly code: string;
  readonly extended_code?: string;
}

/** sqld's words for failures of statements; SQLite's own extended code behind them. */
const codeOfKind: Readonly<Record<SqlErrorKind, string | readonly [code: string, extended: string]>> = {
  unique_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_UNIQUE"],
  not_null_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_NOTNULL"],
  foreign_key_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_FOREIGNKEY"],
  check_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_CHECK"],
  type_mismatch: "SQLITE_MISMATCH",
  // Clients that look whether they have made their tables ask for this word, and for sqld's message behind it.
  unknown_table: "SQLITE_UNKNOWN",
  unknown_column: "SQLITE_ERROR",
  syntax_error: "SQL_PARSE_ERROR",
  database_locked: "SQLITE_BUSY",
  readonly: "SQLITE_READONLY",
  parameter_mismatch: "ARGS_INVALID",
  invalid_text: "ARGS_INVALID",
  timeout: "STATEMENT_TIMEOUT",
  result_too_large: "RESPONSE_TOO_LARGE",
  too_big: "SQLITE_TOOBIG",
  unknown: "SQLITE_ERROR",
};

/** A value that the column of a STRICT table does not take. */
const OF_STRICT_TABLE = ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_DATATYPE"] as const;
/** RAISE in a trigger of the tenant. */
const OF_RAISE = ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_TRIGGER"] as const;

const codeOfFailure: Readonly<Partial<Record<ErrorCode, string>>> = {
  multiple_statements: "SQL_MANY_STATEMENTS",
  no_statement: "SQL_NO_STATEMENT",
  database_busy: "SQLITE_BUSY",
  result_too_large: "RESPONSE_TOO_LARGE",
};

/** Failures that are about the request or the service rather than a statement: they become the answer's status. */
const WHOLE_STATUS: ReadonlySet<number> = new Set([401, 402, 404, 408, 409, 413, 422, 429, 500, 503]);

/** Failures with such a status that clients expect of a statement. */
const OF_STATEMENT: ReadonlySet<ErrorCode> = new Set(["database_busy", "effect_changed", "storage_full"]);

/** Whether the failure is answered by the status of the HTTP answer. */
export function isWhole({ status, code }: AppError): boolean {
  return WHOLE_STATUS.has(status) && !OF_STATEMENT.has(code) && !code.startsWith("transaction_");
}

/** An error for the client. Never holds a value or a secret: an approval is named by the address of its page. */
export function doorError(error: AppError): DoorError {
  const kind = error.code === "sql_error" ? error.facts.detail?.kind : undefined;
  const code = kind === undefined
    ? codeOfFailure[error.code] ?? error.code.toUpperCase()
    : error.facts.raised
    ? OF_RAISE
    : kind === "type_mismatch" && error.message.startsWith("cannot store ")
    ? OF_STRICT_TABLE
    : codeOfKind[kind];
  const message = messageOf(error, kind);
  return typeof code === "string" ? { message, code } : { message, code: code[0], extended_code: code[1] };
}

function messageOf({ code, message, facts }: AppError, kind: SqlErrorKind | undefined): string {
  const [issue] = facts.issues ?? [];
  if (issue) return `${message}: ${issue.path}: ${issue.message}`;
  const page = facts.extra?.["approvalUrl"];
  if (typeof page === "string") {
    // Elsewhere an approval has a token to redeem, which this protocol has no place for.
    const what = code === "approval_required" ? "Have a person approve this write" : message;
    return `${what}; after that send the same request again: ${page}`;
  }
  return kind === undefined || kind === "parameter_mismatch" ? message : `SQLite error: ${message}`;
}
