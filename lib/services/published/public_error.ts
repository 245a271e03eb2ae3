// What a stranger is told about a failure in the owner's database: which inputs it is about, but never a table, a
// column, the schema, a rule or the engine's own words.
import {
  AppError,
  type ErrorCode,
  type ErrorDetail,
  type Issue,
  type SqlErrorKind,
} from "../../core/errors.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { publishedErrors } from "../../core/published_errors.ts";
import { boundColumns } from "../../sql/grammar/insert_shape.ts";
import { matchedParameters } from "../../sql/grammar/match_words.ts";
import { foldName } from "../../sql/words/names.ts";
import type { EndpointStatement } from "../endpoints/spec/bind_inputs.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";

/** Failures that another input, or a later call, may not have. */
const messages: Readonly<Partial<Record<SqlErrorKind, string>>> = {
  unique_violation: "Send another value; this one is taken",
  not_null_violation: "Send a value; what is left out or null here has to be there",
  foreign_key_violation: "Send other values; what they refer to is not there, or is still needed",
  check_violation: "Send other values; this endpoint does not take these",
  type_mismatch: "Send a value of another type; this one does not fit",
  invalid_text: "Remove U+0000 and lone surrogates from the text",
  timeout: "Ask for less; the call ran longer than the time limit",
  result_too_large: "Ask for less; the answer is above the limit",
  too_big: "Send smaller values",
  database_locked: "Try again shortly",
};

const UNPAID =
  "Try again later, or tell the owner of this endpoint; its calls are not paid for at the moment";
/** Failures whose own words tell the owner what to do, which a stranger can not. */
const ownersWords: Readonly<Partial<Record<ErrorCode, string>>> = {
  balance_exhausted: UNPAID,
  monthly_cap_reached: UNPAID,
  database_corrupt: "Tell the owner of this endpoint; its database cannot be read at the moment",
};

/** Kinds that are about the value of a column. */
const ofColumns: ReadonlySet<SqlErrorKind> = new Set(["unique_violation", "not_null_violation"]);
const OTHERWISE = "Send other values, or tell the owner of this endpoint; its statement failed";

/** Codes of the steps before the statement and of the kinds: their messages are about the call itself. */
const ownCodes: ReadonlySet<string> = new Set<string>([
  ...["validation_failed", "invalid_json", "payload_too_large", "request_timeout", "method_not_allowed"],
  ...Object.keys(publishedErrors),
]);

/**
 * The error as it is, where it says nothing about the owner's database; otherwise one that says less. What a trigger
 * raises is meant for callers.
 */
export function publicError(spec: EndpointSpec, error: AppError): AppError {
  const { code, facts: { message: own, told, detail, raised, retryAfterSec } } = error;
  if (raised) return new AppError("app_error", own === undefined ? {} : { message: own });
  if (told !== undefined && told !== own) return new AppError(code, { message: told });
  // Which of several statements it was is for the owner.
  if (code === "row_not_found" && error.facts.extra !== undefined) return new AppError(code);
  if (ownCodes.has(code) || (code === "sql_error" && detail === undefined)) return error;
  const unread = detail === undefined ? [] : unreadSearch(spec, error);
  if (unread.length > 0) return new AppError("validation_failed", { issues: unread });
  const later = retryAfterSec === undefined ? {} : { retryAfterSec };
  const instead = ownersWords[code];
  if (instead !== undefined) return new AppError(code, { ...later, message: instead });
  if (detail === undefined) return new AppError(code, later);
  const message = messages[detail.kind];
  if (message === undefined) return new AppError(code, { ...later, message: OTHERWISE });
  const failed = failedStatement(spec, error);
  const issues = failed === undefined ? [] : issuesOf(spec, failed, { detail, message });
  return new AppError(code, {
    ...later,
    message,
    detail: { kind: detail.kind, table: null, column: null, hint: message },
    ...(issues.length === 0 ? {} : { issues }),
  });
}

/** The engine's words about a value that MATCH cannot read. */
const UNREAD = /^(?:fts5: |unterminated string|unknown special query|no such column: |malformed MATCH)/;

/** An issue for each input that a MATCH of the statement reads, where the engine could not read a search. */
function unreadSearch(spec: EndpointSpec, error: AppError): Issue[] {
  const { code, message: words } = error;
  const failed = failedStatement(spec, error);
  if (code !== "sql_error" || !UNREAD.test(words) || failed === undefined) return [];
  const message = "Send plain words to search for; the search cannot read these signs";
  const names = [...matchedParameters(failed.sql)].map((parameter) =>
    spec.input[failed.inputs[parameter] ?? -1]?.name
  );
  return [...new Set(names)].flatMap((path) => path === undefined ? [] : [{ path, message }]);
}

function failedStatement(spec: EndpointSpec, { facts: { extra } }: AppError): EndpointStatement | undefined {
  const at = extra?.["failedIndex"];
  return prepareSpec(spec).statements[typeof at === "number" ? at : 0];
}

/** The inputs whose values the failure is about, as far as the statement's text tells. */
function issuesOf(
  spec: EndpointSpec,
  { sql, inputs }: EndpointStatement,
  { detail: { kind, column, columns }, message }: { readonly detail: ErrorDetail; readonly message: string },
): Issue[] {
  if (!ofColumns.has(kind)) return [];
  const wrong = new Set([...columns ?? [], ...(column === null ? [] : [column])].map(foldName));
  const names = boundColumns(sql).flatMap(({ parameter, column: bound }) => {
    const name = spec.input[inputs[parameter] ?? -1]?.name;
    const isMeant = bound !== null && wrong.has(foldName(bound));
    return isMeant && name !== undefined && !name.startsWith("$") ? [name] : [];
  });
  return [...new Set(names)].map((path) => ({ path, message }));
}
