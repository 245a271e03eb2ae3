// The second of two steps: runs a proposed write, once.
import { isToken, tokenHash } from "../../access/token_format.ts";
import { AppError } from "../../core/errors.ts";
import { readHeldCall } from "../../query/held_call.ts";
import { neverRan } from "../../query/never_ran.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { CallReplay, QueryAnswer } from "../../query/query_call.ts";
import { findStored } from "../../query/find_earlier.ts";
import { run } from "../../query/run.ts";
import { eitherForm, type RowForm } from "../../sql/words/row_form.ts";
import type { StatementsContext } from "../query/run_statements.ts";

/** An execution token, and how its write is to run. */
export interface ApplyInput {
  readonly executionToken: string;
  /** Also where the proposal did not ask for it. */
  readonly rowForm: RowForm;
  /** False: no snapshot before a destructive statement. */
  readonly snapshots: boolean;
  readonly replay: CallReplay | null;
  readonly signal: () => AbortSignal | null;
}

/**
 * Runs the proposed write. Errors: `execution_not_found` (unknown, used or expired), `not_yours` (another bearer or
 * database; the token stays good), every error of the pipeline. A rule that holds the write spends the token too.
 */
export async function applyWrite(ctx: StatementsContext, input: ApplyInput): Promise<QueryAnswer> {
  const { target, tokenId } = ctx;
  if (!isToken("pmut_", input.executionToken)) throw new AppError("execution_not_found");
  const claim = await ctx.held.claim(tokenHash(input.executionToken), {
    tokenId,
    databaseId: target.databaseId,
    branchRef: target.branchRef,
  });
  if (!claim.ok && claim.reason === "not_yours") throw new AppError("not_yours");
  if (!claim.ok) {
    // A step of a plan whose answer got lost on its way.
    const stored = await findStored(ctx, target, input.replay);
    if (stored) return stored;
    throw new AppError("execution_not_found");
  }
  const { statements, atomic, batch, rowForm, maxAffected } = readHeldCall(claim.held);
  try {
    return await run(
      ctx,
      plainCall({ target, tokenId, operation: "apply", statements }, {
        atomic,
        batch,
        rowForm: eitherForm(rowForm, input.rowForm),
        snapshots: input.snapshots,
        replay: input.replay,
        maxAffected: maxAffected ?? null,
        signal: input.signal,
      }),
    );
  } catch (error) {
    if (neverRan(error)) await claim.giveBack();
    throw error;
  }
}
