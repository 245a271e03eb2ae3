// The pipeline that every call of SQL statements passes, from every surface: its stages in their order.
import { AppError } from "../core/errors.ts";
import { InTurn } from "../core/in_turn.ts";
import { applyRules, findRules, stopOutright } from "./apply_rules.ts";
import { authorise } from "./authorise.ts";
import { Bill } from "./bill.ts";
import { chooseSnapshot } from "./choose_snapshot.ts";
import { understand } from "./classify.ts";
import { classifyCall } from "./classify_call.ts";
import { classifySets } from "./classify_sets.ts";
import { CallerWatch } from "./caller_watch.ts";
import { abandonedError, conclude, refuseMisunderstood } from "./conclude.ts";
import { execute, judge } from "./execute.ts";
import { isOutdated } from "./is_outdated.ts";
import type { RuleMatch } from "./match_rules.ts";
import {
  answered,
  goOn,
  MAX_TRIES,
  passStages,
  type Said,
  type Soon,
  type Stages,
  StageTimer,
  untilAnswered,
} from "./pipeline.ts";
import { noteLost } from "./note_lost.ts";
import { plainCall } from "./plain_call.ts";
import { preview } from "./preview.ts";
import { putAside, refuseReferred } from "./put_aside.ts";
import type {
  QueryAnswer,
  QueryCall,
  QueryContext,
  QueryStatement,
  StatementDatabase,
  UnderstoodCall,
} from "./query_call.ts";
import { identifyStatements, recordRefusal, recordTurnedAway } from "./record.ts";
import { withReplay } from "./replay.ts";
import type { StatementPass, StatementStages } from "./statement_stages.ts";
import { workOf } from "./store_call.ts";

/**
 * The calls of each database that have started over `MAX_TRIES` times. Of many that change the schema at once, each lets all
 * the others start over: so many tries as there are calls, unless they go one after another.
 */
const lastTries = new InTurn();

/**
 * Runs a call; a repetition under the same key gets the first answer. Errors: every code of the stages; an SQL
 * failure carries `errorDetail`, in a batch also `failedIndex` and the results that stay.
 */
export function run(ctx: QueryContext, call: QueryCall): Promise<QueryAnswer> {
  const opened = openedFor(ctx, call, ctx.tenants.open(call.target));
  return untilPassed(opened, () => passOnce(ctx, opened, stagesOf(call), withTiming));
}

/**
 * Runs a call in a transaction that is open. It waits for no other call, which may be waiting for the transaction. Errors:
 * those of `run`.
 */
export function runIn(
  ctx: QueryContext,
  call: QueryCall,
  transaction: StatementDatabase,
): Promise<QueryAnswer> {
  const opened = openedFor(ctx, call, transaction);
  return untilAnswered(() => passOnce(ctx, opened, stagesOf(call), withTiming), () => busy(opened));
}

/**
 * Decides about a call and runs nothing of it: its statements then run in several calls. Errors: those of the stages up to
 * the decision.
 */
export async function decide(ctx: QueryContext, call: QueryCall): Promise<void> {
  const opened = openedFor(ctx, call, ctx.tenants.open(call.target));
  await untilPassed(opened, () => passOnce(ctx, opened, decidingStages, (nothing) => nothing));
}

function untilPassed<Answer>(opened: Opened, pass: () => Promise<Said<never, Answer>>): Promise<Answer> {
  const { databaseId } = opened.call.target;
  let tries = 0;
  return untilAnswered(
    () => ++tries > MAX_TRIES ? lastTries.run(databaseId, pass) : pass(),
    () => busy(opened),
    2 * MAX_TRIES,
  );
}

type Opened = Pick<UnderstoodCall, "call" | "database" | "log">;

function openedFor(ctx: QueryContext, call: QueryCall, database: StatementDatabase): Opened {
  return { call, database, log: identifyStatements(ctx.clock, call) };
}

function busy({ database, log }: Opened): AppError {
  recordRefusal(database, log, "database_busy");
  return new AppError("database_busy", { message: "Try again shortly; the database keeps changing" });
}

/** Passes all stages once, which read the schema anew. `told`: an answer with the value of its `Server-Timing` header. */
async function passOnce<Answer>(
  ctx: QueryContext,
  opened: Opened,
  stages: Stages<StatementPass, readonly RuleMatch[], number | null, Answer>,
  told: (answer: Answer, timing: string) => Answer,
): Promise<Said<never, Answer>> {
  const { call, database } = opened;
  const timer = new StageTimer(ctx.clock);
  const classifying = timer.endWith("classify", classifyCall(ctx, call, database));
  const each = classifying instanceof Promise ? await classifying : classifying;
  const classified = call.paramSets === null ? each : classifySets(each, call.paramSets);
  const bill = new Bill(ctx.meter, call.target, call);
  try {
    const understood = understand(opened, classified);
    const said = await passStages(stages, { ctx, understood, timer, bill });
    return said.say === "answer" ? answered(told(said.answer, timer.header)) : said;
  } finally {
    bill.release();
  }
}

const stages: StatementStages = { check, admit, perform, isOutdated, turnedAway };
const replayedStages = withReplay(stages);

