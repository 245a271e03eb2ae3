// One merge of a branch as the store makes it, paid for, and how it is told.
import type { Meter } from "../../control/balance/meter.ts";
import type { ReplayScope } from "../../control/replays.ts";
import type { Rules } from "../../control/rules.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { metaOf } from "../../query/answer.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import { failureError } from "../../query/failure_error.ts";
import type { HoldContext } from "../../query/hold_call.ts";
import { priceNanoUsd } from "../../query/prices.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { MergeReport, RowForm } from "../../sql/branch_report.ts";
import type { BranchMerge, MergeOutcome } from "../../tenant/branch_store.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { LogIdentity } from "../../tenant/tenant_store.ts";
import type { BranchContext } from "./branch_context.ts";
import { MergeLog } from "./merge_log.ts";
import { type Bill, priceCall } from "./price_call.ts";

export interface MergeInput extends RowForm {
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
  /** The step of a plan that it is: held, its repetitions wait for the same approval. */
  readonly plan?: ReplayScope | undefined;
}

export interface MergeRun {
  readonly outcome: MergeOutcome<EngineFailure>;
  readonly meta: QueryMeta;
}

export interface MergeAnswer {
  readonly data: BranchMergeView;
  readonly meta: QueryMeta;
}

type MergeCall = MergeInput & { readonly expects: string | null };

export interface PaidMergeContext extends MergeContext {
  readonly bill: Bill;
  readonly log: MergeLog;
}

/** All of it, looks included, is one call of the trunk, in its log too. Errors: those of the balance and of the work. */
export async function payMerge<Value>(
  ctx: MergeContext,
  input: Pick<MergeInput, "ref" | "mode" | "dryRun">,
  work: (ctx: PaidMergeContext) => Promise<Value>,
): Promise<Value> {
  const { namespaceId, databaseId } = ctx.target;
  const log = new MergeLog(ctx, input);
  let bill: Bill = { figures: null };
  try {
    return await priceCall(ctx.meter, { namespaceId, databaseId }, (own) => {
      bill = own;
      return work({ ...ctx, bill, log });
    });
  } catch (error) {
    log.failed(bill, error);
    throw error;
  }
}

/** Billed by the rows read and, of what is no dry run, the rows written: a look before it is part of it. */
export async function runMerge(ctx: PaidMergeContext, branchId: string, call: MergeCall): Promise<MergeRun> {
  const { target: { namespaceId, databaseId }, clock, log: { row: log } } = ctx;
  const { ref, mode, onConflict, dryRun, integersAsStrings, expects } = call;
  const snapshot = autoLabel(clock, "merge", ref);
  const merge: BranchMerge<LogIdentity> = {
    ...{ branchId, mode, onConflict, dryRun, integersAsStrings, expects },
    ...{ snapshot, log, auditId: newId("evt", clock.now()) },
  };
  const outcome = await ctx.tenants.branches.merge({ databaseId, namespaceId }, merge);
  const figures = { rowsRead: outcome.rowsRead, rowsWritten: dryRun ? 0 : outcome.report.rowsWritten };
  ctx.bill.figures = figures;
  const meta = metaOf(figures, { durationMs: outcome.durationMs, rowsReadBasis: "engine" }, {
    ...{ queryLogId: log.id, snapshot: outcome.snapshotTaken ? snapshot : null },
    ...{ statementCount: log.statementCount, prices: priceNanoUsd },
  });
  return { outcome, meta };
}

/** The report of one that ended well, of a dry run also with conflicts. Errors: those of `mergeError`. */
export async function mergeAnswer(
  ctx: MergeContext,
  input: MergeInput,
  run: MergeRun,
): Promise<MergeAnswer> {
  const { outcome: { outcome }, meta } = run;
  if (outcome === "merged" || (outcome === "conflict" && input.dryRun)) {
    return { data: { ...viewOf(input, run), snapshot: meta.snapshot }, meta };
  }
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
