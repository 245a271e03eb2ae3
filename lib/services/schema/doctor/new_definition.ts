// The new definition that a table should have. There is one for everything that its columns and keys lack, so that
// the suggestion for one finding does not undo the suggestion for another.
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { isNumbered } from "../../../sql/hints/definition_warnings.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import { TableText } from "../../../sql/grammar/table_text.ts";
import type { ColumnFacts, TableFacts } from "../schema_facts.ts";
import { type Examined, probeKey, type TableSource, valueBits } from "./examined.ts";
import { foreignKeyFault, needsNewDefinition } from "./foreign_keys.ts";
import { rebuildTable } from "./rebuild_table.ts";
import { batchCall, freeName } from "./suggestions.ts";

/** The key for a table without one: columns that are unique already, or a new column. */
export type NewKey = { readonly columns: readonly string[] } | { readonly added: string };

/** Of one examination, by table: each of its foreign keys and columns asks for the same text. */
const rebuilds = new WeakMap<Examined, Map<TableFacts, string | null>>();

/** A call that rebuilds the table and may run again; null where the text of the definition is not understood. */
export function rebuildCall(examined: Examined, table: TableFacts): string | null {
  const known = rebuilds.get(examined) ?? new Map<TableFacts, string | null>();
  rebuilds.set(examined, known);
  const found = known.get(table);
  if (found !== undefined) return found;
  const made = writeRebuild(examined, table);
  known.set(table, made);
  return made;
}

function writeRebuild(examined: Examined, table: TableFacts): string | null {
  const types = newTypes(examined, table);
  const text = writableDefinition(examined, table);
  const full = types.size === 0 || text === null
    ? text
    : TableText.read(text.withTypes((name) => types.get(foldName(name)) ?? null));
  const numbered = unnumberedKey(examined, table);
  const retyped = new Map(textTypes(examined, table));
  if (numbered !== null) retyped.set(numbered.name, "INTEGER");
  const typed = full?.withNewTypes(retyped) ?? null;
  if (typed === null) return null;
  const key = newKey(examined, table);
  const rebuild = key === null ? { sql: typed.sql, numbersAnew: numbered !== null } : "added" in key
    ? {
      sql: typed.withFirstColumn(`${quoteIdentifier(key.added)} INTEGER PRIMARY KEY`),
      keyColumn: key.added,
    }
    : { sql: typed.withPrimaryKey(key.columns) };
  return batchCall(examined.address, rebuildTable(examined, table, rebuild));
}

/** The key that a table should have; null where it has one. */
export function newKey(examined: Examined, table: TableFacts): NewKey | null {
  if (table.columns.some(({ pk }) => pk > 0)) return null;
  const columns = uniqueColumns(examined, table);
  if (columns !== null) return { columns };
  return { added: freeName(new Set(table.columns.map(({ name }) => foldName(name))), "id") };
}

/**
 * A key of whole numbers that numbers nothing, because its type is not INTEGER: NULL where an INSERT leaves it out. Null
 * where the table has none, or where the column holds what is no integer.
 */
export function unnumberedKey({ rows }: Examined, table: TableFacts): ColumnFacts | null {
  const key = nullableNumber(table);
  if (key === null) return null;
  const held = rows.values.get(probeKey(table.name, key.name)) ?? 0;
  return (held & ~valueBits.integer) === 0 ? key : null;
}

/** The column that is such a key by its declaration. */
export function nullableNumber({ kind, columns, withoutRowid }: TableFacts): ColumnFacts | null {
  const [key, ...others] = columns.filter(({ pk }) => pk > 0);
  if (key === undefined || others.length > 0 || kind !== "table" || withoutRowid) return null;
  const { type, notNull } = key;
  return isNumbered(type) && !/^integer$/i.test(type) && !notNull && key.default === null ? key : null;
}

/**
 * Whether the declared type promises numbers. Types that are NUMERIC only because the engine does not know them, such
 * as DATE and JSON, promise nothing.
 */
export function promisesNumbers({ type, generated }: ColumnFacts): boolean {
  const affinity = affinityOf(type);
  if (generated) return false;
  return affinity === "INTEGER" || affinity === "REAL" ||
    (affinity === "NUMERIC" && /NUM|DEC|BOOL|MONEY/i.test(type));
}

/** Whether a column that promises numbers holds something else. */
export function isMixed({ rows }: Examined, table: TableFacts, column: ColumnFacts): boolean {
  const held = rows.values.get(probeKey(table.name, column.name)) ?? 0;
  return promisesNumbers(column) && (held & (valueBits.text | valueBits.blob)) !== 0;
}

/** Types for the columns of numbers that hold text because a CHECK names it as one of their values, by name. */
export function textTypes(examined: Examined, table: TableFacts): ReadonlyMap<string, string> {
  const mixed = table.columns.filter((column) => isMixed(examined, table, column));
  const text = mixed.length === 0 ? null : textOf(examined, table);
  return new Map(
    mixed.filter(({ name }) => text?.checkedValues(name) === "texts")
      .map(({ name }) => [name, typeFor(examined, table, name)]),
  );
}

/** Types for the columns without one, by folded name. */
export function newTypes(examined: Examined, table: TableFacts): ReadonlyMap<string, string> {
  const untyped = table.columns.filter(({ type }) => type === "");
  return new Map(untyped.map(({ name }) => [foldName(name), typeFor(examined, table, name)]));
}

/** Columns that are unique and never NULL. */
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

/** A type that changes no value. To the engine, a column without a type is a BLOB column. */
function typeFor({ rows }: Examined, table: TableFacts, column: string): string {
  const held = rows.values.get(probeKey(table.name, column)) ?? 0;
  const { integer, real, text } = valueBits;
  if (held === 0 || held === text) return "TEXT";
  if (held === integer) return "INTEGER";
  return held === real || held === (integer | real) ? "REAL" : "BLOB";
}

/**
 * The definition of a table without foreign keys that have no possible target: under those the engine refuses every
 * write. Null where the text is not understood.
 */
function writableDefinition(examined: Examined, table: TableFacts): TableText | null {
  const gone = table.foreignKeys.filter((key) => {
    const fault = foreignKeyFault(examined, table, key);
    return fault !== null && needsNewDefinition(fault);
  });
  const text = textOf(examined, table);
  return gone.length === 0 ? text : TableText.read(text?.withoutForeignKeys(gone) ?? "");
}

const texts = new WeakMap<TableSource, TableText | null>();

/** The definition of the table, read once for all of its columns. Null where it is not understood. */
export function textOf({ sources }: Pick<Examined, "sources">, { name }: TableFacts): TableText | null {
  const source = sources.get(name);
  if (source === undefined) return null;
  const known = texts.get(source);
  if (known !== undefined) return known;
  const text = TableText.read(source.sql);
  texts.set(source, text);
  return text;
}
