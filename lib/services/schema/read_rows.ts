// Reads that the service makes for itself: free, not logged, one call to the engine.
import { plainCall } from "../../query/plain_call.ts";
import { run } from "../../query/run.ts";
import type { StatementsContext } from "../query/run_statements.ts";

/** A value of a result row; blobs and huge integers are not read here. */
export type Cell = string | number | null;

/**
 * One result for each statement, from one state of the database: its rows as JSON text, `[[…],…]`. Errors: those of
 * the pipeline.
 */
export async function readRows(ctx: StatementsContext, statements: readonly string[]): Promise<string[]> {
  const call = plainCall({
    target: ctx.target,
    tokenId: ctx.tokenId,
    operation: "service",
    statements: statements.map((sql) => ({ sql, params: [] })),
  });
  const answer = await run(ctx, call);
  return answer.results.map(({ json }) => json);
}

/** Guarantee: rows of a result of `readRows`, whose columns the caller's own statement has chosen. */
export function rowsOf<Row extends readonly Cell[]>(json: string | undefined): Row[] {
  if (json === undefined) return [];
  const { rows }: { rows: Row[] } = JSON.parse(`${json}}`);
  return rows;
}
