// Brings what a branch has changed into its trunk, or shows what that would do.
import { requireRole } from "../../access/require_role.ts";
import { AppError } from "../../core/errors.ts";
import { holdForApproval } from "../../query/hold_call.ts";
import { writeHeldMerge } from "../../query/held_call.ts";
import type { RuleMatch } from "../../query/match_rules.ts";
import { effectOf, type MergeReport } from "../../sql/branch_report.ts";
import { requireBranch } from "./branch_context.ts";
import { findMergeRules } from "./find_merge_rules.ts";
import { priceCall } from "./price_call.ts";
import {
  type BranchMergeView,
  type MergeContext,
  type MergeInput,
  mergeView,
  runMerge,
} from "./run_merge.ts";

/** Times that it starts over because the branch changed between the look at the rules and the merge. */
const MAX_ATTEMPTS = 5;

/**
 * Errors: `role_too_low`, `trunk_required`, `branch_not_found`, `merge_conflict` with `data` (the report), `merge_refused`,
 * `rule_denied`, `approval_required` with the approval envelope, `too_many_approvals`, `sql_error` of a schema statement
 * that the trunk's rows do not allow, `database_busy`, those of the balance.
 */
export async function mergeBranch(ctx: MergeContext, input: MergeInput): Promise<BranchMergeView> {
  requireRole(ctx.target, "admin");
  const branch = await requireBranch(ctx, input.ref);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const look = await lookAtRules(ctx, branch.id, input);
    const held = look !== null && look.matches.length > 0;
    const run = await runMerge(ctx, branch.id, {
      ...input,
      dryRun: input.dryRun || held,
      expects: look?.effect ?? null,
    });
    if (run.outcome.outcome === "changed") continue;
    const view = await mergeView(ctx, input, run);
    if (!held) return view;
    throw await holdMerge(ctx, input, { branchId: branch.id, ...look, report: run.outcome.report });
  }
  throw new AppError("database_busy", {
    message: "Try again when nobody writes the branch; it keeps changing",
  });
}

/** What was looked at where the trunk has rules; null where it has none and nothing needs to be. */
async function lookAtRules(
  ctx: MergeContext,
  branchId: string,
  { mode, dryRun }: MergeInput,
): Promise<Look | null> {
  if (dryRun) return null;
  const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
  if (!rules.some(({ enabled }) => enabled)) return null;
  const { namespaceId, databaseId } = ctx.target;
  const { diff, rowsRead } = await ctx.tenants.branches.diff({ databaseId: branchId, namespaceId });
  const matches = findMergeRules(rules, { mode, diff });
  const denied = matches.filter(({ rule }) => rule.effect === "deny");
  if (denied.length === 0) return { matches, effect: effectOf(diff) };
  // Paid like a write that is stopped after a look.
  await priceCall(
    ctx.meter,
    { namespaceId, databaseId },
    () => Promise.resolve({ value: null, rowsRead, rowsWritten: 0 }),
  );
  throw new AppError("rule_denied", { extra: { hits: denied.map(({ hit }) => hit) } });
}

interface Look {
  readonly matches: readonly RuleMatch[];
  readonly effect: string;
}

/** Kept with the report of what it would do; what can only fail has failed by now. */
function holdMerge(
  ctx: MergeContext,
  { ref, mode, onConflict }: MergeInput,
  look: Look & { readonly branchId: string; readonly report: MergeReport },
): Promise<AppError> {
  const { branchId, effect, matches, report } = look;
  return holdForApproval(ctx, {
    ...{ target: ctx.target, tokenId: ctx.token.tokenId, matches },
    affectedRows: mode === "schema" ? null : report.rowsWritten,
    text: (covers) => writeHeldMerge({ ref, branchId, mode, onConflict, effect, report }, covers),
  });
}
