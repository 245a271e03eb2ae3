// The careful way to run one call: a request for each statement, so that each has its own deadline and its result is
// judged before the next one runs. For calls that the quick way could not finish; nothing of them was kept.
import {
  CallRunner,
  failedOutcome,
  invalidText,
  isUndone,
  keptRun,
  outcomeOf,
  type StepsAround,
  timedOut,
} from "./call_result.ts";
import { textBefore, textBehind } from "./count_rows.ts";
import { brokenReference, DeferredReferences, judgesEach } from "./deferred_references.ts";
import { type Group, type GroupEnd, recordGroup, undo } from "./commit_group.ts";
import { Stopped } from "./hrana/deadline.ts";
import {
  type BatchAnswer,
  type HranaStep,
  ifOk,
  losesInfinity,
  outsideTransaction,
  type StepResult,
} from "./hrana/hrana.ts";
import { rowsAt } from "./remote_context.ts";
import { RemoteFootprint } from "./remote_footprint.ts";
import type { SendSteps } from "./remote_notes.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import { hranaValue, integerOf } from "./hrana/remote_values.ts";
import { stepFailure } from "./hrana/step_failure.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { TenantStatement } from "../tenant_store.ts";
import { errorAt, groupSteps, TOTAL } from "./write_steps.ts";
import { foundReplay } from "./replay_statements.ts";
import { withStatementDeadline } from "./statement_deadline.ts";

/** `group` holds one call. Throws `RemoteFailure`, and `Stopped` when nobody waits; nothing was kept then. */
export async function commitStepByStep(group: Group): Promise<GroupEnd> {
  /** Names the stream as long as no request is under way; its transaction is given up with the call. */
  let open: string | null = null;
  const request: Request = async (steps, baton, binary = false) => {
    const bounds = { timeoutMs: group.timeoutMs, waiting: group.signals };
    const answer = await withStatementDeadline(group.tenant, bounds, (signal) => {
      open = null;
      return group.tenant.send("write", { steps, baton, close: false }, { signal, binary });
    });
    open = answer.baton;
    return answer;
  };
  try {
    return await commitBy(request, group);
  } catch (error) {
    await undo(group, { baton: open, steps: [] });
    throw error;
  }
}

async function commitBy(request: Request, group: Group): Promise<GroupEnd> {
  const [gated] = group.calls;
  if (!gated) throw new TypeError("a group without a call");
  const { call, gate } = gated;
  const plan = groupSteps([{ call, gate: { ...gate, sendable: 0 } }], group.schemaGate);
  const answer = await request(plan.steps, null);
  const begun = errorAt(answer.steps, plan.begin);
  if (begun) return { k: "refused", failure: stepFailure(begun) };
  if (errorAt(answer.steps, plan.guard)) {
    void undo(group, answer);
    return { k: "stale", engineVersion: integerOf(rowsAt(answer.steps, plan.version)[0]?.[0]) };
  }
  const replayAt = plan.calls[0]?.replay ?? null;
  const kept = call.replay && replayAt !== null
    ? foundReplay(call.replay, answer.steps[replayAt] ?? null)
    : null;
  if (kept) {
    void undo(group, answer);
    return { k: "committed", ends: [{ k: "replay", found: kept }] };
  }
  let { baton } = answer;
  const ask: SendSteps = async (statements) => {
    const looked = await request(statements.map((stmt) => ({ stmt })), baton);
    baton = looked.baton;
    return looked.steps;
  };
  const deferred = judgesEach(call, group.schemaGate)
    ? new DeferredReferences(call, (steps) => ask(steps.map(({ stmt }) => stmt)))
    : null;
  await deferred?.raised();
  const watch = call.footprint ? await RemoteFootprint.open(ask, call.footprint) : null;
  const runner = new CallRunner(call, integerOf(rowsAt(answer.steps, plan.guard)[0]?.[0]));
  let before: readonly string[] = [];
  for (const [at, statement] of call.statements.slice(0, gate.sendable).entries()) {
    try {
      await watch?.begin(statement.level, statement.schemaRows?.rows ?? null);
      const ran = await runStatement(request, statement, [...before, "SAVEPOINT statement"], baton);
      baton = ran.baton;
      // What it has written does not count any more.
      const [step, total, around] = ran.steps;
      const notes = step?.ok ? await watch?.end() ?? 0 : 0;
      if (step?.ok && statement.level !== "read" && await deferred?.raised()) {
        watch?.undone(notes);
        runner.add(brokenReference, null);
      } else {
        const reads = group.ownReads?.[at];
        runner.add(step, total, { ...around, notes, ...(reads === undefined ? {} : { ownReads: reads }) });
      }
    } catch (error) {
      const failure = statementFailure(error);
      if (failure === null) throw error;
      return {
        k: "stopped",
        outcome: failedOutcome(failure, at, failure === timedOut ? group.timeoutMs : 0),
      };
    }
    before = runner.ended ? ["ROLLBACK TO statement", "RELEASE statement"] : ["RELEASE statement"];
    if (runner.ended) break;
  }
  const result = runner.finish(gate, watch === null || await watch.isExpected());
  const ended = runner.ended
    ? await request([{ stmt: { sql: "SELECT 1" }, condition: outsideTransaction }], baton)
    : null;
  if (ended?.steps[0]?.ok) {
    void undo(group, ended);
    return { k: "stopped", outcome: outcomeOf({ ...result, results: [] }) };
  }
  baton = ended?.baton ?? baton;
  const nothingKept = isUndone(result, call);
  const undoing = nothingKept ? ["ROLLBACK TO call"] : watch?.ending ?? [];
  const end = [...before, ...undoing, "RELEASE call"];
  return await recordGroup(group, { baton, before: end }, [
    { k: "kept", run: keptRun(result, nothingKept), nothingKept },
  ]);
}

