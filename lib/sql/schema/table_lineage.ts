// Which table and columns of an older schema those of a newer schema come from, also through renames.
import { foldName } from "../words/names.ts";
import { type ColumnShape, type SchemaObject, type SchemaShape } from "./schema_shape.ts";

/** Where a table comes from. */
export interface TableLineage {
  readonly before: SchemaObject;
  readonly after: SchemaObject;
  /** The older name of a column by its newer name. New columns are not in it. */
  readonly columns: ReadonlyMap<string, string>;
}

/** Renames for which there is evidence, by `renameKey`. */
export type KnownRenames = ReadonlySet<string>;

/** The key of a renamed table (`older` is null) or column. */
export function renameKey(before: SchemaObject, older: string | null, newer: string): string {
  return JSON.stringify([foldName(before.name), older && foldName(older), foldName(newer)]);
}

/** By the newer name of the table. A table with another name that is no known rename counts as dropped and created. */
export function tableLineage(
  from: SchemaShape,
  to: SchemaShape,
  known: KnownRenames,
): Map<string, TableLineage> {
  const before = tablesOf(from);
  const after = tablesOf(to);
  const renamed = renamedTables(known);
  const lineage = new Map<string, TableLineage>();
  for (const [key, table] of after) {
    const source = before.get(key) ?? before.get(renamed.get(key) ?? "");
    if (!source) continue;
    const columns = columnLineage(
      columnsOf(from, source),
      columnsOf(to, table),
      (older, newer) => known.has(renameKey(source, older, newer)),
    );
    lineage.set(table.name, { before: source, after: table, columns });
  }
  return lineage;
}

/** The older names of tables by the newer ones, both folded. */
function renamedTables(known: KnownRenames): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const key of known) {
    // Guarantee: `renameKey` has written it.
    const [before, column, after]: [string, string | null, string] = JSON.parse(key);
    if (column === null) names.set(after, before);
  }
  return names;
}

/** The tables of a schema. */
export function tablesOf(shape: SchemaShape): Map<string, SchemaObject> {
  return new Map(
    shape.objects.filter(({ type }) => type === "table").map((one) => [foldName(one.name), one]),
  );
}

/** The columns of a table. */
export function columnsOf(shape: SchemaShape, { name }: SchemaObject): readonly ColumnShape[] {
  return shape.columns.get(name) ?? [];
}

/** Whether a table is virtual. */
export function isVirtual({ sql }: SchemaObject): boolean {
  return /^create\s+virtual\s/i.test(sql);
}

/** Stored columns of one list whose names are not in the other. */
export function unmatched(
  columns: readonly ColumnShape[],
  others: readonly ColumnShape[],
): readonly ColumnShape[] {
  const names = new Set(others.map(({ name }) => foldName(name)));
  return columns.filter(({ name, hidden }) => hidden === 0 && !names.has(foldName(name)));
}

/** A column without its name. */
export function definitionOf({ type, notNull, defaultSql, keyIndex, hidden }: ColumnShape): string {
  return JSON.stringify([type.toLowerCase(), notNull, defaultSql, keyIndex, hidden]);
}

function columnLineage(
  old: readonly ColumnShape[],
  present: readonly ColumnShape[],
  isRename: (older: string, newer: string) => boolean,
): Map<string, string> {
  const oldNames = new Map(old.map(({ name }) => [foldName(name), name]));
  const left = [...unmatched(old, present)];
  const lineage = new Map<string, string>();
  for (const { name } of present) {
    const same = oldNames.get(foldName(name));
    const at = same === undefined ? left.findIndex((one) => isRename(one.name, name)) : -1;
    const older = same ?? (at < 0 ? undefined : left.splice(at, 1)[0]?.name);
    if (older !== undefined) lineage.set(name, older);
  }
  return lineage;
}
