// Brings what a branch has changed into its trunk, or shows what that would do.
import { requireRole } from "../../access/require_role.ts";
import type { Meter } from "../../control/balance/meter.ts";
import type { Rules } from "../../control/rules.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import { failureError } from "../../query/failure_error.ts";
import { effectOf, type MergeReport } from "../../sql/branch_report.ts";
import type { BranchMerge, MergeOutcome } from "../../tenant/branch_store.ts";
import type { EngineFailure, LogIdentity } from "../../tenant/tenant_store.ts";
import { type BranchContext, requireBranch } from "./branch_context.ts";
import { checkMergeRules } from "./check_merge_rules.ts";
import { priceCall } from "./price_call.ts";

export interface MergeInput {
  readonly ref: string;
  readonly mode: "schema" | "data";
  readonly onConflict: "abort" | "theirs" | "ours";
  readonly dryRun: boolean;
}

export interface BranchMergeView extends MergeReport {
  readonly branchRef: string;
  readonly mode: MergeInput["mode"];
  readonly dryRun: boolean;
  /** Label of the snapshot of the trunk before; null where nothing was merged. */
  readonly snapshot: string | null;
}

export interface MergeContext extends BranchContext {
  readonly meter: Meter;
  readonly rules: Rules;
}

type Merge = BranchMerge<LogIdentity>;
type Outcome = MergeOutcome<EngineFailure>;

/** Times that it starts over because the branch changed between the look at the rules and the merge. */
const MAX_ATTEMPTS = 5;

/**
 * Errors: `role_too_low`, `trunk_required`, `branch_not_found`, `merge_conflict` with `data` (the report), `merge_refused`,
 * `rule_denied`, `sql_error` of a schema statement that the trunk's rows do not allow, `database_busy`, those of the balance.
 */
export async function mergeBranch(ctx: MergeContext, input: MergeInput): Promise<BranchMergeView> {
  requireRole(ctx.target, "admin");
  const branch = await requireBranch(ctx, input.ref);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const snapshot = autoLabel(ctx.clock, "merge", input.ref);
    const merge = {
      ...input,
      branchId: branch.id,
      snapshot,
      expects: await ruledEffect(ctx, branch.id, input),
    };
    const outcome = await runMerge(ctx, merge);
    if (outcome.outcome === "changed") continue;
    const { report } = outcome;
    const view = { branchRef: input.ref, mode: input.mode, dryRun: input.dryRun, ...report };
    if (outcome.outcome === "merged") return { ...view, snapshot: outcome.snapshotTaken ? snapshot : null };
    if (outcome.outcome === "conflict" && input.dryRun) return { ...view, snapshot: null };
    throw await mergeError(ctx, outcome, { ...view, snapshot: null });
  }
  throw new AppError("database_busy", {
    message: "Try again when nobody writes the branch; it keeps changing",
  });
}

/** What was looked at where the trunk has rules; null where it has none and nothing needs to be. */
async function ruledEffect(
  ctx: MergeContext,
  branchId: string,
  { mode, dryRun }: MergeInput,
): Promise<string | null> {
  if (dryRun) return null;
  const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
  if (!rules.some(({ enabled }) => enabled)) return null;
  const { diff } = await branchStore(ctx).diff({ databaseId: branchId, namespaceId: ctx.target.namespaceId });
  checkMergeRules(rules, { mode, diff });
  return effectOf(diff);
}

async function runMerge(
  ctx: MergeContext,
  merge: Omit<Merge, "log" | "auditId"> & MergeInput,
): Promise<Outcome> {
  const { target: { namespaceId, databaseId }, token, clock } = ctx;
  const now = clock.now();
  const log: LogIdentity = {
    ...{ id: newId("qry", now), ts: now, namespaceId, databaseId, tokenId: token.tokenId, userId: null },
    ...{ operation: "merge", statementCount: 1, sql: `-- ${merge.mode} of branch ${merge.ref}` },
  };
  return await priceCall(ctx.meter, { namespaceId, databaseId }, async () => {
    const trunk = { databaseId, namespaceId };
    const value = await branchStore(ctx).merge(trunk, { ...merge, log, auditId: newId("evt", now) });
    return { value, rowsRead: value.rowsRead, rowsWritten: value.report.rowsWritten };
  });
}

function branchStore({ tenants }: MergeContext) {
  if (tenants.branches) return tenants.branches;
  throw new AppError("store_unavailable", { message: "This tenant store keeps no ancestors" });
}

async function mergeError(ctx: MergeContext, outcome: Outcome, view: BranchMergeView): Promise<AppError> {
  if (outcome.outcome === "conflict") return new AppError("merge_conflict", { extra: { data: view } });
  if (outcome.failure === null) {
    return new AppError("merge_refused", {
      ...(outcome.reason === null ? {} : { message: outcome.reason }),
      extra: { data: view },
    });
  }
  const database = ctx.tenants.open(ctx.target.databaseId, ctx.target.namespaceId);
  return await failureError(database, { failure: outcome.failure, verb: "other", target: null, index: null });
}
