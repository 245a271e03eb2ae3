// Runs a write that a person has approved: once, for whoever asked, and only if it does what was approved.
import { replayScope } from "../../access/replay_scope.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import type { Footprint } from "../../engine/footprint/footprint.ts";
import { findStored } from "../../query/find_earlier.ts";
import { cascadedRows, type HeldCall, type HeldStep, rewriteHeldCall } from "../../query/held_call.ts";
import { replayOfStep } from "../../query/hold_call.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { CallReplay, QueryAnswer, QueryCall, QueryMeta } from "../../query/query_call.ts";
import { run } from "../../query/run.ts";
import { eitherForm, type RowForm } from "../../sql/words/row_form.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import type { MergeAnswer } from "../branches/merge_answer.ts";
import type { MergeContext } from "../branches/run_merge.ts";
import type { MigrateAnswer } from "../migrations/migrated_before.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import type { Imported } from "../transfer/import_file.ts";
import { afterRefusal, lookAgain, type NewLook } from "./after_failure.ts";
import { heldCallOf } from "./approval_detail.ts";
import { effectNow } from "./effect_now.ts";
import { type ApprovalKey, findApproval } from "./read_approval.ts";
import { mergeRedeemed, redeemMerge } from "./redeem_merge.ts";
import { migrationsRedeemed, redeemMigrations } from "./redeem_migrations.ts";
import { requireApprover } from "./require_approver.ts";
import { redeemRestore, type RestoreAnswer, restoreRedeemed } from "./redeem_restore.ts";

/** How the write of an approval is to run. */
export interface RedeemInput {
  /** Also where the held call did not ask for it. */
  readonly rowForm: RowForm;
  readonly replay: CallReplay | null;
  readonly signal: () => AbortSignal | null;
}

/** What has run: statements, a merge of a branch, a restore (also of an imported file), rows of a file, or migrations. */
export type Redeemed =
  /** `batch`: it answers one result for each statement. */
  | { readonly answer: QueryAnswer; readonly batch: boolean }
  /** `step`: the step of a plan that it was when it was held; whoever sends the answer stores it for that one too. */
  | { readonly merge: MergeAnswer; readonly step: HeldStep | null }
  | { readonly restored: RestoreAnswer; readonly step: HeldStep | null }
  | { readonly appended: { readonly data: Imported; readonly meta: QueryMeta } }
  | { readonly migrated: MigrateAnswer; readonly step: HeldStep | null };

/**
 * Runs the held write, also where a process has died in its redemption: its commit tells whether it has run. Errors: `not_yours`,
 * `approval_pending` (also where whoever approved it may not decide any more), `approval_denied`, `approval_not_found` (also used
 * or expired), `effect_changed` with both figures: then a person has to look again; `too_many_affected` where that is more than
 * the caller wanted at first; every error of the pipeline.
 */
export async function redeemApproval(
  ctx: StatementsContext & MergeContext,
  input: RedeemInput & ApprovalKey,
): Promise<Redeemed> {
  const { target, tokenId } = ctx;
  const record = await findApproval(ctx, input);
  if (record.requestedBy !== tokenId) throw new AppError("not_yours");
  const isCutOff = ctx.approvals.isCutOff(record);
  if (ctx.approvals.stateOf(record) === "redeemed" && (isCutOff || input.replay !== null)) {
    const answered = await redeemedBefore(ctx, record, input);
    if (answered !== null) return answered;
  }
  if (!isCutOff) refuseUnlessApproved(ctx, record);
  await requireApprover(ctx, record);
  const waiting = await heldCallOf(ctx, record);
  if (isCutOff && !runsOnce(waiting)) throw new AppError("approval_not_found");
  const held = { ...waiting, rowForm: eitherForm(waiting.rowForm, input.rowForm) };
  const redeemedAt = ctx.clock.now();
  const from = isCutOff ? "redeemed" : "approved";
  const claimed = await ctx.approvals.move(record, from, { state: "redeemed", redeemedAt, outcome: null });
  if (claimed === null) throw new AppError("approval_not_found");
  const { merge, restore, migrations, plan: step = null } = held;
  const { statements, paramSets = null, atomic, batch, rowForm, snapshots } = held;
  const keyed = { ...ctx, replay: allKeys(record, held, input) };
  if (merge) return { merge: await redeemMerge(keyed, record, { ...held, merge }), step };
  if (restore) return { restored: await redeemRestore(keyed, record, { ...held, restore }), step };
  if (migrations) {
    const { signal } = input;
    return { migrated: await redeemMigrations(keyed, record, { ...held, migrations, signal }), step };
  }
  try {
    // What was held before there were footprints is bound to nothing yet.
    if (held.footprint === undefined) throw await lookAgain(ctx, record, await lookNow(ctx, record, held));
    const answer = await run(
      ctx,
      plainCall({ target, tokenId, operation: "redeem_approval", statements }, {
        paramSets,
        atomic,
        batch,
        rowForm,
        snapshots,
        snapshotFirst: record.snapshotFirst ?? false,
        approved: held.covers,
        affected: approvedRows(record, held),
        maxAffected: held.maxAffected ?? null,
        footprint: approvedFootprint(record, held.footprint),
        replay: keyed.replay,
        signal: input.signal,
      }),
    );
    await ctx.approvals.noteRan(record, answer.meta);
    return ranAs(record, held, answer);
  } catch (error) {
    throw await afterFailure(ctx, record, held, error);
  }
}

