// Reads the schema of a database in one call to the engine. It reads no rows of views, so a broken view does no harm.
import { ownTurn } from "../../core/own_turn.ts";
import { foldName, sameName } from "../../sql/words/names.ts";
import { quoteIdentifier, quoteText } from "../../sql/words/quote.ts";
import { isReservedName } from "../../sql/words/service_tables.ts";
import { rowsOf } from "../query/read_result.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readEach, readRows, unreadable } from "./read_rows.ts";
import type { ColumnFacts, ForeignKeyFacts, SchemaFacts, TableFacts } from "./schema_facts.ts";
import { keyFacts } from "./key_columns.ts";

const KEY_INDEX = "SELECT 1 FROM pragma_index_list(t.name) WHERE origin = 'pk'";

/** Of which tables something is read: null means all. */
type Only = readonly string[] | null;

function isOneOf(name: string, only: Only): string {
  return only === null ? "" : `AND ${name} COLLATE NOCASE IN (${only.map(quoteText).join(", ")}) `;
}

const tablesText = (only: Only) =>
  `SELECT t.name, t.type, t.wr, t.type = 'table' AND EXISTS (${KEY_INDEX}) FROM pragma_table_list AS t ` +
  `WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') ${isOneOf("t.name", only)}ORDER BY t.name`;

/** Statements whose results `toSchema` takes, in this order. The columns of tables in `leftOut` are not read. */
const schemaStatements = (leftOut: readonly string[], only: Only): string[] => [
  tablesText(only),
  `SELECT s.name, x.name, x.type, x.pk, x."notnull", x.dflt_value, x.hidden ` +
  `FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS x WHERE s.type = 'table' ${
    isOneOf("s.name", only)
  }` +
  `AND s.name NOT IN (${leftOut.map(quoteText).join(", ")})`,
  `SELECT s.name, k.id, k."table", k."from", k."to" ` +
  `FROM sqlite_schema AS s JOIN pragma_foreign_key_list(s.name) AS k WHERE s.type = 'table' ` +
  `${isOneOf("s.name", only)}ORDER BY s.name, k.id DESC, k.seq`,
  "SELECT table_name, column_name, description FROM _service_meta_description " +
  `WHERE 1 ${isOneOf("table_name", only && ["", ...only])}`,
];

/** The rows that a schema is made from. */
export interface SchemaParts {
  /** What `toSchema` takes. */
  readonly results: readonly string[];
  /** Results of the further statements. */
  readonly more: readonly string[];
  /** Why a table cannot be read, by its name. */
  readonly errors: ReadonlyMap<string, string>;
}

type TableRow = [name: string, type: "table" | "virtual", withoutRowid: number, keyIsIndexed: number];
type ColumnRow = [
  ...[table: string, name: string, type: string, pk: number, notNull: number],
  ...[byDefault: string | null, hidden: number],
];
type ForeignKeyRow = [table: string, id: number, toTable: string, from: string, to: string | null];
type DescriptionRow = [table: string, column: string, description: string];

/**
 * `only`: names of the tables to read, where others do not matter; foreign keys to these have the names that their definitions
 * have. Errors: those of the pipeline.
 */
export async function readSchema(ctx: StatementsContext, only: Only = null): Promise<SchemaFacts> {
  return await toSchema(await readParts(ctx, [], only));
}

/**
 * Reads what a schema is made from, and the results of further statements. It takes one round trip, a second one
 * where there are virtual tables, and more only where one of them cannot be read. Errors: those of the pipeline.
 */
export async function readParts(
  ctx: StatementsContext,
  more: readonly string[] = [],
  only: Only = null,
): Promise<SchemaParts> {
  const errors = new Map<string, string>();
  const read = async () => {
    const statements = schemaStatements([...errors.keys()], only);
    const all = await readRows(ctx, [...statements, ...more]);
    return { results: all.slice(0, statements.length), more: all.slice(statements.length) };
  };
  try {
    const parts = await read();
    await findBroken(ctx, errors, { tables: parts.results[0], text: probeText });
    return { ...parts, errors };
  } catch (error) {
    if (unreadable(error) === null) throw error;
    const [tables] = await readRows(ctx, [tablesText(only)]);
    await findBroken(ctx, errors, { tables, text: columnsText });
    if (errors.size === 0) throw error;
    const parts = await read();
    await findBroken(ctx, errors, { tables, text: probeText });
    return { ...parts, errors };
  }
}

