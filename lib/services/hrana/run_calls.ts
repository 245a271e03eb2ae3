// Statements of a request as one call of the pipeline: in the stream's transaction, or on their own. A call that a rule has
// held runs when it comes again after the approval.
import { replayScope, requireReplayKey } from "../../access/replay_scope.ts";
import { tokenHash } from "../../access/token_format.ts";
import type { ReplayScope } from "../../control/replays.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import type { Role } from "../../core/role.ts";
import type { QueryAnswer } from "../../query/query_call.ts";
import { run } from "../../query/run.ts";
import type { InteractiveTransaction } from "../../query/transaction/interactive_transaction.ts";
import { TYPED_ROWS } from "../../sql/words/row_form.ts";
import { redeemApproval } from "../approvals/redeem_approval.ts";
import type { DoorStatement } from "./door_statement.ts";
import type { DoorContext, DoorOptions } from "./hrana_types.ts";
import { readmitLate } from "./readmit_late.ts";
import { keptTexts, resultTexts } from "./result_text.ts";

/** How the statements of a call belong together. */
export interface CallForm {
  /** All or nothing. */
  readonly atomic: boolean;
  /** Errors name the index of their statement. */
  readonly batch: boolean;
  /** False: a repetition of the request would run more than this call again, so no person is asked. */
  readonly mayWait: boolean;
}

/** What runs them. */
interface CallWay {
  readonly form: CallForm;
  /** The first call of what the caller has sent. In a transaction it alone pays for a request; outside each call does. */
  readonly opensRequest: boolean;
  readonly options: DoorOptions;
  readonly transaction: InteractiveTransaction | null;
}

/** What became of the statements. */
export interface CallOutcome {
  /** Results of those that have run and stay, in their order. */
  readonly results: readonly string[];
  /** `at`: which statement failed; null: none of them was allowed to run. */
  readonly failure: { readonly at: number | null; readonly error: AppError } | null;
  /** The answer is that of an earlier request with the same key. */
  readonly replayed: boolean;
}

/** Runs the statements. Errors: only such as are no failure of a call. */
export async function runCall(
  ctx: DoorContext,
  statements: readonly DoorStatement[],
  how: CallWay,
): Promise<CallOutcome> {
  try {
    await readmitLate(ctx, how.options);
    const answer = await (how.transaction === null
      ? runAlone(ctx, statements, how)
      : runInside(how.transaction, statements, { ...how, role: ctx.target.role }));
    return {
      results: resultTexts(statements, answer),
      failure: null,
      replayed: answer.replayed?.idempotency === true,
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { failedIndex, data } = error.facts.extra ?? {};
    const at = typeof failedIndex === "number" ? failedIndex : how.form.batch ? null : 0;
    return { results: keptTexts(statements, data), failure: { at, error }, replayed: false };
  }
}

function runInside(
  transaction: InteractiveTransaction,
  statements: readonly DoorStatement[],
  { form, opensRequest, options, role }: CallWay & { readonly role: Role },
): Promise<QueryAnswer> {
  const { atomic, batch } = form;
  const { maxAffected, snapshots, signal } = options;
  const own = statements.map(({ sql, params }) => ({ sql, params }));
  return transaction.run({
    statements: own,
    role,
    atomic,
    batch,
    opensRequest,
    rowForm: TYPED_ROWS,
    maxAffected,
    snapshots,
    signal,
  });
}

async function runAlone(
  ctx: DoorContext,
  statements: readonly DoorStatement[],
  { form: { atomic, batch, mayWait }, options }: Pick<CallWay, "form" | "options">,
): Promise<QueryAnswer> {
  const { maxAffected, snapshots, signal, idempotencyKey } = options;
  const own = statements.map(({ sql, params }) => ({ sql, params }));
  const content = () => JSON.stringify([own, atomic, maxAffected, snapshots]);
  const words = [ctx.tokenId, ctx.target.databaseId];
  const replay = idempotencyKey === null
    ? null
    : { idempotency: keyScope(idempotencyKey, words, content()), plan: null };
  try {
    // Field by field: spreading objects would be a noticeable part of a point read.
    return await run(ctx, {
      target: ctx.target,
      tokenId: ctx.tokenId,
      userId: null,
      operation: batch ? "batch" : "query",
      batch,
      approved: [],
      statements: own,
      paramSets: null,
      atomic,
      rowForm: TYPED_ROWS,
      replay,
      dryRun: false,
      affected: null,
      footprint: null,
      maxAffected,
      snapshots,
      signal,
      // Each key waits for an approval of its own: the run is noted under the key of the call that was held.
      heldAs: mayWait ? () => replay?.idempotency ?? replayScope(["hrana", ...words], content()) : "never",
    });
  } catch (error) {
    const approved = failedWith(error, "approval_required") ? await redeemed(ctx, error, options) : null;
    if (approved) return approved;
    throw error;
  }
}

function keyScope(key: string, words: readonly string[], content: string): ReplayScope {
  requireReplayKey("Idempotency-Key", key);
  return replayScope(["idempotency", ...words, "hrana", key], content);
}

/** The answer of the held call, if a person has approved it and nobody redeems it. Errors: those of `redeemApproval`. */
async function redeemed(
  ctx: DoorContext,
  { facts }: AppError,
  { signal }: DoorOptions,
): Promise<QueryAnswer | null> {
  const { approvalToken, approvalUrl } = facts.extra ?? {};
  if (typeof approvalToken !== "string") return null;
  const record = await ctx.approvals.byHash(tokenHash(approvalToken));
  if (record === null || ctx.approvals.stateOf(record) !== "approved") return null;
  try {
    const ran = await redeemApproval(ctx, { approvalToken, rowForm: TYPED_ROWS, replay: null, signal });
    return "answer" in ran ? ran.answer : null;
  } catch (error) {
    // The same request, sent at the same moment, has redeemed it; or whoever approved it may not any more.
    if (failedWith(error, "approval_not_found") || failedWith(error, "approval_pending")) return null;
    throw failedWith(error, "effect_changed") ? error.with({ extra: { approvalUrl } }) : error;
  }
}
