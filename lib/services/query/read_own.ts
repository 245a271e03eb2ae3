// Reads that the service makes for itself: free, and not in the query log.
import { plainCall } from "../../query/plain_call.ts";
import type { QueryStatement } from "../../query/query_call.ts";
import { run } from "../../query/run.ts";
import { type Cell, rowsOf } from "./read_result.ts";
import type { StatementsContext } from "./run_statements.ts";

/** One result for each statement as JSON text, all from one state of the database. Errors: those of the pipeline. */
export async function readOwn(
  ctx: StatementsContext,
  statements: readonly QueryStatement[],
): Promise<string[]> {
  const { target, tokenId } = ctx;
  const { results } = await run(ctx, plainCall({ target, tokenId, operation: "service", statements }));
  return results.map(({ json }) => json);
}

/** The rows of one statement, which names the columns of `Row`. Errors: those of the pipeline. */
export async function readOwnRows<Row extends readonly Cell[]>(
  ctx: StatementsContext,
  statement: QueryStatement,
): Promise<Row[]> {
  const [json] = await readOwn(ctx, [statement]);
  return rowsOf<Row>(json);
}
