// What an agent does next after a failure, in the names of the tools that it has.
import type { AppError, ErrorCode, SqlErrorKind } from "../../lib/core/errors.ts";
import { CORRECT_IT } from "../../lib/sql/hints/sql_error.ts";
import { type Role, roleAtLeast } from "../../lib/core/role.ts";

/** Code → next step, where the message and `errorDetail` do not say it already. */
const steps: Partial<Record<ErrorCode, string>> = {
  validation_failed: "Correct the arguments that issues names; nothing has run",
  invalid_json:
    "Nothing has run. In params send the number as text: an INTEGER column stores the digits as a number, and CAST(? AS INTEGER) makes one elsewhere",
  multiple_statements: "query runs one statement; put several that write into the statements of write",
  statement_refused:
    "Leave it out: what the message names is for nobody, whatever the role. A table's name stands alone, without a database or schema before it; write runs its statements in one transaction already; describe_database tells what PRAGMAs would",
  statement_timeout: "Narrow it with WHERE on an indexed column; query takes EXPLAIN QUERY PLAN",
  result_too_large: "Select fewer columns or rows, or shorten long values with substr()",
  too_many_affected: "If every one of these rows is meant, raise maxAffected; otherwise narrow WHERE",
  trunk_required: "Name the database by its slug alone, without @ref",
  database_not_found: "list_databases lists the databases that you reach, list_branches the branches of one",
  branch_not_found:
    "branchRef is what stands behind the @, without it; list_branches lists the branches, create_branch makes one",
  snapshot_not_found: "list_snapshots lists the snapshots",
  out_of_scope: "list_databases lists what this token reaches",
  execution_not_found: "Call propose_write again; a token runs its write once and expires",
  approval_required:
    "Nothing has run. Show the user approvalUrl; wait with get_approval (waitSec 25), and once its state is approved call redeem_approval. Do not look for another way to the same change",
  approval_pending:
    "Nobody has decided yet. Wait with get_approval (waitSec 25); only a person can decide, at the approval's page",
  approval_denied: "A person has refused this change. Tell the user, and do not try it another way",
  approval_not_found:
    "get_approval tells what has become of it; one that has run or expired cannot run again",
  rule_denied: "A rule forbids this change. Tell the user, and do not try it another way",
  effect_changed:
    "The rows have changed since a person looked. It waits again: get_approval, then redeem_approval",
  not_yours: "Only the token that asked for it can use it",
  merge_conflict:
    "data says which rows both sides changed. Ask the user whose count: onConflict theirs or ours",
  merge_refused: "The message says what stands against it; mode schema brings the schema together first",
  role_too_low: "This connection may not do that here. Tell the user; do not look for another way",
  balance_exhausted: "Tell the user: credit has to be added before anything runs",
  monthly_cap_reached: "Tell the user: nothing runs until the cap is raised or the month is over",
  outcome_unknown: "Read the rows before you repeat; an idempotencyKey makes a repetition safe",
  replay_mismatch: "Use a new idempotencyKey for another call",
};

/** What get_approval says in the place of "call get_approval". */
const UNKNOWN_APPROVAL = "Check approvalId and database: both are those of the call that was held";

/** What to look at, by the kind of an SQL failure. */
const looks: Partial<Record<SqlErrorKind, string>> = {
  syntax_error:
    "A name that is a word of SQL stands in double quotes; describe_database lists the tables and columns",
  unknown_table:
    "describe_database lists the tables and columns that there are; search_schema finds them by words",
  unknown_column: "describe_database lists the columns of a table; search_schema finds them by words",
};

/** The call that failed. */
export interface FailedCall {
  readonly tool: string;
  /** The highest role that tools of the connection have. */
  readonly connection: Role;
}

/** What this door says of a failure in other words than the rest of the service: it has other names, and no approval tokens. */
const words: Partial<Record<ErrorCode, string>> = {
  approval_required: "A person has to approve this change; nothing has run",
  approval_not_found: "This approval has run already, has expired, or is unknown",
  branch_not_found: "Check the name; the branch is unknown, expired or deleted",
  snapshot_not_found: "Check the name; the snapshot is unknown or expired",
  multiple_statements: "Send one statement in each sql",
  too_many_affected: "It affects more rows than maxAffected lets it; nothing was kept",
};

/** The message of a failure. */
export function messageOf(error: AppError, call: FailedCall): string {
  if (onlyReads(error, call)) return "This statement writes, and query only reads";
  if (error.code === "approval_not_found" && call.tool === "get_approval") {
    return "No approval of this database has that id";
  }
  return words[error.code] ?? error.message;
}

/** Undefined where the message and `errorDetail` say it already. */
export function nextStep(error: AppError, call: FailedCall): string | undefined {
  if (onlyReads(error, call)) return "Call write, or propose_write to see the change before it runs";
  if (error.code === "approval_not_found" && call.tool === "get_approval") return UNKNOWN_APPROVAL;
  if (isTold(error)) return undefined;
  const kind = error.facts.detail?.kind;
  return (kind && looks[kind]) ?? steps[error.code];
}

/** Whether `errorDetail` says what to write: what is meant for every such failure would lead elsewhere. */
function isTold({ code, message, facts: { detail } }: AppError): boolean {
  if (detail === undefined) return false;
  if (code === "statement_refused") return true;
  // Of other names than those to be checked it is known what is meant by them.
  if (detail.kind === "unknown_column" || detail.kind === "unknown_table") {
    return !/^Check /.test(detail.hint);
  }
  // A function, or the number of its arguments, is no name of a table or column.
  return detail.kind === "syntax_error" && (detail.hint !== CORRECT_IT || !message.startsWith("near "));
}

function onlyReads({ code }: AppError, { tool, connection }: FailedCall): boolean {
  return code === "role_too_low" && tool === "query" && roleAtLeast(connection, "write");
}
