// A merge of a branch on its way through the pipeline. It is one call of the trunk, previews included: paid, and
// logged, once.
import type { Meter } from "../../control/balance/meter.ts";
import type { Rules } from "../../control/rules.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { isoTime, roundMs } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { metaOf } from "../../query/answer.ts";
import { Bill } from "../../query/bill.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import type { HoldContext } from "../../query/hold_call.ts";
import {
  answered,
  goOn,
  passStages,
  type Stages,
  StageTimer,
  START_OVER,
  untilAnswered,
} from "../../query/pipeline.ts";
import { priceNanoUsd } from "../../query/prices.ts";
import { identifyWork, recordEnd } from "../../query/record.ts";
import { type MergeDone, mergeEffectOf, type MergeReport } from "../../sql/service/branch_report.ts";
import type { BranchRecord } from "../../store/records.ts";
import type { LogIdentity, TenantDatabase } from "../../tenant/tenant_store.ts";
import { answerOfStep, type StepContext, stepKeys } from "../plan_step.ts";
import type { BranchContext } from "./branch_context.ts";
import { type MergeAnswer, mergeAnswer, mergeError, type MergeInput, type MergeRun } from "./merge_answer.ts";

/** What merges need of a request. */
export interface MergeContext extends BranchContext, HoldContext, StepContext {
  readonly clock: BranchContext["clock"];
  readonly meter: Meter;
  readonly rules: Rules;
}

/** Given the report of a preview that ended well: null lets the merge go on, and then it does exactly that. */
export type DecideMerge<Stop> = (report: MergeReport) => Promise<Stop | null>;

/** A merge and who decides about it. */
export interface MergeWork<Stop> {
  readonly branch: BranchRecord;
  readonly input: MergeInput;
  /** Null: nobody decides, so that it needs no preview. */
  readonly decider: () => Promise<DecideMerge<Stop> | null>;
}

/** What has become of it; with `stop` nothing was merged. */
export type Merged<Stop, Answer = MergeAnswer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly stop: Stop };

/** A merge on its way through the stages. */
interface MergePass<Stop> extends MergeWork<Stop> {
  readonly ctx: MergeContext;
  readonly trunk: TenantDatabase;
  readonly bill: Bill;
  readonly log: LogIdentity;
  /** Over all tries: a stage that ran twice is named twice. */
  readonly timer: StageTimer;
}

/**
 * Errors: those of the balance, of `mergeError` (told before anybody decides about a merge that can only fail) and of
 * the decision; `database_busy` where what it would do keeps changing.
 */
export async function runMerge<Stop>(ctx: MergeContext, work: MergeWork<Stop>): Promise<Merged<Stop>> {
  const { target, clock } = ctx;
  const { ref, mode, dryRun } = work.input;
  const startedMs = clock.monotonicMs();
  const trunk = ctx.tenants.open(target);
  const bill = new Bill(ctx.meter, target);
  const log = identifyWork(ctx, {
    target,
    operation: "merge",
    what: `${dryRun ? "dry run: " : ""}${mode} of branch ${ref}`,
  });
  const record = (errorKind: string | null) => {
    const durationMs = roundMs(clock.monotonicMs() - startedMs);
    recordEnd(trunk, log, { rowsRead: 0, rowsWritten: 0, ...bill.figures, errorKind, durationMs });
  };
  const timer = new StageTimer(clock);
  try {
    const pass = { ctx, trunk, bill, log, timer, ...work };
    const merged = await bill.during("writes", () => {
      timer.end("reserve");
      return untilAnswered(() => passStages(mergeStages<Stop>(), pass), keepsChanging);
    });
    timer.end("settle");
    if (!merged.ok) {
      record("effect_changed");
      return merged;
    }
    const answer = await mergeAnswer(trunk, work.input, merged.answer);
    if (dryRun) record(null);
    else if (mode === "data" && answer.data.rowsWritten > 0) {
      // It is merged, whether that can be noted or not.
      await ctx.control.branches.noteMerged(work.branch).catch(() => {});
    }
    timer.end("record");
    return { ok: true, answer: { ...answer, timing: timer.header } };
  } catch (error) {
    if (error instanceof AppError && !UNKNOWN_END.has(error.code)) {
      record(error.facts.detail?.kind ?? error.code);
    }
    throw error;
  }
}

/** After these a merge may have been committed, and its row with it. */
const UNKNOWN_END: ReadonlySet<ErrorCode> = new Set(["outcome_unknown", "store_unavailable"]);

