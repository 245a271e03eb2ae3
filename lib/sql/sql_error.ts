// From an engine failure to `errorDetail`: the kind, where it happened and a hint that says what to do next.
import type { ErrorDetail, SqlErrorKind } from "../core/errors.ts";
import { nearMatches } from "./near_matches.ts";
import type { StatementVerb } from "./statement_kinds.ts";

export interface SqlFailure {
  readonly kind: SqlErrorKind;
  readonly table: string | null;
  readonly columns: readonly string[];
}

/** Table and view names with their columns, for near matches. */
export type KnownTables = readonly { readonly name: string; readonly columns: readonly string[] }[];

type HintOf = (
  facts: { readonly table: string | null; readonly column: string | null; readonly verb: StatementVerb },
) => string;

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
  foreign_key_violation: ({ verb }) =>
    verb === "delete" || verb === "drop"
      ? "Delete or change the rows that refer to this one first"
      : "Insert the row that is referred to first, or correct the reference",
  check_violation: ({ table }) =>
    `Use a value that the CHECK constraint allows; SELECT sql FROM sqlite_schema WHERE name = '${
      (table ?? "<table>").replaceAll("'", "''")
    }' shows it`,
  unknown_table: ({ table }) => `Check the name of ${table ?? "the table"}; tables lists what there is`,
  unknown_column: ({ column }) => `Check the name of ${column ?? "the column"}; describe lists the columns`,
  syntax_error: () => "Correct the statement; the dialect is SQLite's",
  type_mismatch: () => "Use a value of the column's declared type",
  database_locked: () => "Try again shortly",
  readonly: () => "Use a token with role write",
  parameter_mismatch: () => "Send exactly one parameter for each placeholder; only ? and ?N are available",
  invalid_text: () => "Remove U+0000 and lone surrogates from the text, or send it as a blob",
  timeout: () => "Make the statement cheaper: an index, a narrower WHERE, or a LIMIT",
  result_too_large: () => "Ask for less: a LIMIT, fewer columns, or several calls",
  too_big: () => "Use smaller values or split the statement",
  unknown: () => "Read the message; it is the engine's own",
};

/** Builds the detail. `target` is the table that the statement writes, used where the engine names none. */
export function errorDetail(
  failure: SqlFailure,
  verb: StatementVerb,
  target: string | null,
  known: KnownTables,
): ErrorDetail {
  const targetCounts = failure.kind === "foreign_key_violation" || failure.kind === "check_violation" ||
    failure.kind === "unknown_column";
  const table = failure.table ?? (targetCounts ? target : null);
  const column = failure.columns[0] ?? null;
  const base = hints[failure.kind]({ table, column, verb });
  return {
    kind: failure.kind,
    table,
    column,
    hint: withNearMatches(base, failure.kind, table, column, known),
    ...(failure.columns.length > 1 ? { columns: failure.columns } : {}),
  };
}

function withNearMatches(
  hint: string,
  kind: SqlErrorKind,
  table: string | null,
  column: string | null,
  known: KnownTables,
): string {
  let near: string[] = [];
  if (kind === "unknown_table" && table !== null) near = nearMatches(table, known.map((entry) => entry.name));
  if (kind === "unknown_column" && column !== null) {
    const own = known.filter((entry) => table === null || entry.name.toLowerCase() === table.toLowerCase());
    near = nearMatches(column, (own.length > 0 ? own : known).flatMap((entry) => entry.columns));
  }
  return near.length > 0 ? `${hint}; did you mean ${near.join(" or ")}?` : hint;
}