function stagesOf({ replay }: QueryCall): StatementStages {
  return replay === null ? stages : replayedStages;
}

const decidingStages = {
  ...stages,
  perform: async ({ understood, bill }: StatementPass) => {
    if (!understood.canRun) throw await refuseMisunderstood(understood, bill);
    return answered(null);
  },
};

function check(pass: StatementPass): Soon<Said<readonly RuleMatch[], never>> {
  const { ctx, understood, timer } = pass;
  const { call: { migration }, schemaVersion } = understood;
  if (migration && (migration.approvedVersion ?? schemaVersion) !== schemaVersion) {
    throw new AppError("effect_changed");
  }
  const aside = authorise(understood) ? putAside(understood) : null;
  const referred = aside === null
    ? undefined
    : refuseReferred(aside, (statement) => readOwn(pass, statement));
  timer.pass("authorise");
  const rules = () => findRules(ctx, understood);
  const matches = timer.endWith("rules", referred ? referred.then(rules) : rules());
  return matches instanceof Promise ? matches.then(goOn) : goOn(matches);
}

/** The result of a read of the service's own about the call's database, as JSON text. */
async function readOwn({ ctx, understood }: StatementPass, statement: QueryStatement): Promise<string> {
  const { target, tokenId } = understood.call;
  const read = plainCall({ target, tokenId, operation: "service", statements: [statement] });
  // It waits in no line, where the call about which it asks may be the first.
  const { results: [result] } = await runIn(ctx, read, understood.database);
  if (!result) throw new TypeError("a statement without a result");
  return result.json;
}

function admit(pass: StatementPass, matches: readonly RuleMatch[]): Soon<Said<number | null, never>> {
  const { understood, timer, bill } = pass;
  stopOutright(understood.call, matches);
  // Reads of the service's own are free.
  const isOwn = understood.call.operation === "service";
  const leave = isOwn ? undefined : bill.reserve(understood.writes ? "writes" : "reads");
  const reserving = timer.endWith("reserve", leave);
  if (matches.length > 0) return decideByRules(pass, matches, reserving);
  return reserving ? reserving.then(() => goOn(null)) : goOn(null);
}

function turnedAway(pass: StatementPass, error: unknown): void {
  if (pass.isAbandoned) return;
  const { ctx, understood } = pass;
  if (understood.call.operation !== "service") ctx.counts.note(understood.writes, "refused");
  recordTurnedAway(pass, error);
}

async function decideByRules(
  pass: StatementPass,
  matches: readonly RuleMatch[],
  reserving: Soon<void>,
): Promise<Said<number | null, never>> {
  const { ctx, understood, timer, bill } = pass;
  await reserving;
  const previewed = await whileAwaited(pass, (signal) => preview(ctx, understood, { matches, signal }));
  if (previewed.say !== "go on") return previewed;
  timer.end("preview");
  const verdict = await applyRules(ctx, understood, { matches, preview: previewed.found });
  timer.end("decide");
  if (verdict.passes) return goOn(verdict.maxRows);
  // A call that stops here is paid like a failed call: the request, and the rows that the preview has read.
  pass.stoppedBy = previewed.found.outcome;
  bill.settle(workOf(pass.stoppedBy));
  throw verdict.error;
}

async function perform(pass: StatementPass, maxRows: number | null): Promise<Said<never, QueryAnswer>> {
  const { ctx, understood, timer, bill } = pass;
  const isCounted = understood.call.operation !== "service";
  if (!understood.canRun) {
    if (isCounted) ctx.counts.note(understood.writes, "failed");
    throw await refuseMisunderstood(understood, bill);
  }
  const noting = noteLost(understood, (statement) => readOwn(pass, statement));
  if (noting !== null) await noting;
  const snapshot = chooseSnapshot(ctx, understood);
  timer.pass("snapshot");
  const outcome = await whileAwaited(
    pass,
    (signal) => execute(ctx, understood, { snapshot, maxRows, signal }),
  );
  timer.end("execute");
  const executed = judge(ctx, understood, { outcome, maxRows });
  if (executed.say !== "go on") return executed;
  const work = workOf(executed.found);
  bill.settle(work);
  if (isCounted) ctx.counts.note(understood.writes, executed.found, work);
  timer.pass("settle");
  const concluded = timer.endWith("record", conclude(ctx, understood, { outcome: executed.found, snapshot }));
  return answered(concluded instanceof Promise ? await concluded : concluded);
}

/** Does what the store does for a call. Errors: those of the work, or that of a call that was given up because of its caller. */
async function whileAwaited<Value>(
  pass: StatementPass,
  work: (signal: CallerWatch["signal"]) => Promise<Value>,
): Promise<Value> {
  const caller = new CallerWatch(pass.ctx, pass.understood.call);
  try {
    return await work((afterMs) => caller.signal(afterMs));
  } catch (error) {
    throw abandonedError(pass, caller, error);
  } finally {
    caller.end();
  }
}

/** Copies the answer field by field, because a spread would be a noticeable part of a point read. */
function withTiming(
  { results, meta, replayed, storedForPlan, footprint, rowsRemoved }: QueryAnswer,
  timing: string,
): QueryAnswer {
  return { results, meta, replayed, storedForPlan, footprint, rowsRemoved, timing };
}
