// The stored descriptions of a database, its tables and its columns: shows the schema with them, and changes them.
import { requireRole } from "../../access/caller.ts";
import { AppError, type Issue } from "../../core/errors.ts";
import { ownTurn } from "../../core/own_turn.ts";
import { foldName } from "../../sql/words/names.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { TableText } from "../../sql/grammar/table_text.ts";
import { rowsOf } from "../query/read_result.ts";
import { INDEXES, type IndexFacts, toIndexes } from "./read_indexes.ts";
import { COLUMNS_A_TURN, readParts, readSchema, toSchema } from "./read_schema.ts";
import type { ColumnFacts, SchemaFacts } from "./schema_facts.ts";

/**
 * Characters of definitions that are read for their CHECK constraints, the shortest first; those of others are not shown.
 * Reading them takes some milliseconds of the service's own process.
 */
const MAX_CHECKED = 20_000;
/** The definitions of tables that may have CHECK constraints. */
const CHECKED =
  "SELECT name, sql FROM (SELECT name, sql, sum(length(sql)) OVER (ORDER BY length(sql), rowid) AS total " +
  `FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%CHECK%') WHERE total <= ${MAX_CHECKED}`;

/** The schema with its descriptions, as the API shows it. */
interface SchemaDescription {
  readonly databaseDescription: string;
  readonly tables: readonly {
    readonly table: string;
    readonly description: string;
    readonly columns: readonly {
      readonly name: string;
      readonly type: string;
      readonly pk: boolean;
      readonly notNull: boolean;
      readonly description: string;
      /** The SQL of its default; absent where it has none. */
      readonly default?: string;
      /** Present where its value is computed. */
      readonly generated?: true;
    }[];
    /** One entry for each column; `toColumn` is empty where the target has none. */
    readonly foreignKeys: readonly {
      readonly from: string;
      readonly toTable: string;
      readonly toColumn: string;
    }[];
    /** Also those of UNIQUE constraints; a null column is an expression. Absent where it has none beside its primary key. */
    readonly indexes?: readonly {
      readonly name: string;
      readonly columns: readonly (string | null)[];
      readonly unique: boolean;
      readonly partial: boolean;
    }[];
    /** The conditions of its CHECK constraints; absent where it has none, or where its definition is too long to be read. */
    readonly checks?: readonly string[];
    /** Why the table cannot be read; absent where it can. */
    readonly error?: string;
  }[];
}

/** Tables sorted by name; without a description it is "". Errors: those of the pipeline. */
export async function describeSchema(ctx: StatementsContext): Promise<SchemaDescription> {
  const parts = await readParts(ctx, [INDEXES, CHECKED]);
  const { databaseDescription, tables } = await toSchema(parts);
  const indexes = toIndexes(parts.more[0]);
  const checks = new Map(
    rowsOf<[table: string, sql: string]>(parts.more[1]).map(([table, sql]) => [
      table,
      TableText.read(sql)?.checks() ?? [],
    ]),
  );
  const described: Described[] = [];
  let sinceTurn = 0;
  for (const table of tables) {
    described.push({
      table: table.name,
      description: table.description,
      columns: table.columns.map(describeColumn),
      foreignKeys: table.foreignKeys.flatMap(({ columns, toTable, toColumns }) =>
        columns.map((from, at) => ({ from, toTable, toColumn: toColumns[at] ?? "" }))
      ),
      ...describeIndexes(indexes.get(table.name) ?? []),
      ...describeChecks(checks.get(table.name) ?? []),
      ...(table.error === null ? {} : { error: table.error }),
    });
    sinceTurn += table.columns.length;
    if (sinceTurn < COLUMNS_A_TURN) continue;
    sinceTurn = 0;
    await ownTurn();
  }
  return { databaseDescription, tables: described };
}

type Described = SchemaDescription["tables"][number];

function describeColumn(column: ColumnFacts): Described["columns"][number] {
  return {
    name: column.name,
    type: column.type,
    pk: column.pk > 0,
    notNull: column.notNull,
    description: column.description,
    ...(column.default === null ? {} : { default: column.default }),
    ...(column.generated ? { generated: true } : {}),
  };
}

function describeIndexes(indexes: readonly IndexFacts[]): Pick<Described, "indexes"> {
  const shown = indexes.filter(({ origin }) => origin !== "pk").map(({ name, columns, unique, partial }) => ({
    name,
    columns: columns.map((column) => column.name),
    unique,
    partial,
  }));
  return shown.length === 0 ? {} : { indexes: shown };
}

function describeChecks(checks: readonly string[]): Pick<Described, "checks"> {
  return checks.length === 0 ? {} : { checks };
}

/** Texts to be kept; what is left out stays, and an empty text takes one away. */
export interface DescriptionsInput {
  readonly databaseDescription?: string | undefined;
  readonly tables?:
    | readonly {
      readonly table: string;
      readonly description?: string | undefined;
      readonly columns?:
        | readonly {
          readonly column: string;
          readonly description?: string | undefined;
        }[]
        | undefined;
    }[]
    | undefined;
}

/** Table, column, text. Without a column it is about the table, without both about the database. */
type Entry = readonly [table: string, column: string, description: string];

/** One statement for any number of entries; the last entry for a name counts. */
const STORE = "INSERT INTO _service_meta_description (table_name, column_name, description) " +
  "SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true " +
  "ON CONFLICT (table_name, column_name) DO UPDATE SET description = excluded.description";

/** The description "" is removed. */
const CLEAR = "DELETE FROM _service_meta_description WHERE description = ''";

/**
 * Changes the given descriptions, all or none, and answers the whole schema. Errors: `role_too_low`,
 * `validation_failed` for an unknown table or column.
 */
export async function updateDescriptions(
  ctx: StatementsContext,
  input: DescriptionsInput,
): Promise<SchemaDescription> {
  requireRole(ctx.target, "admin");
  const entries = entriesOf(input, await readSchema(ctx));
  if (entries.length > 0) {
    const database = ctx.tenants.open(ctx.target);
    await database.write([
      { sql: STORE, params: [JSON.stringify(entries)] },
      { sql: CLEAR, params: [] },
    ]);
  }
  return await describeSchema(ctx);
}

function entriesOf({ databaseDescription, tables = [] }: DescriptionsInput, schema: SchemaFacts): Entry[] {
  const known = new Map(schema.tables.map((table) => [
    foldName(table.name),
    { name: table.name, columns: new Map(table.columns.map(({ name }) => [foldName(name), name])) },
  ]));
  const entries: Entry[] = [];
  const issues: Issue[] = [];
  if (databaseDescription !== undefined) entries.push(["", "", databaseDescription]);
  for (const [at, { table, description, columns = [] }] of tables.entries()) {
    const found = known.get(foldName(table));
    if (!found) {
      issues.push({ path: `tables[${at}].table`, message: "Name a table that exists; tables lists them" });
      continue;
    }
    if (description !== undefined) entries.push([found.name, "", description]);
    for (const [index, { column, description }] of columns.entries()) {
      const name = found.columns.get(foldName(column));
      if (name === undefined) {
        const path = `tables[${at}].columns[${index}].column`;
        issues.push({ path, message: "Name a column of this table; describe lists them" });
      } else if (description !== undefined) entries.push([found.name, name, description]);
    }
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues: issues.slice(0, 50) });
  return entries;
}