/**
 * What a redemption has answered that may have been the last of its process, as the database tells it: to its step, and to
 * anybody of whom it was cut off. Null: nothing.
 */
async function redeemedBefore(
  ctx: StatementsContext & MergeContext,
  record: ApprovalRecord,
  input: RedeemInput,
): Promise<Redeemed | null> {
  const held = await heldCallOf(ctx, record);
  const { merge, restore, migrations, plan: step = null } = held;
  const replay = ctx.approvals.isCutOff(record) ? allKeys(record, held, input) : input.replay;
  const keyed = { ...ctx, replay };
  if (migrations) {
    const answered = await migrationsRedeemed(keyed, record);
    return answered && { migrated: answered, step };
  }
  if (merge) {
    const answered = await mergeRedeemed(keyed, record, { ...held, merge });
    return answered && { merge: answered, step };
  }
  if (restore) {
    const answered = await restoreRedeemed(keyed, record, { ...held, restore });
    return answered && { restored: answered, step };
  }
  const answered = await findStored(ctx, ctx.target, replay);
  if (answered !== null && record.outcome?.kind !== "ran") await ctx.approvals.noteRan(record, answered.meta);
  return answered && ranAs(record, held, answered);
}

/** In the form of the call that was held. */
function ranAs({ operation }: ApprovalRecord, { batch, paramSets }: HeldCall, answer: QueryAnswer): Redeemed {
  if (operation !== "import") return { answer, batch: batch && paramSets === undefined };
  const data = { tables: 1, rows: paramSets?.length ?? 0, notKept: [], snapshot: answer.meta.snapshot };
  return { appended: { data, meta: answer.meta } };
}

function refuseUnlessApproved(ctx: StatementsContext, record: ApprovalRecord): void {
  const state = ctx.approvals.stateOf(record);
  if (state === "pending") throw new AppError("approval_pending");
  if (state === "denied") {
    throw new AppError("approval_denied", { extra: { reason: record.reason } });
  }
  if (state !== "approved") throw new AppError("approval_not_found");
}

/**
 * Whether its commit tells that it has run: then it may be tried again after a process has died in it. Of a batch that commits
 * one statement after the other some may have run.
 */
function runsOnce({ atomic, merge, restore, migrations }: HeldCall): boolean {
  return atomic && !merge && !restore && !migrations;
}

/** The key and the step of the call that was held, and the step that redeems it. Without a key it has one of the approval. */
function allKeys(
  { id, look = 0 }: ApprovalRecord,
  { key, plan: heldPlan }: HeldCall,
  { replay }: RedeemInput,
): CallReplay {
  const idempotency = key ?? replayScope(["redemption", id], String(look));
  const plan = replay?.plan ?? null;
  // A step that was held is free again, so the redemption may have its name, and then its answer.
  if (heldPlan === undefined || heldPlan.key === plan?.key) return { idempotency, plan };
  const { plan: heldStep } = replayOfStep(heldPlan);
  return { idempotency, plan, ...(heldStep === null ? {} : { heldPlan: heldStep }) };
}

/** What was approved, give or take what the rule tolerates. Where the number of rows was not known, any is. */
function approvedRows(
  { affectedRows, tolerance }: ApprovalRecord,
  { maxAffected }: HeldCall,
): QueryCall["affected"] {
  const looksAgainUpTo = maxAffected ?? Number.MAX_SAFE_INTEGER;
  if (affectedRows === null) return { min: 0, max: Number.MAX_SAFE_INTEGER, looksAgainUpTo };
  return { min: Math.max(0, affectedRows - tolerance), max: affectedRows + tolerance, looksAgainUpTo };
}

/** The same rows, the same values, the same tables. */
function approvedFootprint(
  { tolerance }: ApprovalRecord,
  footprint: Footprint | null,
): QueryCall["footprint"] {
  if (footprint === null) return null;
  const { salt, rows } = footprint;
  return {
    salt,
    each: tolerance > 0 && rows !== null && rows.each !== null,
    expects: { footprint, tolerance },
  };
}

/** The error of a run that failed. A write that would do something else by now waits for another look. */
async function afterFailure(
  ctx: StatementsContext,
  record: ApprovalRecord,
  held: HeldCall,
  error: unknown,
): Promise<unknown> {
  // It waits for another look already.
  if (failedWith(error, "effect_changed")) return error;
  if (failedWith(error, "too_many_affected")) {
    const found = Number(error.facts.extra?.["affected"] ?? 0);
    // However often a person looked at more: whoever asked for it does not want so many.
    if (found <= (held.maxAffected ?? Infinity)) {
      const look = await lookNow(ctx, record, held).catch(() => ({ affectedRows: found, text: null }));
      return await lookAgain(ctx, record, look);
    }
  }
  await afterRefusal(ctx, record, error);
  return error;
}

/** What it would do now. */
async function lookNow(ctx: StatementsContext, record: ApprovalRecord, held: HeldCall): Promise<NewLook> {
  const { affectedRows, ...preview } = await effectNow(ctx, record, { held });
  const { effects } = preview;
  return { affectedRows, cascadedRows: cascadedRows(effects), text: rewriteHeldCall(held, preview) };
}
