// Runs one statement with which a page or a tool looks at something, as a query of the caller.
import type { QueryMeta } from "../../query/query_call.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import { NO_ROWS } from "./read_result.ts";
import { runStatements, type StatementsContext, type StatementsInput } from "./run_statements.ts";

/** What to read. */
export type StatementRead = StatementsInput["statements"][number] & Pick<StatementsInput, "signal">;

/** The text of its result, as `readResult` takes it, and what it took. Errors: those of the pipeline. */
export async function readStatement(
  ctx: StatementsContext,
  { sql, params, signal }: StatementRead,
): Promise<{ readonly json: string; readonly meta: QueryMeta }> {
  const { results, meta } = await runStatements(ctx, {
    operation: "query",
    statements: [{ sql, params }],
    atomic: true,
    rowForm: PLAIN_ROWS,
    replay: null,
    snapshots: false,
    maxAffected: null,
    signal,
  });
  return { json: results[0]?.json ?? NO_ROWS, meta };
}
