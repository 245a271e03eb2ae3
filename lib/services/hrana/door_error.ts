// Failures in the words of libSQL's servers, by which clients and ORMs recognise them.
import type { AppError, ErrorCode, SqlErrorKind } from "../../core/errors.ts";

/** An error as the protocol has it. */
export interface DoorError {
  readonly message: string;
  readonly code: string;
  readonly extended_code?: string;
}

/** sqld's words for failures of statements; SQLite's own extended code behind them. Absent: told by the message. */
const codeOfKind: Readonly<
  Partial<Record<SqlErrorKind, string | readonly [code: string, extended: string]>>
> = {
  unique_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_UNIQUE"],
  not_null_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_NOTNULL"],
  foreign_key_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_FOREIGNKEY"],
  check_violation: ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_CHECK"],
  type_mismatch: "SQLITE_MISMATCH",
  database_locked: "SQLITE_BUSY",
  readonly: "SQLITE_READONLY",
  parameter_mismatch: "ARGS_INVALID",
  invalid_text: "ARGS_INVALID",
  timeout: "STATEMENT_TIMEOUT",
  result_too_large: "RESPONSE_TOO_LARGE",
};

/** Failures that SQLite finds at a place in the text, of which sqld says so. */
const AT_PLACE =
  /^(?:no such (?:column|function): |ambiguous column name: |wrong number of arguments to |too many arguments on |misuse of |(?:table|view|trigger) .+ already exists$)/;
/** What the grammar lets pass, and the engine does not understand. */
const UNDERSTOOD = /^table .+ has (?:no column|\d+ columns)|^\d+ values for \d+ columns/;

/** sqld's words for what SQLite calls an error and nothing more, as an unknown table. Clients look for them, and for the message behind them. */
function codeOfMessage(kind: SqlErrorKind, message: string): string {
  if (message === "out of memory") return "SQLITE_NOMEM";
  if (message === "string or blob too big") return "SQLITE_TOOBIG";
  if (AT_PLACE.test(message)) return "SQL_INPUT_ERROR";
  return kind === "syntax_error" && !UNDERSTOOD.test(message) ? "SQL_PARSE_ERROR" : "SQLITE_UNKNOWN";
}

/** What sqld writes before SQLite's own message. */
const PREFIXES: Readonly<Record<string, string>> = {
  SQL_INPUT_ERROR: "SQL input error",
  SQL_PARSE_ERROR: "SQL string could not be parsed",
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
    : codeOfKind[kind] ?? codeOfMessage(kind, error.message);
  if (typeof code === "string") return { message: messageOf(error, kind, code), code };
  return { message: messageOf(error, kind, code[0]), code: code[0], extended_code: code[1] };
}

function messageOf(
  { code, message, facts }: AppError,
  kind: SqlErrorKind | undefined,
  told: string,
): string {
  const [issue] = facts.issues ?? [];
  if (issue) return `${message}: ${issue.path}: ${issue.message}`;
  const page = facts.extra?.["approvalUrl"];
  if (typeof page === "string") {
    // Elsewhere an approval has a token to redeem, which this protocol has no place for.
    const what = code === "approval_required" ? "Have a person approve this write" : message;
    return `${what}; after that send the same request again: ${page}`;
  }
  // Values are refused in words of our own.
  if (kind === undefined || kind === "parameter_mismatch" || kind === "invalid_text") return message;
  return `${PREFIXES[told] ?? "SQLite error"}: ${message}`;
}
