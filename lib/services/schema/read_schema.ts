// Reads the schema of a database in one call to the engine. Nothing here looks into a view, so that a broken one does
// no harm.
import { isReservedName } from "../../sql/service_tables.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { foldName } from "./fold_name.ts";
import { readRows, rowsOf } from "./read_rows.ts";
import type { ColumnFacts, ForeignKeyFacts, SchemaFacts, TableFacts } from "./schema_facts.ts";

/** Statements whose results `toSchema` takes, in this order. */
export const schemaStatements: readonly string[] = [
  "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') ORDER BY name",
  `SELECT s.name, x.name, x.type, x.pk, x."notnull", x.dflt_value IS NOT NULL, x.hidden ` +
  "FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS x WHERE s.type = 'table'",
  `SELECT s.name, k.id, k."table", k."from", k."to" ` +
  "FROM sqlite_schema AS s JOIN pragma_foreign_key_list(s.name) AS k WHERE s.type = 'table' " +
  "ORDER BY s.name, k.id DESC, k.seq",
  "SELECT table_name, column_name, description FROM _service_meta_description",
];

type TableRow = [name: string, type: "table" | "virtual", withoutRowid: number];
type ColumnRow = [
  ...[table: string, name: string, type: string, pk: number, notNull: number],
  ...[hasDefault: number, hidden: number],
];
type ForeignKeyRow = [table: string, id: number, toTable: string, from: string, to: string | null];
type DescriptionRow = [table: string, column: string, description: string];

/** One round trip. Errors: those of the pipeline. */
export async function readSchema(ctx: StatementsContext): Promise<SchemaFacts> {
  return toSchema(await readRows(ctx, schemaStatements));
}

/** From the results of `schemaStatements`. */
export function toSchema(results: readonly string[]): SchemaFacts {
  const [tables, columns, foreignKeys, described] = results;
  const descriptions = new Map(
    rowsOf<DescriptionRow>(described).map(([table, column, text]) => [descriptionKey(table, column), text]),
  );
  // Under the name "" stands what is said of the whole, so that a table or column of that name has nothing.
  const saidOf = (table: string, column: string | null) =>
    table === "" || column === "" ? "" : descriptions.get(descriptionKey(table, column ?? "")) ?? "";
  const columnsOf = new Map<string, ColumnFacts[]>();
  for (const [table, name, type, pk, notNull, hasDefault, hidden] of rowsOf<ColumnRow>(columns)) {
    // 1: a column that only the module of a virtual table knows; 2 and 3: generated ones.
    if (hidden === 1) continue;
    push(columnsOf, table, {
      ...{ name, type, pk, notNull: notNull === 1, hasDefault: hasDefault === 1, generated: hidden > 1 },
      description: saidOf(table, name),
    });
  }
  const keysOf = groupKeys(rowsOf<ForeignKeyRow>(foreignKeys), columnsOf);
  return {
    databaseDescription: descriptions.get(descriptionKey("", "")) ?? "",
    tables: rowsOf<TableRow>(tables).filter(([name]) => !isReservedName(name)).map((
      [name, kind, withoutRowid],
    ): TableFacts => ({
      ...{ name, kind, withoutRowid: withoutRowid === 1 },
      description: saidOf(name, null),
      columns: columnsOf.get(name) ?? [],
      foreignKeys: keysOf.get(name) ?? [],
    })),
  };
}

/** Rows of one key follow each other; a target is spelt as the schema spells it. */
function groupKeys(
  rows: readonly ForeignKeyRow[],
  columnsOf: ReadonlyMap<string, readonly ColumnFacts[]>,
): Map<string, ForeignKeyFacts[]> {
  const spelling = new Map([...columnsOf.keys()].map((name) => [foldName(name), name]));
  const groups = new Map<string, ForeignKeyRow[]>();
  for (const row of rows) push(groups, `${row[1]} ${row[0]}`, row);
  const keysOf = new Map<string, ForeignKeyFacts[]>();
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const toTable = spelling.get(foldName(first[2])) ?? first[2];
    const target = columnsOf.get(toTable) ?? [];
    const named = group.map(([, , , , to]) => to).filter((to) => to !== null);
    push(keysOf, first[0], {
      columns: group.map(([, , , from]) => from),
      toTable,
      toColumns: named.length > 0
        ? named.map((to) => target.find((one) => foldName(one.name) === foldName(to))?.name ?? to)
        : target.filter((one) => one.pk > 0).toSorted((a, b) => a.pk - b.pk).map((one) => one.name),
    });
  }
  return keysOf;
}

/** Names hold no U+0000, so that the key tells both apart. */
function descriptionKey(table: string, column: string): string {
  return `${foldName(table)}\u0000${foldName(column)}`;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
