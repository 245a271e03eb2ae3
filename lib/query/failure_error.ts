// Makes the error that a caller gets from the engine's failure of a statement.
import { AppError, type ErrorCode, type ErrorDetail, type SqlErrorKind } from "../core/errors.ts";
import { askedOfRows } from "../sql/schema/asked_of_rows.ts";
import { dialectHint } from "../sql/hints/dialect_hints.ts";
import { asksForNames, failedNames } from "../sql/hints/failed_names.ts";
import { messageHint } from "../sql/hints/hints.ts";
import { errorDetail } from "../sql/hints/sql_error.ts";
import { statementNames } from "../sql/grammar/statement_names.ts";
import type { StatementVerb } from "../sql/words/statement_kinds.ts";
import type { EngineFailure } from "../engine/engine_failure.ts";
import type { StatementDatabase } from "./query_call.ts";

/** The error codes of failures that are not about the meaning of the statement. */
const codes: Readonly<Partial<Record<EngineFailure["kind"], ErrorCode>>> = {
  corrupt: "database_corrupt",
  full: "storage_full",
  unavailable: "store_unavailable",
  timeout: "statement_timeout",
  result_too_large: "result_too_large",
  rows_lost: "migration_loses_rows",
  moved: "database_busy",
};

/** Failures of statements that mean something to another database. */
const MAY_BE_FOREIGN: ReadonlySet<SqlErrorKind> = new Set([
  "syntax_error",
  "unknown_table",
  "unknown_column",
]);

/** A statement of a caller, and why it failed. */
export interface FailedStatement {
  readonly failure: EngineFailure;
  readonly verb: StatementVerb;
  readonly target: string | null;
  /** The statement's text, which tells what an alias stands for; empty where there is none. */
  readonly sql?: string;
  /** Index in a batch, null for a single statement. */
  readonly index: number | null;
  /** True: a snapshot goes before the statement, which its caller may do without. */
  readonly snapshot?: boolean;
  /** Further members of the body, such as the results of statements that stay. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Builds the error; asks the database for its names where a near match can help. */
export async function failureError(
  database: Pick<StatementDatabase, "schema">,
  failed: FailedStatement,
): Promise<AppError> {
  const { failure } = failed;
  const extra = { ...(failed.index === null ? {} : { failedIndex: failed.index }), ...failed.extra };
  if (failure.kind === "denied") return refused(failure.message, extra, failed.sql);
  if (failure.kind === "no_row") return new AppError("row_not_found", { message: failure.message, extra });
  if (failure.kind === "affected") return tooManyAffected(failure.affected ?? 0, extra);
  const asked = askedOfRows(failed.sql ?? "", failure.message);
  if (asked !== null) {
    const { message, ...detail } = asked;
    return new AppError("sql_error", { message, detail, extra });
  }
  const kind = sqlKind(failure.kind);
  const detail = await detailOf(database, failed, kind);
  const code = failure.kind === "busy" ? "database_busy" : codes[failure.kind] ?? "sql_error";
  const message = code === "sql_error"
    ? failure.message
    : code === "migration_loses_rows"
    ? `Name what goes in a DELETE, or begin with PRAGMA foreign_keys=OFF; ${failure.message}`
    : undefined;
  const raised = failure.raised === true ? { raised: failure.raised } : {};
  return new AppError(code, { ...(message ? { message } : {}), ...raised, detail, extra });
}

/**
 * Makes the error of a statement that no role may run. `what` names what it would do, such as "PRAGMA journal_mode";
 * `sql` is its text, whose words of another dialect get a hint.
 */
export function refused(
  what: string,
  extra: Readonly<Record<string, unknown>>,
  sql = "",
): AppError {
  const hint = dialectHint(sql);
  return new AppError("statement_refused", {
    message: `${what} is not available to any role`,
    ...(hint === null ? {} : { detail: { kind: "unknown", table: null, column: null, hint } }),
    extra,
  });
}

/** Makes the error of a call that changed another number of rows than it may, and was undone. */
export function tooManyAffected(affected: number, extra: Readonly<Record<string, unknown>>): AppError {
  return new AppError("too_many_affected", {
    message: `Narrow the statement or raise X-Max-Affected; it affects ${affected} rows and nothing was kept`,
    extra: { ...extra, affected },
  });
}

async function detailOf(
  database: Pick<StatementDatabase, "schema">,
  { failure, verb, target, sql = "", snapshot }: FailedStatement,
  kind: SqlErrorKind,
): Promise<ErrorDetail> {
  const told = { ...failure, kind };
  const asks = asksForNames(told);
  const known = asks ? (await database.schema()).tables.filter((table) => table.kind !== "shadow") : [];
  const names = asks ? statementNames(sql) : null;
  const detail = errorDetail(failedNames(told, { sql, target, names, known }), {
    verb,
    target,
    sql,
    names,
    known,
  });
  const foreign = MAY_BE_FOREIGN.has(kind) ? dialectHint(sql, failure.message) : null;
  const hint = failure.kind === "full" ? roomHint(snapshot) : messageHint(told);
  return { ...detail, hint: foreign ?? hint ?? detail.hint };
}

/** A snapshot takes as much room as the database, so that the statement may fit where it does not. */
function roomHint(snapshot = false): string {
  const room = "Have whoever runs the service make room on the disk, or make it writable";
  return snapshot
    ? `${room}; the snapshot before this statement needs room for a copy of the database, and X-Service-No-Snapshot: 1 does without`
    : room;
}

function sqlKind(kind: EngineFailure["kind"]): SqlErrorKind {
  switch (kind) {
    case "busy":
      return "database_locked";
    case "denied":
    case "corrupt":
    case "full":
    case "unavailable":
    case "affected":
    case "no_row":
    case "moved":
    case "rows_lost":
      return "unknown";
    default:
      return kind;
  }
}
