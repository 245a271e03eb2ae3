// Brings what a branch has changed into its trunk, or shows what that would do.
import { requireRole } from "../../access/caller.ts";
import type { AppError } from "../../core/errors.ts";
import { holdForApproval } from "../../query/hold_call.ts";
import { writeHeldMerge } from "../../query/held_call.ts";
import type { RuleMatch } from "../../query/match_rules.ts";
import { effectOf, type MergeReport } from "../../sql/branch_report.ts";
import type { RuleRecord } from "../../store/write_records.ts";
import { requireBranch } from "./branch_context.ts";
import { deniedBy, findMergeRules } from "./find_merge_rules.ts";
import { mergeAsJudged } from "./merge_as_judged.ts";
import {
  type MergeAnswer,
  mergeAnswer,
  type MergeContext,
  type MergeInput,
  payMerge,
  runMerge,
} from "./run_merge.ts";

/**
 * Errors: `role_too_low`, `trunk_required`, `branch_not_found`, `merge_conflict` with `data` (the report), `merge_refused`,
 * `rule_denied`, `approval_required` with the approval envelope, `too_many_approvals`, `sql_error` of a schema statement
 * that the trunk's rows do not allow, `database_busy`, those of the balance.
 */
export async function mergeBranch(ctx: MergeContext, input: MergeInput): Promise<MergeAnswer> {
  requireRole(ctx.target, "admin");
  const { id: branchId } = await requireBranch(ctx, input.ref);
  return await payMerge(ctx, input, async (paid) => {
    const rules = input.dryRun ? [] : await ctx.rules.of(ctx.target.databaseId) ?? [];
    if (!rules.some(({ enabled }) => enabled)) {
      const run = await runMerge(paid, branchId, { ...input, expects: null });
      const answer = await mergeAnswer(ctx, input, run);
      if (input.dryRun) paid.log.ended(paid.bill, null);
      return answer;
    }
    const judge = (report: MergeReport) => judgeByRules(ctx, rules, { input, branchId, report });
    const merged = await mergeAsJudged(paid, { branchId, input, judge });
    if (merged.ok) return merged.answer;
    throw merged.stop;
  });
}

interface Looked {
  readonly input: MergeInput;
  readonly branchId: string;
  readonly report: MergeReport;
}

/** Why rules stop it, or null. */
async function judgeByRules(
  ctx: MergeContext,
  rules: readonly RuleRecord[],
  look: Looked,
): Promise<AppError | null> {
  const matches = findMergeRules(rules, { mode: look.input.mode, report: look.report });
  if (matches.length === 0) return null;
  return deniedBy(matches) ?? await holdMerge(ctx, matches, look);
}

/** Kept with the report of what it would do. */
function holdMerge(
  ctx: MergeContext,
  matches: readonly RuleMatch[],
  { input: { ref, mode, onConflict, integersAsStrings }, branchId, report }: Looked,
): Promise<AppError> {
  const merge = { ref, branchId, mode, onConflict, effect: effectOf(report), report };
  return holdForApproval(ctx, {
    ...{ target: ctx.target, tokenId: ctx.token.tokenId, matches },
    // A branch that was reset is another one.
    replay: ctx.plan
      ? { idempotency: null, plan: { ...ctx.plan, requestHash: `${ctx.plan.requestHash} of ${branchId}` } }
      : null,
    affectedRows: mode === "schema" ? null : report.rowsWritten,
    text: (covers) => writeHeldMerge(merge, { covers, integersAsStrings }),
  });
}
