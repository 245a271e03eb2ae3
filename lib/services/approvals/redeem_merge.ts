// Runs a merge that a person has approved, if it does what was approved: the same changes of the branch, over the
// same conflicts, and as many rows of each table of the trunk in the same ways.
import { requireRole } from "../../access/caller.ts";
import { type HeldCall, type HeldMerge, heldText } from "../../query/held_call.ts";
import type { RuleMatch } from "../../query/match_rules.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { effectOf, type MergeReport } from "../../sql/service/branch_report.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { afterRefusal, coversToo, lookAgain, notCovered } from "./after_failure.ts";
import { requireBranch } from "../branches/branch_context.ts";
import { deniedBy, findMergeRules } from "../branches/find_merge_rules.ts";
import type { MergeAnswer } from "../branches/merge_answer.ts";
import { type MergeContext, type Merged, mergeOfStep, runMerge } from "../branches/run_merge.ts";

type Context = MergeContext & Pick<QueryContext, "held" | "approvals">;

/**
 * Merges; the approval's token is claimed already. Errors: `effect_changed` with both figures, then a person has to
 * look again; those of the merge.
 */
export async function redeemMerge(
  ctx: Context,
  record: ApprovalRecord,
  held: HeldCall & { readonly merge: HeldMerge },
): Promise<MergeAnswer> {
  const earlier = await mergeRedeemed(ctx, record, held);
  if (earlier !== null) return earlier;
  const merged = await mergeApproved(ctx, held.merge, {
    covers: held.covers,
    tolerance: record.tolerance,
    rowForm: held.rowForm,
  }).catch(async (error: unknown) => {
    await afterRefusal(ctx, record, error);
    throw error;
  });
  if (merged.ok) {
    const { data: { rowsWritten }, meta } = merged.answer;
    await ctx.approvals.noteRan(record, { ...meta, rowsWritten });
    return merged.answer;
  }
  const { merge, matches } = merged.stop;
  throw await lookAgain(ctx, record, {
    affectedRows: merge.mode === "schema" ? null : merge.report.rowsWritten,
    text: heldText({ ...held, covers: coversToo(held, matches), merge }),
    matches,
  });
}

/** What a redemption of it has answered, whose process may have ended since; null: nothing. Errors: those of the store. */
export async function mergeRedeemed(
  ctx: Context,
  record: ApprovalRecord,
  { merge: { ref, mode, onConflict }, rowForm }: HeldCall & { readonly merge: HeldMerge },
): Promise<MergeAnswer | null> {
  const earlier = await mergeOfStep(ctx, { ref, mode, onConflict, rowForm, dryRun: false });
  if (earlier === null) return null;
  const { data: { rowsWritten }, meta } = earlier;
  if (record.outcome?.kind !== "ran") await ctx.approvals.noteRan(record, { ...meta, rowsWritten });
  return earlier;
}

/** What it would do now; nothing was merged. */
interface MergeLook {
  readonly merge: HeldMerge;
  /** Rules that hold it for what was not approved: they have come since, or the merge does something else now. */
  readonly matches: readonly RuleMatch[];
}

/** What was approved beside the merge itself, and how rows are to be shown now. */
type Approved = Pick<HeldCall, "covers" | "rowForm"> & Pick<ApprovalRecord, "tolerance">;

/** Errors: those of `mergeBranch` except `approval_required`: what a rule holds now waits for another look. */
async function mergeApproved(
  ctx: MergeContext,
  approved: HeldMerge,
  { covers, tolerance, rowForm }: Approved,
): Promise<Merged<MergeLook>> {
  requireRole(ctx.target, "admin");
  const { ref, mode, onConflict } = approved;
  const branch = await requireBranch(ctx, ref);
  const branchId = branch.id;
  const decide = async (report: MergeReport): Promise<MergeLook | null> => {
    const matches = await holdingRules(ctx, { mode, report, covers });
    const merge = { ...approved, branchId, effect: effectOf(report), report };
    const same = branchId === approved.branchId && merge.effect === approved.effect &&
      rowsBetween(report, approved.report) <= tolerance;
    return same && matches.length === 0 ? null : { merge, matches };
  };
  const input = { ref, mode, onConflict, rowForm, dryRun: false };
  return await runMerge(ctx, { branch, input, decider: () => Promise.resolve(decide) });
}

/** Rules that hold it for what was not approved. Errors: `rule_denied`. */
async function holdingRules(
  ctx: MergeContext,
  { mode, report, covers }: Parameters<typeof findMergeRules>[1] & Pick<HeldCall, "covers">,
): Promise<RuleMatch[]> {
  const matches = findMergeRules(await ctx.rules.of(ctx.target.databaseId) ?? [], { mode, report });
  const denied = deniedBy(matches);
  if (denied) throw denied;
  return notCovered({ covers }, matches);
}

/** By how many rows of the trunk two merges of one effect differ. */
function rowsBetween(one: MergeReport, other: MergeReport): number {
  const rows = one.writes.map(({ rows }, at) => Math.abs((rows ?? 0) - (other.writes[at]?.rows ?? 0)));
  const all = Math.abs(one.rowsWritten - other.rowsWritten);
  return Math.max(all, rows.reduce((sum, more) => sum + more, 0));
}
