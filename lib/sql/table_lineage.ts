// Which table and columns of an older schema the ones of a newer schema come from, renames included.
import { type ColumnShape, objectKey, type SchemaObject, type SchemaShape } from "./schema_shape.ts";

export interface TableLineage {
  readonly before: SchemaObject;
  readonly after: SchemaObject;
  /** Newer name of a column to its older name. Columns that are new are not in it. */
  readonly columns: ReadonlyMap<string, string>;
}

/**
 * By newer name. A table counts as renamed when its storage is the same and its columns are; columns when everything
 * about them but the names is.
 */
export function tableLineage(from: SchemaShape, to: SchemaShape): Map<string, TableLineage> {
  const before = tablesOf(from);
  const after = tablesOf(to);
  const lineage = new Map<string, TableLineage>();
  for (const [key, table] of after) {
    const source = before.get(key) ??
      [...before].find(([other, one]) =>
        !after.has(other) && one.rootPage > 0 && one.rootPage === table.rootPage &&
        columnsText(from, one) === columnsText(to, table)
      )?.[1];
    if (source) {
      lineage.set(table.name, {
        before: source,
        after: table,
        columns: columnLineage(from, to, source, table),
      });
    }
  }
  return lineage;
}

export function tablesOf(shape: SchemaShape): Map<string, SchemaObject> {
  return new Map(
    shape.objects.filter(({ type }) => type === "table").map((one) => [objectKey(one.name), one]),
  );
}

export function columnsOf(shape: SchemaShape, { name }: SchemaObject): readonly ColumnShape[] {
  return shape.columns.get(name) ?? [];
}

export function isVirtual({ sql }: SchemaObject): boolean {
  return /^create\s+virtual\s/i.test(sql);
}

function columnLineage(
  from: SchemaShape,
  to: SchemaShape,
  before: SchemaObject,
  after: SchemaObject,
): Map<string, string> {
  const old = columnsOf(from, before);
  const present = columnsOf(to, after);
  const oldNames = new Map(old.map(({ name }) => [objectKey(name), name]));
  const lineage = new Map<string, string>();
  const unknown: (readonly [ColumnShape, ColumnShape | undefined])[] = [];
  for (const [at, column] of present.entries()) {
    const same = oldNames.get(objectKey(column.name));
    if (same === undefined) unknown.push([column, old[at]]);
    else lineage.set(column.name, same);
  }
  const renamed = old.length === present.length &&
    unknown.every(([column, source]) =>
      source !== undefined && definitionOf(column) === definitionOf(source)
    );
  if (renamed) { for (const [column, source] of unknown) if (source) lineage.set(column.name, source.name); }
  return lineage;
}

function definitionOf({ type, notNull, defaultSql, keyPlace, hidden }: ColumnShape): string {
  return JSON.stringify([type.toLowerCase(), notNull, defaultSql, keyPlace, hidden]);
}

function columnsText(shape: SchemaShape, table: SchemaObject): string {
  return JSON.stringify(columnsOf(shape, table).map((one) => [one.name, definitionOf(one)]));
}
