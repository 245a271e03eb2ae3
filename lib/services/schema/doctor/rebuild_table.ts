// Statements that give a table another definition and keep its rows, for what ALTER TABLE cannot change.
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { freeRowidName } from "../../../sql/words/rowid_names.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";
import { foreignKeyFault, uniqueTarget } from "./foreign_keys.ts";
import { freeName } from "./suggestions.ts";

/** A new definition. */
export interface Rebuild {
  /** The new CREATE TABLE. */
  readonly sql: string;
  /** A column of the new table that takes the row ids of the old table. */
  readonly keyColumn?: string;
  /** The key becomes the row id, which numbers the rows where it is NULL. */
  readonly numbersAnew?: boolean;
}

/**
 * Statements for one atomic batch. The rows go through a copy, because no table can be renamed to the name of a table
 * that views refer to. Foreign keys are off meanwhile, so that dropping the table changes no row of another.
 */
export function rebuildTable(
  examined: Examined,
  table: TableFacts,
  { sql, keyColumn, numbersAnew = false }: Rebuild,
): string[] {
  const name = quoteIdentifier(table.name);
  const copy = quoteIdentifier(freeName(examined.takenNames, `${table.name}_copy`));
  const columns = table.columns.filter(({ generated }) => !generated).map((column) => column.name);
  const rowId = rowIdOf(table);
  const keepsRowId = rowId !== null && (keyColumn !== undefined || !(numbersAnew || hasRowIdColumn(table)));
  const kept = freeName(new Set(columns.map(foldName)), "kept_row_id");
  const source = columns.map(quoteIdentifier);
  const into = [
    ...(keepsRowId ? [keyColumn === undefined ? rowId : quoteIdentifier(keyColumn)] : []),
    ...source,
  ];
  const first = keepsRowId ? [`${rowId} AS ${quoteIdentifier(kept)}`] : [];
  return [
    "PRAGMA foreign_keys = OFF",
    `CREATE TABLE ${copy} AS SELECT ${[...first, ...source].join(", ")} FROM ${name}`,
    `DROP TABLE ${name}`,
    sql,
    ...neededIndexes(examined, table),
    `INSERT INTO ${name} (${into.join(", ")}) SELECT * FROM ${copy}`,
    `DROP TABLE ${copy}`,
    ...examined.sources.get(table.name)?.indexesAndTriggers ?? [],
  ];
}

type Child = { readonly child: TableFacts; readonly key: ForeignKeyFacts };

const withoutIndex = new WeakMap<Examined, readonly Child[]>();

/** The foreign keys of one examination whose target is not unique. */
function keysWithoutIndex(examined: Examined): readonly Child[] {
  const known = withoutIndex.get(examined);
  if (known !== undefined) return known;
  const found = examined.schema.tables.flatMap((child) =>
    child.foreignKeys.filter((key) => foreignKeyFault(examined, child, key) === "not_unique")
      .map((key) => ({ child, key }))
  );
  withoutIndex.set(examined, found);
  return found;
}

/** Indexes that both tables of a foreign key need: the engine refuses their rows while the target is not unique. */
function neededIndexes(examined: Examined, table: TableFacts): string[] {
  const needed = keysWithoutIndex(examined).filter(({ child, key }) =>
    child === table || key.toTable === table.name
  );
  return [...new Set(needed.map(({ key }) => uniqueTarget(examined, key)))];
}

/** A name of the row id that no column has; null where there is no row id or no such name. */
export function rowIdOf(table: TableFacts): string | null {
  return table.withoutRowid ? null : freeRowidName(table.columns.map(({ name }) => name));
}

/** Whether a column is the row id: an INTEGER PRIMARY KEY. */
export function hasRowIdColumn(table: TableFacts): boolean {
  const key = table.columns.filter(({ pk }) => pk > 0);
  return !table.withoutRowid && !table.keyIsIndexed && key.length === 1 &&
    /^integer$/i.test(key[0]?.type ?? "");
}
