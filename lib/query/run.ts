// The one way in which SQL runs, whatever surface it comes from.
import type { Admission } from "../control/balance/spending_account.ts";
import { AppError } from "../core/errors.ts";
import { answerContext, answerOf, totals } from "./answer.ts";
import { applyRules, effectsOf, type EndedOutcome, findRules } from "./apply_rules.ts";
import { authorise } from "./authorise.ts";
import { misunderstoodError, outcomeError, tooManyError } from "./call_error.ts";
import { type Classified, classify } from "./classify.ts";
import { execute } from "./execute.ts";
import { findFootprint } from "./find_footprint.ts";
import { affectedRows } from "./held_call.ts";
import type { QueryAnswer, QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { identify, recordRefusal } from "./record.ts";
import { claimRead, findEarlier, keepRead, replayedAnswer, replayKeys, writes } from "./replay.ts";
import { refuseIdle } from "./refuse_idle.ts";
import { reserveBalance } from "./reserve_balance.ts";
import { settle } from "./settle.ts";
import { StageTimer } from "./stage_timer.ts";
import { chooseSnapshot } from "./choose_snapshot.ts";

/** Times that a call is tried while the schema, or the rows that a rule has looked at, change under it. */
const MAX_TRIES = 5;

/**
 * Classify, authorise, apply rules, reserve balance, take a snapshot, execute, settle, record; a call that ran before
 * under the same key is answered as it was. Errors: every code of the stages; an SQL failure carries `errorDetail`, in
 * a batch also `failedIndex` and the results that stay.
 */
export async function run(ctx: QueryContext, call: QueryCall): Promise<QueryAnswer> {
  const database = ctx.tenants.open(call.target.databaseId, call.target.namespaceId);
  const log = identify(ctx, call);
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const timer = new StageTimer(ctx.clock);
    const classified = await classify(ctx, call.target.databaseId, database, call.statements);
    const answer = await runOnce(ctx, understand({ call, database, log }, classified), timer);
    if (answer) return withTiming(answer, timer.header);
  }
  recordRefusal(database, log, "database_busy");
  throw new AppError("database_busy", { message: "Try again shortly; the database keeps changing" });
}

function understand(
  { call, database, log }: Pick<UnderstoodCall, "call" | "database" | "log">,
  { schemaVersion, facts, misunderstood }: Classified,
): UnderstoodCall {
  return { call, database, log, schemaVersion, facts, misunderstood };
}

function withTiming(
  { results, meta, replayed, keptForPlan, footprint }: QueryAnswer,
  timing: string,
): QueryAnswer {
  return { results, meta, replayed, keptForPlan, footprint, timing };
}

/** Null when the schema was another one by the time the call ran, or its rows more than a rule had seen. */
async function runOnce(
  ctx: QueryContext,
  understood: UnderstoodCall,
  timer: StageTimer,
): Promise<QueryAnswer | null> {
  const { call, database, facts, log, misunderstood } = understood;
  timer.end("classify");
  const hopeless = misunderstood !== null && (call.atomic || facts.length === 0);
  const earlier = call.replay === null ? null : await findEarlier(ctx, understood, !hopeless);
  if (earlier) return earlier;
  let admission: Admission | null;
  let limit: number | null = null;
  try {
    authorise(call.target.role, facts, call.batch);
    refuseIdle(understood);
    timer.end("authorise");
    // What can only fail does not wait for a person.
    const judged = !call.dryRun && !hopeless && writes(understood);
    const rules = judged ? await findRules(ctx, understood) : [];
    // What has run already is not stopped any more.
    const ran = rules.length > 0 && call.replay !== null ? await findEarlier(ctx, understood, false) : null;
    if (ran) return ran;
    const bound = await applyRules(ctx, understood, rules);
    if (bound === null) return null;
    limit = bound.maxRows;
    timer.end("rules");
    const reserved = reserveBalance(ctx, call, !writes(understood));
    admission = reserved instanceof Promise ? await reserved : reserved;
    timer.end("reserve");
  } catch (error) {
    // A repetition costs nothing: it is answered when there is no money left.
    const found = error instanceof AppError && error.status === 402
      ? await findEarlier(ctx, understood, false)
      : null;
    if (found) return found;
    // A published call that is turned away stands in the log of calls, where equal ones share a row.
    if (error instanceof AppError && call.operation !== "endpoint") recordRefusal(database, log, error.code);
    throw error;
  }
  try {
    if (hopeless) {
      recordRefusal(database, log, misunderstood.failure.kind);
      settle(ctx, call, admission, totals([]));
      throw await misunderstoodError(understood, []);
    }
    return await runReserved(ctx, bounded(understood, limit), admission, { timer, limit });
  } finally {
    if (admission) ctx.meter.release(admission);
  }
}