type Request = (
  steps: readonly HranaStep[],
  baton: string | null,
  binary?: boolean,
) => Promise<BatchAnswer>;

/** The statement behind its savepoint, which stays open; again in the binary form where JSON would not do. */
async function runStatement(
  request: Request,
  statement: TenantStatement,
  before: readonly string[],
  baton: string | null,
): Promise<{ baton: string | null; steps: readonly [StepResult, StepResult, StepsAround] }> {
  const head = texts([...before, ...optional(textBefore(statement)), TOTAL]);
  const first = await request([...head, ...ownSteps(statement, head.length)], baton);
  const [counted = null] = first.steps.slice(before.length, head.length - 1);
  const ran = readOwn(first.steps.slice(head.length), counted, statement);
  if (!losesInfinity([ran[0]])) {
    const base = first.steps[head.length - 1] ?? null;
    return { baton: first.baton, steps: [ran[0], ran[1], { ...ran[2], base }] };
  }
  const undone = texts(["ROLLBACK TO statement", TOTAL]);
  const second = await request([...undone, ...ownSteps(statement, undone.length)], first.baton, true);
  const [step, total, around] = readOwn(second.steps.slice(undone.length), counted, statement);
  return { baton: second.baton, steps: [step, total, { ...around, base: second.steps[1] ?? null }] };
}

function optional(text: string | null): string[] {
  return text === null ? [] : [text];
}

function texts(all: readonly string[]): HranaStep[] {
  return all.map((sql) => ({ stmt: { sql } }));
}

/** The statement, the counts behind it and, where it has run, what follows it. `at`: its place in the request. */
function ownSteps(statement: TenantStatement, at: number): HranaStep[] {
  const { sql, params, after = [] } = statement;
  return [
    { stmt: { sql, args: params.map(hranaValue) } },
    ...texts([TOTAL, ...optional(textBehind(statement))]),
    ...after.map((one) => ({
      stmt: { sql: one.sql, args: one.params.map(hranaValue) },
      condition: ifOk(at),
    })),
    ...(after.length === 0 ? [] : texts([TOTAL])),
  ];
}

function readOwn(
  steps: readonly StepResult[],
  counted: StepResult,
  statement: TenantStatement,
): readonly [StepResult, StepResult, StepsAround] {
  const [step = null, total = null, recounted = null] = steps;
  const counts = optional(textBehind(statement)).length;
  const then = steps.length > 2 + counts ? steps.at(-1) ?? null : null;
  return [step, total, { counts: [counted, counts > 0 ? recounted : null], then }];
}

/** What a failed request says about the statement that it was for; null: nothing. */
export function statementFailure(error: unknown): EngineFailure | null {
  if (error instanceof Stopped) return error.why === "timeout" ? timedOut : null;
  if (!(error instanceof RemoteFailure)) return null;
  if (error.reason === "invalid_text") return invalidText;
  return error.reason === "unreadable"
    ? stepFailure({ message: error.message, code: error.more.code ?? "" })
    : null;
}
