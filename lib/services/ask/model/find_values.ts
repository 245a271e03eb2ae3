// Looks up which phrases of a question occur in the data, so that "in Berlin" becomes a comparison.
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import { readOwn } from "../../query/read_own.ts";
import { rowsOf } from "../../query/read_result.ts";
import type { StatementsContext } from "../../query/run_statements.ts";
import type { AskSchema } from "./ask_schema.ts";

/** Bounds on what a question costs, which nobody pays for: columns, rows of each, and values found. */
const MAX_COLUMNS = 40;
const MAX_ROWS = 10_000;
const MAX_FOUND = 20;

/** A value as it is stored, and where. */
export interface FoundValue {
  readonly table: string;
  readonly column: string;
  readonly value: string;
}

/**
 * Text values of tables that equal one of the phrases, ignoring the case of A to Z. Views are left out: they could
 * read more than they show. One call to the engine, among the first rows of each table. Errors: those of the
 * pipeline.
 */
export async function findValues(
  ctx: StatementsContext,
  schema: AskSchema,
  phrases: readonly string[],
): Promise<FoundValue[]> {
  const columns = schema.tables.filter(({ kind }) => kind === "table").flatMap((table) =>
    table.columns.filter(({ type }) => affinityOf(type) === "TEXT").map((column) => ({
      table: table.name,
      column: column.name,
    }))
  ).slice(0, MAX_COLUMNS);
  if (columns.length === 0 || phrases.length === 0) return [];
  const params = [JSON.stringify(phrases)];
  const results = await readOwn(
    ctx,
    columns.map(({ table, column }) => ({ sql: lookUp(table, column), params })),
  );
  return results.flatMap((json, index) => {
    const found = columns[index];
    return found === undefined ? [] : rowsOf<[string]>(json).map(([value]) => ({ ...found, value }));
  });
}

function lookUp(table: string, column: string): string {
  return `SELECT DISTINCT v FROM (SELECT ${quoteIdentifier(column)} AS v FROM ${quoteIdentifier(table)} ` +
    `LIMIT ${MAX_ROWS}) WHERE typeof(v) = 'text' AND v COLLATE NOCASE IN (SELECT value FROM json_each(?)) ` +
    `LIMIT ${MAX_FOUND}`;
}
