// Runs a call only while the user of its session exists: a statement that fails without the user (`guard`) runs in
// front of the call's own, in the same transaction, and by itself before a kept answer may be given.
import { AppError, failedWith } from "../core/errors.ts";
import { plainCall } from "./plain_call.ts";
import { run } from "./run.ts";
import type { QueryAnswer, QueryCall, QueryContext, QueryStatement } from "./query_call.ts";

/**
 * Answers the call's own statement. `guard` null: no check comes first. Errors: `session_invalid` where
 * the guard fails, and then nothing else has run and no earlier answer is given; those of the pipeline.
 */
export async function runForSession(
  ctx: QueryContext,
  call: QueryCall,
  guard: QueryStatement | null,
): Promise<QueryAnswer> {
  if (guard === null) return await run(ctx, call);
  const { target, tokenId, replay, statements } = call;
  try {
    // The store looks for the answer of an earlier call before it runs a statement, so the guard would come too late.
    if (replay !== null) {
      await run(
        ctx,
        plainCall({ target, tokenId, operation: "service", statements: [guard] }, { batch: true }),
      );
    }
    // As a batch, so that an error names the index of its statement.
    const guarded = { ...call, batch: true, atomic: true, statements: [guard, ...statements] };
    const answer = await run(ctx, guarded);
    return { ...answer, results: answer.results.slice(1) };
  } catch (error) {
    throw isGuards(error) ? new AppError("session_invalid") : withOwnIndex(error);
  }
}

/** The index of the failed statement among the call's own. */
function withOwnIndex(error: unknown): unknown {
  const at = error instanceof AppError ? error.facts.extra?.["failedIndex"] : undefined;
  if (!(error instanceof AppError) || typeof at !== "number") return error;
  return error.with({ extra: { failedIndex: Math.max(0, at - 1) } });
}

/** Whether the guard has failed. The commit may blame a broken reference on the guard, which only reads. */
function isGuards(error: unknown): boolean {
  return failedWith(error, "sql_error") &&
    error.facts.extra?.["failedIndex"] === 0 &&
    error.facts.detail?.kind !== "foreign_key_violation";
}