function keepsChanging(): AppError {
  return new AppError("database_busy", {
    message: "Try again when nobody writes the branch or its trunk; what the merge would do keeps changing",
  });
}

/** Who decides; then a preview, and what it is decided by (null: none was made); then the merge. */
type MergeStages<Stop> = Stages<
  MergePass<Stop>,
  DecideMerge<Stop> | null,
  string | null,
  Merged<Stop, MergeRun>
>;

function mergeStages<Stop>(): MergeStages<Stop> {
  return {
    check: async ({ decider, timer }) => {
      const decide = await decider();
      timer.end("rules");
      return goOn(decide);
    },
    admit: async (pass, decide) => {
      if (decide === null) return goOn(null);
      const preview = await mergeInStore(pass, { dryRun: true, expects: null });
      if (preview.outcome.outcome !== "merged") throw await mergeError(pass.trunk, pass.input, preview);
      pass.timer.end("preview");
      const { report } = preview.outcome;
      const stop = await decide(report);
      pass.timer.end("decide");
      return stop === null ? goOn(mergeEffectOf(report)) : answered({ ok: false, stop });
    },
    perform: async (pass, expects) => {
      const answer = await mergeInStore(pass, { dryRun: pass.input.dryRun, expects });
      pass.timer.end("execute");
      return answer.outcome.outcome === "changed" ? START_OVER : answered({ ok: true, answer });
    },
  };
}

/** Billed by the rows read and, of what is no dry run, the rows written. */
async function mergeInStore(
  { ctx, branch, input, bill, log }: MergePass<unknown>,
  { dryRun, expects }: { readonly dryRun: boolean; readonly expects: string | null },
): Promise<MergeRun> {
  const { target, clock } = ctx;
  const { ref, mode, onConflict, rowForm } = input;
  const snapshot = autoLabel(clock, "merge", ref);
  const auditId = newId("evt", clock.now());
  const place: MergePlace = { snapshot, queryLogId: log.id };
  const replay = dryRun ? undefined : stepKeys(ctx, JSON.stringify(place));
  const merge = {
    branchId: branch.id,
    mode,
    onConflict,
    rowForm,
    dryRun,
    expects,
    snapshot,
    log,
    auditId,
    replay,
  };
  const outcome = await ctx.tenants.branches.merge(target, merge);
  const figures = { rowsRead: outcome.rowsRead, rowsWritten: dryRun ? 0 : outcome.report.rowsWritten };
  bill.figures = figures;
  const told = dryRun && mode === "data"
    ? { ...outcome, report: withBefore(outcome.report, branch) }
    : outcome;
  return { outcome: told, meta: mergeMeta(figures, outcome, place) };
}

function withBefore(report: MergeReport, { mergedAt = 0, copiedAt }: BranchRecord): MergeReport {
  return mergedAt > copiedAt ? { ...report, mergedBefore: isoTime(mergedAt) } : report;
}

/** The label of the snapshot before a merge, and the id of its row in the query log. */
interface MergePlace {
  readonly snapshot: string;
  readonly queryLogId: string;
}

function mergeMeta(
  figures: Bill["figures"] & object,
  { durationMs, snapshotTaken }: Pick<MergeRun["outcome"], "durationMs" | "snapshotTaken">,
  { snapshot, queryLogId }: MergePlace,
): MergeRun["meta"] {
  return metaOf(figures, { durationMs, rowsReadBasis: "engine" }, {
    queryLogId,
    snapshot: snapshotTaken ? snapshot : null,
    statementCount: 1,
    prices: priceNanoUsd,
  });
}

/** What the same step of a plan, or the same redemption, has merged; null: nothing. Errors: those of `answerOfStep`. */
export async function mergeOfStep(ctx: MergeContext, input: MergeInput): Promise<MergeAnswer | null> {
  if (input.dryRun) return null;
  const trunk = ctx.tenants.open(ctx.target);
  const earlier = await answerOfStep(ctx, trunk);
  if (earlier === null) return null;
  const { context, results: [result], durationMs } = earlier;
  const { report, snapshotTaken }: MergeDone = JSON.parse(result?.json ?? "");
  const { rowsRead = 0, rowsWritten = 0 } = result ?? {};
  const meta = mergeMeta({ rowsRead, rowsWritten }, { durationMs, snapshotTaken }, JSON.parse(context));
  const ended = {
    outcome: "merged",
    reason: null,
    failure: null,
    report,
    snapshotTaken,
    rowsRead,
    durationMs,
  } as const;
  return { ...await mergeAnswer(trunk, input, { outcome: ended, meta }), timing: "", replayed: true };
}
