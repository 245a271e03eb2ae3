// The part of a database that a question may be about: what `allowedTables` names, and nothing beside it.
import type { QueryContext } from "../../../query/query_call.ts";
import { foldName } from "../../../sql/words/names.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import { readSchema } from "../../schema/read_schema.ts";
import type { ColumnFacts, ForeignKeyFacts } from "../../schema/schema_facts.ts";

/** A table or view that a question may be about. */
export interface AskTable {
  readonly name: string;
  readonly kind: "table" | "virtual" | "view";
  readonly description: string;
  readonly columns: readonly ColumnFacts[];
  /** Only keys that lead to a table of this schema. */
  readonly foreignKeys: readonly ForeignKeyFacts[];
}

/** All of them. */
export interface AskSchema {
  readonly tables: readonly AskTable[];
}

/**
 * Reads them. Tables that do not exist are left out. One round trip, or two where a view is named. Errors: the
 * pipeline's.
 */
export async function readAskSchema(
  ctx: StatementsContext,
  allowedTables: readonly string[],
): Promise<AskSchema> {
  const allowed = new Set(allowedTables.map(foldName));
  const { tables } = await readSchema(ctx, allowedTables);
  const named = tables.filter((table) => allowed.has(foldName(table.name)));
  const views = named.length < allowed.size ? await readViews(ctx, ctx.target, allowed) : [];
  return {
    tables: [
      ...named.map(({ name, kind, description, columns, foreignKeys }) => ({
        name,
        kind,
        description,
        columns,
        foreignKeys: foreignKeys.filter((key) => allowed.has(foldName(key.toTable))),
      })),
      ...views,
    ],
  };
}

/** A view has names but neither types nor keys. */
async function readViews(
  ctx: QueryContext,
  target: StatementsContext["target"],
  allowed: ReadonlySet<string>,
): Promise<AskTable[]> {
  const { tables } = await ctx.tenants.open(target).schema();
  return tables.filter(({ name, kind }) => kind === "view" && allowed.has(foldName(name))).map((view) => ({
    name: view.name,
    kind: "view",
    description: "",
    foreignKeys: [],
    columns: view.columns.map((name) => ({
      name,
      type: "",
      pk: 0,
      notNull: false,
      default: null,
      generated: false,
      description: "",
    })),
  }));
}
