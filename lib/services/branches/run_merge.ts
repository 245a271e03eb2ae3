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
import { type Bill, priceCall } from "./price_call.ts";

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

export interface PaidMergeContext extends MergeContext {
  readonly bill: Bill;
}

/** All of it, looks included, is one call of the trunk. Errors: those of the balance and of the work. */
export function payMerge<Value>(
  ctx: MergeContext,
  work: (ctx: PaidMergeContext) => Promise<Value>,
): Promise<Value> {
  const { namespaceId, databaseId } = ctx.target;
  return priceCall(ctx.meter, { namespaceId, databaseId }, (bill) => work({ ...ctx, bill }));
}

/** Billed by the rows read and, of what is no dry run, the rows written: a look before it is part of it. */
export async function runMerge(ctx: PaidMergeContext, branchId: string, call: MergeCall): Promise<MergeRun> {
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
  const outcome = await ctx.tenants.branches.merge({ databaseId, namespaceId }, merge);
  const rowsWritten = dryRun ? 0 : outcome.report.rowsWritten;
  ctx.bill.figures = { rowsRead: outcome.rowsRead, rowsWritten };
  return { outcome, snapshot };
}

/** The report of one that ended well, of a dry run also with conflicts. Errors: those of `mergeError`. */
export async function mergeView(
  ctx: MergeContext,
  input: MergeInput,
  run: MergeRun,
): Promise<BranchMergeView> {
  const { outcome, snapshotTaken } = run.outcome;
  const view = viewOf(input, run);
  if (outcome === "merged") return { ...view, snapshot: snapshotTaken ? run.snapshot : null };
  if (outcome === "conflict" && input.dryRun) return view;
  throw await mergeError(ctx, input, run);
}

/** Why one has failed: `merge_conflict` and `merge_refused` with the report as `data`, or the error of its statement. */
export async function mergeError(ctx: MergeContext, input: MergeInput, run: MergeRun): Promise<AppError> {
  const { outcome, failure, reason } = run.outcome;
  const data = viewOf(input, run);
  if (outcome === "conflict") return new AppError("merge_conflict", { extra: { data } });
  if (failure === null) {
    return new AppError("merge_refused", {
      ...(reason === null ? {} : { message: reason }),
      extra: { data },
    });
  }
  const database = ctx.tenants.open(ctx.target.databaseId, ctx.target.namespaceId);
  return await failureError(database, { failure, verb: "other", target: null, index: null });
}

function viewOf({ ref, mode, dryRun }: MergeInput, { outcome: { report } }: MergeRun): BranchMergeView {
  return { branchRef: ref, mode, dryRun, ...report, snapshot: null };
}
