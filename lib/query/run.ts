// The one way in which SQL runs, whatever surface it comes from: the stages of a call of statements, in their order.
import { AppError } from "../core/errors.ts";
import { applyRules, denyOutright, findRules } from "./apply_rules.ts";
import { authorise } from "./authorise.ts";
import { Bill } from "./bill.ts";
import { chooseSnapshot } from "./choose_snapshot.ts";
import { classify, understand } from "./classify.ts";
import { conclude, refuseMisunderstood } from "./conclude.ts";
import { execute } from "./execute.ts";
import type { RuleMatch } from "./match_rules.ts";
import { answered, goOn, passStages, type Said, untilAnswered } from "./pipeline.ts";
import { preview } from "./preview.ts";
import type { QueryAnswer, QueryCall, QueryContext } from "./query_call.ts";
import { identifyStatements, recordRefusal, recordTurnedAway } from "./record.ts";
import { withReplay } from "./replay.ts";
import { StageTimer } from "./stage_timer.ts";
import type { StatementPass, StatementStages } from "./statement_stages.ts";
import { workOf } from "./store_call.ts";

/**
 * Runs a call; one that ran before under the same key is answered as it was. Errors: every code of the stages; an SQL
 * failure carries `errorDetail`, in a batch also `failedIndex` and the results that stay.
 */
export async function run(ctx: QueryContext, call: QueryCall): Promise<QueryAnswer> {
  const { databaseId, namespaceId } = call.target;
  const database = ctx.tenants.open(databaseId, namespaceId);
  const log = identifyStatements(ctx.clock, call);
  return await untilAnswered(async () => {
    const timer = new StageTimer(ctx.clock);
    const classified = await classify(ctx, databaseId, database, call.statements);
    timer.end("classify");
    const understood = understand({ call, database, log }, classified);
    return await runOnce({ ctx, understood, timer, bill: new Bill(ctx.meter, call.target) });
  }, () => {
    recordRefusal(database, log, "database_busy");
    return new AppError("database_busy", { message: "Try again shortly; the database keeps changing" });
  });
}

async function runOnce(pass: StatementPass): Promise<Said<never, QueryAnswer>> {
  try {
    const said = await passStages(pass.understood.call.replay === null ? stages : replayedStages, pass);
    return said.say === "answer" ? answered(withTiming(said.answer, pass.timer.header)) : said;
  } finally {
    pass.bill.release();
  }
}

const stages: StatementStages = { check, admit, perform, turnedAway: recordTurnedAway };
const replayedStages = withReplay(stages);

async function check({ ctx, understood, timer }: StatementPass): Promise<Said<readonly RuleMatch[], never>> {
  authorise(understood);
  timer.end("authorise");
  return goOn(await findRules(ctx, understood));
}

async function admit(
  { ctx, understood, timer, bill }: StatementPass,
  matches: readonly RuleMatch[],
): Promise<Said<number | null, never>> {
  denyOutright(matches);
  timer.end("rules");
  // Reads that the service makes for itself are free.
  if (understood.call.operation !== "service") await bill.reserve(!understood.writes);
  timer.end("reserve");
  if (matches.length === 0) return goOn(null);
  const previewed = await preview(ctx, understood, matches);
  if (previewed.say !== "go on") return previewed;
  timer.end("preview");
  const verdict = await applyRules(ctx, understood, { matches, preview: previewed.found });
  timer.end("decide");
  if (verdict.passes) return goOn(verdict.maxRows);
  // What stops here is paid like a failed call: the request, and what the preview has read.
  bill.settle(workOf(previewed.found.outcome));
  throw verdict.error;
}

async function perform(
  { ctx, understood, timer, bill }: StatementPass,
  maxRows: number | null,
): Promise<Said<never, QueryAnswer>> {
  if (!understood.canRun) throw await refuseMisunderstood(understood, bill);
  const snapshot = chooseSnapshot(ctx, understood);
  timer.end("snapshot");
  const executed = await execute(ctx, understood, { snapshot, maxRows });
  timer.end("execute");
  if (executed.say !== "go on") return executed;
  bill.settle(workOf(executed.found));
  timer.end("settle");
  const answer = await conclude(ctx, understood, { outcome: executed.found, snapshot });
  timer.end("record");
  return answered(answer);
}

/** Field by field: to spread the answer would be a noticeable part of a point read. */
function withTiming(
  { results, meta, replayed, storedForPlan, footprint }: QueryAnswer,
  timing: string,
): QueryAnswer {
  return { results, meta, replayed, storedForPlan, footprint, timing };
}
