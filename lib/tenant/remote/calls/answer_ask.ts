// Answers what work on a call asks, by a server: each question is one request, in the transaction that is open.
import { ResultTooLarge } from "../../../engine/result_json.ts";
import {
  type Answer,
  type Ask,
  type CallerStep,
  noStepFigures,
  type OwnStep,
  type Step,
} from "../../calls/work.ts";
import { answerSets } from "./answer_sets.ts";
import { fromHrana, hranaValue, integerOf, isInfinite, ownRows, resultJson } from "../hrana/remote_values.ts";
import { type HranaStep, losesInfinity, type StepResult, type StepRows } from "../hrana/hrana.ts";
import type { SendForm } from "../hrana/hrana_client.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { stepFailure, tooLarge } from "../hrana/step_failure.ts";
import { TOTAL } from "../connection/write_steps.ts";

export type SendSteps = (
  steps: readonly HranaStep[],
  form: SendForm,
) => Promise<readonly StepResult[]>;

const CHANGES = "SELECT changes()";
/** Steps for one statement of the caller's: the count of changes before and after it, and what it has changed itself. */
const CALLER_STEPS = 4;

/** Throws what `send` throws, and `RemoteFailure` where the transaction is gone. */
export async function answerAsk(send: SendSteps, ask: Ask): Promise<readonly Answer[]> {
  const at = ask.steps.findIndex((step) => "statement" in step && step.sets !== undefined);
  const step = ask.steps[at];
  if (step === undefined || !("statement" in step) || step.sets === undefined) {
    return await answerSteps(send, ask);
  }
  const first = await answerSteps(send, { ...ask, steps: ask.steps.slice(0, at) });
  const sets = await answerSets((steps) => send(steps, { binary: true }), step, step.sets);
  return [...first, sets, ...await answerAsk(send, { steps: ask.steps.slice(at + 1) })];
}

async function answerSteps(
  send: SendSteps,
  { before = [], savepoint, steps }: Ask,
): Promise<readonly Answer[]> {
  if (steps.length === 0 && before.length === 0 && savepoint === undefined) return [];
  const asked = steps.flatMap(hranaSteps);
  if (savepoint === undefined) {
    const answers = await send([...texts(before), ...asked], { binary: true });
    return readAnswers(steps, answers.slice(before.length));
  }
  const binary = asked.some(({ stmt }) => stmt.args?.some(isInfinite));
  const head = [...before, `SAVEPOINT ${savepoint}`];
  const answers = (await send([...texts(head), ...asked], { binary })).slice(head.length);
  if (!losesInfinity(answers)) return readAnswers(steps, answers);
  const again = await send([...texts([`ROLLBACK TO ${savepoint}`]), ...asked], { binary: true });
  return readAnswers(steps, again.slice(1));
}

function texts(all: readonly string[]): HranaStep[] {
  return all.map((sql) => ({ stmt: { sql } }));
}

function hranaSteps(step: Step): HranaStep[] {
  if (!("statement" in step)) return [hranaStep(step)];
  return [...texts([TOTAL]), hranaStep(step.statement), ...texts([TOTAL, CHANGES])];
}

function hranaStep({ sql, params = [] }: OwnStep): HranaStep {
  return { stmt: params.length > 0 ? { sql, args: params.map(hranaValue) } : { sql } };
}

function readAnswers(steps: readonly Step[], results: readonly StepResult[]): Answer[] {
  let at = 0;
  return steps.map((step): Answer => {
    const own = results.slice(at, at += "statement" in step ? CALLER_STEPS : 1);
    return "statement" in step ? readCaller(step, own) : readOwn(step, own[0] ?? null);
  });
}

function readOwn({ sql, most = Infinity }: OwnStep, step: StepResult): Answer {
  if (step === null) throw new RemoteFailure("lost_stream");
  if (!step.ok) return { ok: false, failure: stepFailure(step, sql), figures: noStepFigures };
  const rows = step.rows.slice(0, most).map((row) => row.map(fromHrana));
  return { ok: true, rows, json: "", figures: noStepFigures };
}

function readCaller(asked: CallerStep, [base, step, total, own]: readonly StepResult[]): Answer {
  if (!step) throw new RemoteFailure("lost_stream");
  const before = numberIn(base);
  const changes = total?.ok ? numberIn(total) - before : 0;
  if (!step.ok) {
    const failure = stepFailure(step, asked.statement.sql);
    return { ok: false, failure, figures: { ...noStepFigures, changes } };
  }
  const figures = { rowsRead: step.rowsRead, ms: step.ms, changes, ownRows: numberIn(own) };
  return readResult(asked, step, figures);
}

function readResult(
  { statement, bounds, rowForm }: CallerStep,
  step: StepRows,
  figures: Answer["figures"],
): Answer {
  try {
    return { ok: true, rows: [], json: resultJson(ownRows(step, statement), bounds, rowForm), figures };
  } catch (error) {
    if (!(error instanceof ResultTooLarge)) throw error;
    return { ok: false, failure: tooLarge(error), figures, tooLarge: true };
  }
}

function numberIn(step: StepResult | undefined): number {
  return step?.ok ? integerOf(step.rows[0]?.[0]) : 0;
}
