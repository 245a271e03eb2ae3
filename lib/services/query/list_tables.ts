// The tables of a database with their exact row counts.
import { quoteIdentifier } from "../../sql/quote.ts";
import { plainCall } from "../../query/plain_call.ts";
import { run } from "../../query/run.ts";
import type { StatementsContext } from "./run_statements.ts";

export interface TableSummary {
  readonly name: string;
  readonly rowCount: number;
}

/** Tables counted by one statement: the engine bounds the terms of a compound SELECT. */
const TABLES_PER_STATEMENT = 100;

/** User-defined tables, virtual ones included; no views, no shadow tables, none of the service's. */
export async function listTables(ctx: StatementsContext): Promise<TableSummary[]> {
  const database = ctx.tenants.open(ctx.target.databaseId, ctx.target.namespaceId);
  const { tables } = await database.schema();
  const names = tables.filter((table) => table.kind === "table" || table.kind === "virtual").map((table) =>
    table.name
  );
  if (names.length === 0) return [];
  const statements = [];
  for (let start = 0; start < names.length; start += TABLES_PER_STATEMENT) {
    const counts = names.slice(start, start + TABLES_PER_STATEMENT).map((name, index) =>
      `SELECT ${start + index}, count(*) FROM ${quoteIdentifier(name)}`
    );
    statements.push({ sql: counts.join(" UNION ALL "), params: [] });
  }
  const { target, tokenId } = ctx;
  const answer = await run(ctx, plainCall({ target, tokenId, operation: "service", statements }));
  const countOf = new Map(answer.results.flatMap((result) => countRows(result.json)));
  return names.map((name, index) => ({ name, rowCount: countOf.get(index) ?? 0 }));
}

/** Rows of `SELECT number, count`. */
function countRows(json: string): [number, number][] {
  const { rows }: { rows: [number, number][] } = JSON.parse(`${json}}`);
  return rows;
}
