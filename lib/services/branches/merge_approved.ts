// Runs a merge that a person has approved, if it does what was approved: the same changes of the branch, and as many rows
// of the trunk.
import { requireRole } from "../../access/require_role.ts";
import { AppError } from "../../core/errors.ts";
import type { HeldCall, HeldMerge } from "../../query/held_call.ts";
import { effectOf } from "../../sql/branch_report.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { requireBranch } from "./branch_context.ts";
import { findMergeRules } from "./find_merge_rules.ts";
import { priceCall } from "./price_call.ts";
import { type BranchMergeView, type MergeContext, mergeView, runMerge, runUnpaid } from "./run_merge.ts";

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
  const branch = await requireBranch(ctx, ref);
  const input = { ref, mode, onConflict, dryRun: false };
  const { namespaceId } = ctx.target;
  const { diff } = await ctx.tenants.branches.diff({ databaseId: branch.id, namespaceId });
  const effect = effectOf(diff);
  await denyByRules(ctx, { mode, diff, covers });
  const look = await runUnpaid(ctx, branch.id, { ...input, dryRun: true, expects: effect });
  const { report, rowsRead } = look.outcome;
  const same = effect === approved.effect && branch.id === approved.branchId &&
    look.outcome.outcome !== "changed" &&
    Math.abs(report.rowsWritten - approved.report.rowsWritten) <= tolerance;
  if (!same) {
    const payer = { namespaceId, databaseId: ctx.target.databaseId };
    await priceCall(ctx.meter, payer, () => Promise.resolve({ value: null, rowsRead, rowsWritten: 0 }));
    const merge = { ...approved, branchId: branch.id, effect, report };
    return { ok: false, reason: "effect_changed", merge };
  }
  const run = await runMerge(ctx, branch.id, { ...input, expects: effect });
  if (run.outcome.outcome === "changed") {
    return { ok: false, reason: "effect_changed", merge: { ...approved, report: run.outcome.report } };
  }
  return { ok: true, view: await mergeView(ctx, input, run) };
}

/** Errors: `rule_denied` by what denies, or holds, and was not approved. */
async function denyByRules(
  ctx: MergeContext,
  { mode, diff, covers }: Parameters<typeof findMergeRules>[1] & Pick<HeldCall, "covers">,
): Promise<void> {
  const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
  const matches = findMergeRules(rules, { mode, diff }).filter(({ rule, about }) =>
    rule.effect === "deny" || about.some((one) => !covers.includes(one))
  );
  if (matches.length > 0) {
    throw new AppError("rule_denied", { extra: { hits: matches.map(({ hit }) => hit) } });
  }
}
