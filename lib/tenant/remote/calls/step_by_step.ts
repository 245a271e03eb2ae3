// The careful way to run one call: a request for each statement, so that each has its own deadline and its result is
// checked before the next one runs. For calls that the quick way could not finish; nothing of them was committed.
import {
  type CallRun,
  committedRun,
  endedRun,
  failedOutcome,
  invalidText,
  isUndone,
  outcomeOf,
  timedOut,
} from "../../calls/call_run.ts";
import { CarefulRun } from "../../calls/careful_run.ts";
import { FootprintWatch } from "../../calls/footprint_watch.ts";
import { MigrationWatch } from "../../calls/migration_watch.ts";
import type { Work } from "../../calls/work.ts";
import { answerAsk, type SendSteps } from "./answer_ask.ts";
import { endNotBegun, type Group, type GroupEnd, recordGroup } from "./commit_group.ts";
import { undo } from "./undo.ts";
import { checksEach, watchDeferred } from "./write_call.ts";
import { Stopped } from "../hrana/deadline.ts";
import { type BatchAnswer, type HranaStep, outsideTransaction } from "../hrana/hrana.ts";
import type { SendForm } from "../hrana/hrana_client.ts";
import { RemoteNotes } from "./remote_notes.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import { groupSteps } from "../connection/write_steps.ts";
import { foundReplay } from "../connection/replay_statements.ts";
import { withStatementDeadline } from "../connection/statement_deadline.ts";
import { awaitWork } from "../../../core/run_work.ts";

/** `group` holds one call. Throws `RemoteFailure`, and `Stopped` when nobody waits; nothing was committed then. */
export async function commitStepByStep(group: Group): Promise<GroupEnd> {
  /** The baton of the stream while no request is under way, to undo its transaction where the call fails. */
  let open: string | null = null;
  const request: Request = async (steps, baton, form = {}) => {
    const bounds = { timeoutMs: group.timeoutMs, waiting: group.signals };
    const answer = await withStatementDeadline(group.connection, bounds, (signal) => {
      open = null;
      return group.connection.send("write", { steps, baton, close: false }, { ...form, signal });
    });
    open = answer.baton;
    return answer;
  };
  try {
    return await commitBy(request, group);
  } catch (error) {
    await undo(group.connection, open);
    throw error;
  }
}

async function commitBy(request: Request, group: Group): Promise<GroupEnd> {
  const [gated] = group.calls;
  if (!gated) throw new TypeError("a group without a call");
  const { call, gate } = gated;
  const plan = groupSteps([{ call, gate: { ...gate, sendable: 0 } }], group.schemaGate);
  const answer = await request(plan.steps, null);
  const notBegun = endNotBegun(group, plan, answer);
  if (notBegun !== null) return notBegun;
  const replayAt = plan.calls[0]?.replay ?? null;
  const found = call.replay && replayAt !== null
    ? foundReplay(call.replay, answer.steps[replayAt] ?? null)
    : null;
  // Nothing runs, but the log rows that the group has taken along are to be written.
  if (found) return await recordGroup(group, { baton: answer.baton, before: [] }, [{ k: "replay", found }]);
  let { baton } = answer;
  const send: SendSteps = async (steps, form) => {
    const answered = await request(steps, baton, form);
    baton = answered.baton;
    return answered.steps;
  };
  const asked = <T>(work: Work<T>) => awaitWork(work, (ask) => answerAsk(send, ask));
  const notes = new RemoteNotes();
  const watch = call.footprint ? await asked(FootprintWatch.open(call.footprint, notes)) : null;
  const run = new CarefulRun({
    call,
    watch,
    migration: call.migration ? new MigrationWatch(call.migration, call) : null,
    count: gate.sendable,
    notRun: gate.failure,
    ownReads: group.ownReads ?? null,
    deferred: checksEach(call, group.schemaGate) ? watchDeferred(call, group.schemaGate) : null,
  });
  let ran: CallRun;
  try {
    ran = await asked(run.run());
  } catch (error) {
    const failure = statementFailure(error);
    if (failure === null) throw error;
    const ms = failure === timedOut ? group.timeoutMs : 0;
    return { k: "stopped", outcome: failedOutcome(failure, run.at, ms) };
  }
  if (run.runner.ended) {
    const ended = await request([{ stmt: { sql: "SELECT 1" }, condition: outsideTransaction }], baton);
    if (ended.steps[0]?.ok) {
      void undo(group.connection, ended.baton);
      return { k: "stopped", outcome: outcomeOf({ ...endedRun(ran, call), results: [] }) };
    }
    baton = ended.baton;
  }
  const result = await asked(run.ended(ran));
  const nothingStays = isUndone(result.failure, call);
  if (call.paramSets && ran.tooLarge && !nothingStays) {
    // Sets behind the failed one have run too, in the same request: only those before it are to run once more.
    await undo(group.connection, baton);
    return { k: "stopped", outcome: outcomeOf({ ...result, results: [] }) };
  }
  const undoing = nothingStays ? ["ROLLBACK TO call"] : notes.ending;
  return await recordGroup(group, { baton, before: [...run.closing, ...undoing, "RELEASE call"] }, [
    { k: "ran", run: committedRun(result, nothingStays), nothingStays },
  ]);
}

type Request = (
  steps: readonly HranaStep[],
  baton: string | null,
  form?: SendForm,
) => Promise<BatchAnswer>;

/** What a failed request says about the statement that it was for; null: nothing. */
export function statementFailure(error: unknown): EngineFailure | null {
  if (error instanceof Stopped) return error.why === "timeout" ? timedOut : null;
  if (!(error instanceof RemoteFailure)) return null;
  if (error.reason === "invalid_text") return invalidText;
  return error.reason === "unreadable"
    ? stepFailure({ message: error.message, code: error.more.code ?? "" })
    : null;
}