interface Probe {
  /** The result of `tablesText`. */
  readonly tables: string | undefined;
  /** A statement that fails when the table of that name is broken. */
  readonly text: (name: string) => string;
}

/** Finds virtual tables whose module, content or part is missing, and adds them to `errors`. */
async function findBroken(
  ctx: StatementsContext,
  errors: Map<string, string>,
  { tables, text }: Probe,
): Promise<void> {
  const names = rowsOf<TableRow>(tables).flatMap(([name, type]) =>
    type === "virtual" && !isReservedName(name) && !errors.has(name) ? [name] : []
  );
  for (const [at, one] of (await readEach(ctx, names.map(text))).entries()) {
    const name = names[at];
    if (!one.ok && name !== undefined) errors.set(name, one.error);
  }
}

function probeText(name: string): string {
  return `SELECT 1 FROM ${quoteIdentifier(name)} LIMIT 1`;
}

function columnsText(name: string): string {
  return `SELECT count(*) FROM pragma_table_xinfo(${quoteText(name)})`;
}

/** Columns after which other work has its turn: some milliseconds. */
export const COLUMNS_A_TURN = 10_000;

/** Makes the schema from what `readParts` has read. A schema may have a hundred thousand columns: other work has its turns. */
export async function toSchema(
  { results, errors }: Pick<SchemaParts, "results" | "errors">,
): Promise<SchemaFacts> {
  const [tables, columns, foreignKeys, described] = results;
  const saidOf = descriptionsOf(rowsOf<DescriptionRow>(described));
  const columnsOf = new Map<string, ColumnFacts[]>();
  // What is the same for all columns of a table is looked up once.
  let [last, said]: [table: string | null, Said] = [null, undefined];
  for (const [at, row] of rowsOf<ColumnRow>(columns).entries()) {
    if (at % COLUMNS_A_TURN === COLUMNS_A_TURN - 1) await ownTurn();
    const [table, name, type, pk, notNull, byDefault, hidden] = row;
    // 1: a column that only the module of a virtual table knows. 2 and 3: generated columns.
    if (hidden === 1) continue;
    if (table !== last) [last, said] = [table, table === "" ? undefined : saidOf(table)];
    push(columnsOf, table, {
      name,
      type,
      pk,
      notNull: notNull === 1,
      default: byDefault,
      generated: hidden > 1,
      description: said === undefined || name === "" ? "" : said.get(foldName(name)) ?? "",
    });
  }
  const keysOf = groupKeys(rowsOf<ForeignKeyRow>(foreignKeys), columnsOf);
  return {
    databaseDescription: saidOf("")?.get("") ?? "",
    tables: rowsOf<TableRow>(tables).filter(([name]) => !isReservedName(name)).map((
      [name, kind, withoutRowid, keyIsIndexed],
    ): TableFacts => ({
      name,
      kind,
      withoutRowid: withoutRowid === 1,
      keyIsIndexed: keyIsIndexed === 1,
      description: name === "" ? "" : saidOf(name)?.get("") ?? "",
      columns: columnsOf.get(name) ?? [],
      foreignKeys: keysOf.get(name) ?? [],
      error: errors.get(name) ?? null,
    })),
  };
}

/** Rows of one key follow each other. A target is spelled as in the schema. */
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
        ? named.map((to) => target.find((one) => sameName(one.name, to))?.name ?? to)
        : keyFacts(target).map((one) => one.name),
    });
  }
  return keysOf;
}

/** The descriptions of a table's columns by their folded names, its own one by ""; undefined: it has none. */
type Said = ReadonlyMap<string, string> | undefined;

/** By a table's name. That of the database is under the name "", so a table or column with that name has none. */
function descriptionsOf(rows: readonly DescriptionRow[]): (table: string) => Said {
  const byTable = new Map<string, Map<string, string>>();
  for (const [table, column, text] of rows) {
    const said = byTable.get(foldName(table)) ?? new Map<string, string>();
    byTable.set(foldName(table), said.set(foldName(column), text));
  }
  return (table) => byTable.size === 0 ? undefined : byTable.get(foldName(table));
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
