// Stores what people and agents say a database, its tables and its columns are for.
import { requireRole } from "../../access/require_role.ts";
import { AppError, type Issue } from "../../core/errors.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { describeSchema, type SchemaDescription } from "./describe_schema.ts";
import { foldName } from "../../sql/fold_name.ts";
import { readSchema } from "./read_schema.ts";
import type { SchemaFacts } from "./schema_facts.ts";

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

/** Table and column (empty: the table itself; both empty: the database), and the text. */
type Entry = readonly [table: string, column: string, description: string];

/** One statement whatever the number of entries; a later entry for the same name counts. */
const STORE = "INSERT INTO _service_meta_description (table_name, column_name, description) " +
  "SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true " +
  "ON CONFLICT (table_name, column_name) DO UPDATE SET description = excluded.description";

/** What was described as "" is not described. */
const CLEAR = "DELETE FROM _service_meta_description WHERE description = ''";

/**
 * Changes the descriptions that are supplied, all or none, and answers the whole description. Errors: `role_too_low`,
 * `validation_failed` for a table or column that there is not.
 */
export async function updateDescriptions(
  ctx: StatementsContext,
  input: DescriptionsInput,
): Promise<SchemaDescription> {
  requireRole(ctx.target, "admin");
  const entries = entriesOf(input, await readSchema(ctx));
  if (entries.length > 0) {
    const database = ctx.tenants.open(ctx.target.databaseId, ctx.target.namespaceId);
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
