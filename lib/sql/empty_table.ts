// The table that a CREATE TABLE AS makes, without its rows. Pure, and without the parser, which an engine child does
// not have.
import { quoteIdentifier } from "./quote.ts";
import type { TableAs } from "./table_as.ts";

/** The statement that creates the same table without rows, given the names of the columns of `select`. */
export function emptyTable({ name, ifNotExists }: TableAs, columns: readonly string[]): string {
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
