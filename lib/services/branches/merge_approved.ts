// Runs a merge that a person has approved, if it does what was approved: the same changes of the branch, and as many rows
// of the trunk.
import { requireRole } from "../../access/require_role.ts";
import { AppError } from "../../core/errors.ts";
import type { HeldCall, HeldMerge } from "../../query/held_call.ts";
import { effectOf, type MergeReport } from "../../sql/branch_report.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { requireBranch } from "./branch_context.ts";
import { findMergeRules } from "./find_merge_rules.ts";
import { mergeAsJudged } from "./merge_as_judged.ts";
import { type BranchMergeView, type MergeContext, payMerge } from "./run_merge.ts";

export type MergedApproved =
  | { readonly ok: true; readonly view: BranchMergeView }
  /** Nothing was merged; `merge` is what it would do now. */
  | { readonly ok: false; readonly reason: "effect_changed"; readonly merge: HeldMerge };

/**
 * Errors: those of `mergeBranch`, but that rules of which it was approved do not hold it again: one that has come since
 * stops it.
 */
export async function mergeApproved(
  ctx: MergeContext,
  approved: HeldMerge,
  { covers, tolerance }: Pick<HeldCall, "covers"> & Pick<ApprovalRecord, "tolerance">,
): Promise<MergedApproved> {
  requireRole(ctx.target, "admin");
  const { ref, mode, onConflict } = approved;
  const { id: branchId } = await requireBranch(ctx, ref);
  const judge = async (report: MergeReport): Promise<HeldMerge | null> => {
    await denyByRules(ctx, { mode, report, covers });
    const effect = effectOf(report);
    const same = effect === approved.effect && branchId === approved.branchId &&
      Math.abs(report.rowsWritten - approved.report.rowsWritten) <= tolerance;
    return same ? null : { ...approved, branchId, effect, report };
  };
  const input = { ref, mode, onConflict };
  const merged = await payMerge(ctx, (paid) => mergeAsJudged(paid, { branchId, input, judge }));
  return merged.ok ? merged : { ok: false, reason: "effect_changed", merge: merged.stop };
}

/** Errors: `rule_denied` by what denies, or holds, and was not approved. */
async function denyByRules(
  ctx: MergeContext,
  { mode, report, covers }: Parameters<typeof findMergeRules>[1] & Pick<HeldCall, "covers">,
): Promise<void> {
  const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
  const matches = findMergeRules(rules, { mode, report }).filter(({ rule, about }) =>
    rule.effect === "deny" || about.some((one) => !covers.includes(one))
  );
  if (matches.length > 0) {
    throw new AppError("rule_denied", { extra: { hits: matches.map(({ hit }) => hit) } });
  }
}
