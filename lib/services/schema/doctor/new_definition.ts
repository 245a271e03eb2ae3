// The definition that a table should have, as far as only a new one will do: one for everything that its columns and keys
// lack, so that what is suggested for one finding does not undo what was suggested for another.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { TableText } from "../../../sql/table_text.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { TableFacts } from "../schema_facts.ts";
import { batchCall } from "./api_call.ts";
import { type Examined, probeKey, valueBits } from "./examined.ts";
import { freeName } from "./free_name.ts";
import { rebuildTable } from "./rebuild_table.ts";
import { writableDefinition } from "./writable_definition.ts";

/** The key that a table without one should have: columns that are a key in all but name, or one of its own. */
export type NewKey = { readonly columns: readonly string[] } | { readonly added: string };

/** A call that rebuilds the table, which may run again; null where the definition's text is not understood. */
export function rebuildCall(examined: Examined, table: TableFacts): string | null {
  const types = newTypes(examined, table);
  const text = TableText.read(writableDefinition(examined, table) ?? "");
  const sql = text?.withTypes((name) => types.get(foldName(name)) ?? null) ?? "";
  const typed = TableText.read(sql);
  if (typed === null) return null;
  const key = newKey(examined, table);
  const rebuild = key === null ? { sql } : "added" in key
    ? {
      sql: typed.withFirstColumn(`${quoteIdentifier(key.added)} INTEGER PRIMARY KEY`),
      keyColumn: key.added,
    }
    : { sql: typed.withPrimaryKey(key.columns) };
  return batchCall(examined.address, rebuildTable(examined, table, rebuild));
}

/** Null for a table that has a key. */
export function newKey(examined: Examined, table: TableFacts): NewKey | null {
  if (table.columns.some(({ pk }) => pk > 0)) return null;
  const columns = uniqueColumns(examined, table);
  if (columns !== null) return { columns };
  return { added: freeName(new Set(table.columns.map(({ name }) => foldName(name))), "id") };
}

/** By folded name, of columns without a type. */
export function newTypes(examined: Examined, table: TableFacts): ReadonlyMap<string, string> {
  const untyped = table.columns.filter(({ type }) => type === "");
  return new Map(untyped.map(({ name }) => [foldName(name), typeFor(examined, table, name)]));
}

/** Unique, and none of them NULL. */
function uniqueColumns(examined: Examined, table: TableFacts): string[] | null {
  const required = new Map(
    table.columns.map(({ name, notNull, generated }) => [name, notNull && !generated]),
  );
  for (const { unique, partial, columns } of examined.indexes.get(table.name) ?? []) {
    const names = columns.map(({ name }) => name).filter((name) => name !== null);
    const plain = columns.every(({ collation }) => collation === "BINARY");
    if (
      unique && !partial && plain && names.length === columns.length &&
      names.every((one) => required.get(one))
    ) {
      return names;
    }
  }
  return null;
}

/** The type that changes no value; BLOB is what a column without a type is to the engine. */
function typeFor({ rows }: Examined, table: TableFacts, column: string): string {
  const held = rows.values.get(probeKey(table.name, column)) ?? 0;
  const { integer, real, text } = valueBits;
  if (held === 0 || held === text) return "TEXT";
  if (held === integer) return "INTEGER";
  return held === real || held === (integer | real) ? "REAL" : "BLOB";
}
