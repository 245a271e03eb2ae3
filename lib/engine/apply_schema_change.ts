// Applies a statement's schema change to a schema in memory. It never runs the SELECT of a CREATE TABLE AS: that could
// run for ever, before anybody has asked whether the caller may run it.
import { quoteIdentifier } from "../sql/words/quote.ts";
import type { TableAs } from "../sql/grammar/table_text.ts";
import type { TypedColumn } from "./typed_result.ts";
import type { CompileConnection } from "./compile_connection.ts";

/** A connection to a database in memory that holds a schema and no rows. */
export interface ChangingConnection extends CompileConnection {
  /** The columns of a statement's result. Throws what the engine throws. */
  columns(sql: string): TypedColumn[];
  /** Runs one statement that changes the schema, at `level`. Throws what the engine throws. */
  change(sql: string): void;
}

/**
 * Applies one compiled statement to the schema in memory. `tableAs` holds the parts of a CREATE TABLE AS. Throws what the
 * engine throws.
 */
export function applySchemaChange(
  connection: ChangingConnection,
  { sql, tableAs = null }: { readonly sql: string; readonly tableAs?: TableAs | null },
): void {
  connection.change(
    tableAs === null ? sql : emptyTable(tableAs, namesOf(connection.columns(tableAs.select))),
  );
}

function namesOf(columns: readonly TypedColumn[]): string[] {
  return columns.map(({ name }) => name);
}

/**
 * The statement that creates the table of a CREATE TABLE AS without its rows, given the names of the columns of
 * `select`.
 */
function emptyTable({ name, ifNotExists }: TableAs, columns: readonly string[]): string {
  const names = distinct(columns).map(quoteIdentifier).join(", ");
  return `CREATE TABLE ${ifNotExists ? "IF NOT EXISTS " : ""}${quoteIdentifier(name)} (${names})`;
}

/** A repeated name gets a number, as in the engine. */
function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>();
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const lower = name.toLowerCase();
    let number = numbers.get(lower) ?? 0;
    let own = name;
    while (seen.has(own.toLowerCase())) own = `${name}:${++number}`;
    numbers.set(lower, number);
    seen.add(own.toLowerCase());
    return own;
  });
}