/** The narrowest of what was approved and what the caller and a rule allow. */
function bounded(understood: UnderstoodCall, maxRows: number | null): UnderstoodCall {
  const { affected, maxAffected } = understood.call;
  if (maxRows === null && maxAffected === null) return understood;
  const max = Math.min(maxRows ?? Infinity, maxAffected ?? Infinity, affected?.max ?? Infinity);
  const again = maxRows === null ? {} : { startsOverAbove: maxRows };
  return {
    ...understood,
    call: { ...understood.call, affected: { min: 0, ...affected, max, ...again } },
  };
}

/** The call may run and there is money for it. */
async function runReserved(
  ctx: QueryContext,
  understood: UnderstoodCall,
  admission: Admission | null,
  { timer, limit }: { readonly timer: StageTimer; readonly limit: number | null },
): Promise<QueryAnswer | null> {
  const { call, log, misunderstood } = understood;
  const claim = call.replay === null ? null : await claimRead(ctx, understood);
  if (claim !== null && "meta" in claim) return claim;
  try {
    const snapshot = chooseSnapshot(ctx, understood);
    const context = answerContext(call, log.id, snapshot);
    const contextText = call.replay === null ? "" : JSON.stringify(context);
    timer.end("snapshot");
    const outcome = await execute(ctx, understood, {
      snapshot,
      failsWith: misunderstood?.failure.kind ?? null,
      replay: call.replay && claim === null ? replayKeys(ctx, call.replay, contextText) : null,
    });
    timer.end("execute");
    if (outcome.ok === "stale") {
      ctx.facts.seen(call.target.databaseId, outcome.schemaVersion);
      return null;
    }
    if (outcome.ok === "replayed" || outcome.ok === "replay_mismatch") {
      return call.replay && replayedAnswer(call.replay, outcome);
    }
    // Rows have become more since the rules were asked, and nothing was kept: they are asked again, at no price.
    if (!outcome.ok && limit !== null && (outcome.failure.affected ?? 0) > limit) return null;
    settle(ctx, call, admission, outcome.ok ? totals(outcome.results) : outcome.work);
    timer.end("settle");
    const tooMany = call.dryRun ? rowsAbove(call, outcome) : null;
    if (tooMany !== null) throw tooManyError(understood, tooMany);
    if (!outcome.ok && call.dryRun && outcome.failure.kind === "timeout") {
      const footprint = await findFootprint(ctx, understood, outcome);
      return answerOf({ ...outcome, footprint, results: [] }, context);
    }
    if (!outcome.ok) throw await outcomeError(understood, outcome);
    if (misunderstood) throw await misunderstoodError(understood, outcome.results);
    const answer = answerOf(outcome, context);
    if (claim) await keepRead(ctx, understood, claim, { answer, context: contextText });
    timer.end("record");
    return call.replay !== null && call.replay.plan !== null && writes(understood)
      ? { ...answer, keptForPlan: true }
      : answer;
  } finally {
    await claim?.release();
  }
}

/** How many rows a call would change, where those are more than its caller allows; a failure of an atomic one comes first. */
function rowsAbove({ atomic, maxAffected }: QueryCall, outcome: EndedOutcome): number | null {
  if (maxAffected === null || (!outcome.ok && atomic)) return null;
  const rows = affectedRows(effectsOf(outcome)) ?? 0;
  return rows > maxAffected ? rows : null;
}
