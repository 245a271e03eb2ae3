// The end of a call: its answer or its error, its price and its log row.
import { AppError, failedWith } from "../core/errors.ts";
import { answerContext, answerOf } from "./answer.ts";
import type { Bill } from "./bill.ts";
import type { CallerWatch } from "./caller_watch.ts";
import { misunderstoodError, outcomeError, tooManyError } from "./call_error.ts";
import { affectedRows } from "./held_call.ts";
import type { Soon } from "./pipeline.ts";
import { effectsOf, findFootprint } from "./preview.ts";
import type { QueryAnswer, QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { recordEnd, recordRefusal } from "./record.ts";
import type { StatementPass } from "./statement_stages.ts";
import type { EndedOutcome } from "./store_call.ts";

/** A call that has run, and the label of the snapshot before it. */
export interface Concluded {
  readonly outcome: EndedOutcome;
  readonly snapshot: string | null;
}

/**
 * Answers a call that has run. Errors: those of the statement that failed or could not be understood,
 * `too_many_affected` of a dry run.
 */
export function conclude(
  ctx: QueryContext,
  understood: UnderstoodCall,
  ended: Concluded,
): Soon<QueryAnswer> {
  const { call, misunderstood } = understood;
  const { outcome, snapshot } = ended;
  return outcome.ok && !misunderstood && !call.dryRun
    ? answerOf(outcome, answerContext(understood, snapshot))
    : concludeOthers(ctx, understood, ended);
}

/** Dry runs, and calls that failed. */
async function concludeOthers(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { outcome, snapshot }: Concluded,
): Promise<QueryAnswer> {
  const { call, misunderstood } = understood;
  const context = answerContext(understood, snapshot);
  const tooMany = call.dryRun ? rowsAbove(call, outcome) : null;
  if (tooMany !== null) throw tooManyError(understood, tooMany);
  if (!outcome.ok && call.dryRun && outcome.failure.kind === "timeout") {
    const footprint = await findFootprint(ctx, { understood, outcome });
    return answerOf({ ...outcome, footprint, results: [] }, context);
  }
  if (!outcome.ok) throw await outcomeError(understood, { outcome, snapshot });
  if (misunderstood) throw await misunderstoodError(understood, outcome.results);
  return answerOf(outcome, context);
}

/** The error of a call of which nothing can run. It is paid and logged like a failed call. */
export async function refuseMisunderstood(understood: UnderstoodCall, bill: Bill): Promise<AppError> {
  const { database, log, misunderstood } = understood;
  if (misunderstood === null) throw new TypeError("a call that was understood can run");
  recordRefusal(database, log, misunderstood.failure.kind);
  bill.settle({ rowsRead: 0, rowsWritten: 0 });
  return await misunderstoodError(understood, []);
}

/**
 * The error of a call that the store has not answered. One that was given up because its caller has gone, or was revoked, is
 * paid and logged as a failed call: nobody has work done for nothing by not waiting for the end. What the engine has counted
 * until then is not known.
 */
export function abandonedError(
  pass: StatementPass,
  caller: CallerWatch,
  error: unknown,
): unknown {
  const { ctx, understood, bill, timer } = pass;
  const { call, database, log } = understood;
  // A transaction is taken away with the statement that nobody waits for.
  const isEnded = failedWith(error, "store_unavailable") ||
    (call.inTransaction === true && failedWith(error, "transaction_timeout"));
  if (!isEnded || !caller.signal().aborted) return error;
  if (call.operation !== "service") {
    pass.isAbandoned = true;
    const nothing = { rowsRead: 0, rowsWritten: 0 };
    bill.settle(nothing);
    ctx.counts.note(understood.writes, "failed");
    recordEnd(database, log, { errorKind: "cancelled", ...nothing, durationMs: timer.stageMs });
  }
  return caller.revoked ?? error;
}

/**
 * The rows that a dry run would change, if its caller allows fewer; null otherwise. The failure of an atomic call comes
 * first.
 */
function rowsAbove({ atomic, maxAffected }: QueryCall, outcome: EndedOutcome): number | null {
  if (maxAffected === null || (!outcome.ok && atomic)) return null;
  const rows = affectedRows(effectsOf(outcome)) ?? 0;
  return rows > maxAffected ? rows : null;
}
