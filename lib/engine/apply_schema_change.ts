// Does to a schema in memory what a statement would do to the tenant's, without running anything of the tenant's: the
// SELECT of CREATE TABLE AS could run for ever, before anybody has asked whether the caller may run it.
import { quoteIdentifier } from "../sql/quote.ts";
import type { TableAs } from "../sql/table_as.ts";
import type { CompileConnection } from "./compile_connection.ts";

/** To a database in memory that holds a schema and no rows. */
export interface ChangingConnection extends CompileConnection {
  /** Names of the columns of a statement's rows. Throws what the engine throws. */
  columns(sql: string): string[];
  /** Runs one statement that changes the schema, at that level. Throws what the engine throws. */
  change(sql: string): void;
}

/** `tableAs`: its parts, where it is a CREATE TABLE AS. The statement has compiled. Throws what the engine throws. */
export function applySchemaChange(
  connection: ChangingConnection,
  { sql, tableAs }: { readonly sql: string; readonly tableAs: TableAs | null },
): void {
  connection.change(tableAs === null ? sql : emptyTable(tableAs, connection.columns(tableAs.select)));
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
