// Makes `errorDetail` of an engine failure: the kind, where it happened, and a hint about what to do next.
import type { ErrorDetail, SqlErrorKind } from "../../core/errors.ts";
import type { StatementNames } from "../grammar/statement_names.ts";
import type { StatementVerb } from "../words/statement_kinds.ts";
import { type KnownTables, referencesHint } from "./known_tables.ts";
import { type UnknownName, unknownNameHint } from "./unknown_name.ts";

/** A failure with what is known about its statement. */
export interface SqlFailure {
  readonly kind: SqlErrorKind;
  readonly table: string | null;
  readonly columns: readonly string[];
  /** The qualifier that the statement writes before an unknown column. */
  readonly qualifier?: string;
}

/** What failed. */
export interface FailedText {
  readonly verb: StatementVerb;
  /** The table that the statement writes, used where the engine names none. */
  readonly target: string | null;
  /** Empty where there is none. */
  readonly sql: string;
  /**
   * The names by which the statement calls its tables, for failures about unknown names; null where they are not
   * known.
   */
  readonly names: StatementNames | null;
  /** The tables of the schema, for hints about unknown names. */
  readonly known: KnownTables;
}

/** Where nothing better is known. */
const READ_THE_MESSAGE = "Read the message; it is the engine's own";

/** A message, and behind it what to do about it where more is known than it says. */
export function withHint(message: string, hint = READ_THE_MESSAGE): string {
  if (hint === READ_THE_MESSAGE || hint === message) return message;
  return `${message}${message.endsWith("?") ? "" : "."} ${hint}`;
}

/** Where nothing better is known of a text that does not read. */
export const CORRECT_IT = "Correct the statement; the dialect is SQLite's";

type HintOf = (facts: UnknownName & FailedText) => string;

const hints: Readonly<Record<SqlErrorKind, HintOf>> = {
  unique_violation: ({ verb }) =>
    verb === "update" || verb === "insert"
      ? `Choose another value, or ${
        verb === "insert" ? "add ON CONFLICT DO UPDATE or DO NOTHING" : "change the row that has it first"
      }`
      : "Choose a value that no other row has",
  not_null_violation: ({ column, verb }) =>
    verb === "update"
      ? `Set ${column ?? "the column"} to a value that is not NULL`
      : `Give ${column ?? "the column"} a value, or a DEFAULT in the schema`,
  foreign_key_violation: ({ verb, table, known }) =>
    verb === "delete" || verb === "drop"
      ? `Delete or change the rows that refer to this one first${referencesHint(table, true, known)}`
      : `Insert the row that is referred to first, or correct the reference${
        referencesHint(table, false, known)
      }`,
  check_violation: ({ table }) =>
    `Use a value that the CHECK constraint allows; SELECT sql FROM sqlite_schema WHERE name = '${
      (table ?? "<table>").replaceAll("'", "''")
    }' shows it`,
  unknown_table: (facts) => unknownNameHint(facts, facts, facts.known),
  unknown_column: (facts) =>
    facts.column === null
      ? "Check the column that a parameter or a stored text names; describe lists the columns"
      : unknownNameHint(facts, facts, facts.known),
  syntax_error: () => CORRECT_IT,
  type_mismatch: ({ table, column }) =>
    column === null
      ? "Use a value of the column's declared type"
      : `Use a value of the type that ${column}${table === null ? "" : ` of ${table}`} declares`,
  database_locked: () => "Try again shortly",
  readonly: () => "Use a token with role write",
  parameter_mismatch: () =>
    'Send params as an array with one value for each placeholder: ? takes the next, ?1 the first; {"$blob": base64} is a blob',
  invalid_text: () =>
    "Remove U+0000 and lone surrogates from the text, or send it as a blob; read a text that is no UTF-8 by CAST(… AS BLOB)",
  timeout: () => "Make the statement cheaper: an index, a narrower WHERE, or a LIMIT",
  result_too_large: () => "Ask for less: a LIMIT, fewer columns, or several calls",
  too_big: () => "Use smaller values or split the statement",
  unknown: () => READ_THE_MESSAGE,
};

/** Kinds of failures that happen in the table that the statement writes. */
const IN_TARGET: ReadonlySet<SqlErrorKind> = new Set([
  "unique_violation",
  "foreign_key_violation",
  "check_violation",
  "type_mismatch",
]);

/** An unknown column belongs to the written table where the statement uses no other. */
function onlyTable({ kind }: SqlFailure, { target, names }: FailedText): string | null {
  if (kind !== "unknown_column" || target === null || names === null) return null;
  const isTarget = (name: string | null) => name?.toLowerCase() === target.toLowerCase();
  return names.called.every(({ name, table }) => isTarget(table) || name === "excluded") ? target : null;
}

/** The detail of a failure. */
export function errorDetail(failure: SqlFailure, failed: FailedText): ErrorDetail {
  const table = failure.table ?? (IN_TARGET.has(failure.kind) ? failed.target : onlyTable(failure, failed));
  const column = failure.columns[0] ?? null;
  return {
    kind: failure.kind,
    table,
    column,
    hint: hints[failure.kind]({ ...failed, table, column, qualifier: failure.qualifier ?? null }),
    ...(failure.columns.length > 1 ? { columns: failure.columns } : {}),
  };
}
