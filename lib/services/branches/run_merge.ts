// One merge of a branch as the store makes it, paid for, and how it is told.
import type { Meter } from "../../control/balance/meter.ts";
import type { Rules } from "../../control/rules.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import { failureError } from "../../query/failure_error.ts";
import type { HoldContext } from "../../query/hold_call.ts";
import type { MergeReport } from "../../sql/branch_report.ts";
import type { BranchMerge, MergeOutcome } from "../../tenant/branch_store.ts";
import type { EngineFailure, LogIdentity } from "../../tenant/tenant_store.ts";
import type { BranchContext } from "./branch_context.ts";
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

export interface MergeContext extends BranchContext, HoldContext {
  readonly clock: BranchContext["clock"];
  readonly meter: Meter;
  readonly rules: Rules;
}

export interface MergeRun {
  readonly outcome: MergeOutcome<EngineFailure>;
  readonly snapshot: string;
}

type MergeCall = MergeInput & { readonly expects: string | null };

/** Bills the request, the rows read and, of what is no dry run, the rows written. */
export async function runMerge(ctx: MergeContext, branchId: string, call: MergeCall): Promise<MergeRun> {
  const { namespaceId, databaseId } = ctx.target;
  return await priceCall(ctx.meter, { namespaceId, databaseId }, async () => {
    const run = await runUnpaid(ctx, branchId, call);
    const { rowsRead, report } = run.outcome;
    return { value: run, rowsRead, rowsWritten: call.dryRun ? 0 : report.rowsWritten };
  });
}

/** For a look that belongs to a call which is paid. */
export async function runUnpaid(ctx: MergeContext, branchId: string, call: MergeCall): Promise<MergeRun> {
  const { target: { namespaceId, databaseId }, token, clock } = ctx;
  const { ref, mode, onConflict, dryRun, expects } = call;
  const snapshot = autoLabel(clock, "merge", ref);
  const now = clock.now();
  const log: LogIdentity = {
    ...{ id: newId("qry", now), ts: now, namespaceId, databaseId, tokenId: token.tokenId, userId: null },
    ...{ operation: "merge", statementCount: 1, sql: `-- ${mode} of branch ${ref}` },
  };
  const merge: BranchMerge<LogIdentity> = {
    ...{ branchId, mode, onConflict, dryRun, expects, snapshot, log, auditId: newId("evt", now) },
  };
  return { outcome: await ctx.tenants.branches.merge({ databaseId, namespaceId }, merge), snapshot };
}

/** The report of one that ended well, of a dry run also with conflicts. Throws what the others ended in. */
export async function mergeView(
  ctx: MergeContext,
  { ref, mode, dryRun }: MergeInput,
  { outcome, snapshot }: MergeRun,
): Promise<BranchMergeView> {
  const { report, snapshotTaken } = outcome;
  const view = { branchRef: ref, mode, dryRun, ...report, snapshot: null };
  if (outcome.outcome === "merged") return { ...view, snapshot: snapshotTaken ? snapshot : null };
  if (outcome.outcome === "conflict" && dryRun) return view;
  throw await mergeError(ctx, outcome, view);
}

async function mergeError(
  ctx: MergeContext,
  outcome: MergeRun["outcome"],
  view: BranchMergeView,
): Promise<AppError> {
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
