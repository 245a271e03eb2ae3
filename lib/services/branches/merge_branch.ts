// Brings what a branch has changed into its trunk, or shows what that would do.
import { callerId, requireRole } from "../../access/caller.ts";
import type { AppError } from "../../core/errors.ts";
import { holdForApproval } from "../../query/hold_call.ts";
import { writeHeldMerge } from "../../query/held_call.ts";
import type { RuleMatch } from "../../query/match_rules.ts";
import { effectOf, type MergeReport } from "../../sql/service/branch_report.ts";
import { requireBranch } from "./branch_context.ts";
import { deniedBy, findMergeRules } from "./find_merge_rules.ts";
import type { MergeAnswer, MergeInput } from "./merge_answer.ts";
import { type DecideMerge, type MergeContext, mergeOfStep, runMerge } from "./run_merge.ts";

/**
 * Errors: `role_too_low`, `trunk_required`, `branch_not_found`, `merge_conflict` with `data` (the report),
 * `merge_refused`, `replay_mismatch`, `rule_denied`, `approval_required` with the approval envelope, `too_many_approvals`, `sql_error`
 * of a schema statement that the trunk's rows do not allow, `database_busy`, those of the balance.
 */
export async function mergeBranch(ctx: MergeContext, input: MergeInput): Promise<MergeAnswer> {
  requireRole(ctx.target, "admin");
  const earlier = await mergeOfStep(ctx, input);
  if (earlier !== null) return earlier;
  const branch = await requireBranch(ctx, input.ref);
  const decider = () => ruleDecider(ctx, input, branch.id);
  const merged = await runMerge(ctx, { branch, input, decider });
  if (!merged.ok) throw new TypeError("rules stop a merge with an error");
  return merged.answer;
}

/** The rules of the trunk decide, unless there are none or it is a dry run. They throw why they stop it. */
async function ruleDecider(
  ctx: MergeContext,
  input: MergeInput,
  branchId: string,
): Promise<DecideMerge<never> | null> {
  const rules = input.dryRun ? [] : await ctx.rules.of(ctx.target.databaseId) ?? [];
  if (!rules.some(({ enabled }) => enabled)) return null;
  return async (report) => {
    const matches = findMergeRules(rules, { mode: input.mode, report });
    if (matches.length === 0) return null;
    throw deniedBy(matches) ?? await holdMerge(ctx, matches, { input, branchId, report });
  };
}

interface Previewed {
  readonly input: MergeInput;
  readonly branchId: string;
  readonly report: MergeReport;
}

/** Held with the report of what it would do. */
function holdMerge(
  ctx: MergeContext,
  matches: readonly RuleMatch[],
  { input: { ref, mode, onConflict, rowForm }, branchId, report }: Previewed,
): Promise<AppError> {
  const merge = { ref, branchId, mode, onConflict, effect: effectOf(report), report };
  return holdForApproval(ctx, {
    target: ctx.target,
    tokenId: callerId(ctx.caller),
    operation: "merge",
    matches,
    // A branch that was reset is another one.
    replay: ctx.plan
      ? { idempotency: null, plan: { ...ctx.plan, requestHash: `${ctx.plan.requestHash} of ${branchId}` } }
      : null,
    affectedRows: mode === "schema" ? null : report.rowsWritten,
    text: (covers) => writeHeldMerge(merge, { covers, rowForm, plan: ctx.plan }),
  });
}
