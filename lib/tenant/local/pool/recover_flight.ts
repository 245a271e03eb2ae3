// Recovers the work of a child that has ended: the call whose statement ran is answered, everything else runs again, and
// nothing that may have been committed runs twice.
import { firstRuns, runsOf } from "../../../sql/words/param_sets.ts";
import { AppError } from "../../../core/errors.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";
import type { ChildRemains } from "./engine_child.ts";
import type { ChildSlot, LaneFlight } from "./child_slot.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { CallJob, TaskJob, TaskLane } from "../lanes/jobs.ts";
import { endedAfter, type FailedOutcome, whatStays } from "../../what_stays.ts";
import { textLength, unfinished } from "../frames/wire.ts";
import { abandonCall, failCall, settleGroup } from "./settle_group.ts";

/** The number of children that may end during one piece of work before it is given up. */
const MAX_CRASHES = 2;
/** The same of those that somebody else has ended: whoever ends all that there are also ends those that have not begun. */
const MAX_ENDED = 16;

/** Puts the work of a flight back into its lanes, or answers it. The flight has already left its lanes. */
export function recoverFlight(flight: LaneFlight, remains: ChildRemains): void {
  const { work, lanes } = flight;
  if (work.kind === "task") return recoverTask(flight, work, remains);
  if (flight.answered !== null) return askWhatCommitted(flight, flight.answered, work.jobs, remains);
  lanes.log.putBack(work.logRows);
  const again: CallJob[] = [];
  for (const [index, job] of work.jobs.entries()) {
    if (job.takenBack) continue;
    const left = leftOf(flight, job, index, remains);
    if (left) again.push(left);
  }
  lanes.putBack(again, work.kind);
}

/** Puts the work back that was sent behind a child's last flight. */
export function returnBehind({ behind }: ChildSlot, waiting: Set<DatabaseLanes>): void {
  for (const flight of behind.splice(0)) {
    flight.lanes.flights.delete(flight);
    returnFlight(flight);
    waiting.add(flight.lanes);
  }
}

/** Puts the work of a flight whose child has received none of it back into its lanes. */
export function returnFlight({ work, lanes }: LaneFlight): void {
  if (work.kind === "task") return lanes.putBackTask(work.job, work.lane);
  lanes.log.putBack(work.logRows);
  lanes.putBack(work.jobs.filter((job) => !job.takenBack), work.kind);
}

/** The call to run again; null: it is answered. `index`: its position in the frame. */
function leftOf(
  flight: LaneFlight,
  job: CallJob,
  index: number,
  { progress, byWork }: ChildRemains,
): CallJob | null {
  if (progress?.call !== index) return job;
  if (flight.killed === "busy") return job;
  if (flight.killed === null && ++job.crashes < MAX_CRASHES) return job;
  if (flight.killed === "gone" || (flight.killed === null && !byWork)) {
    abandonCall(job);
    return null;
  }
  // The position of a set may be that of an earlier call, where this one has just begun.
  const at = Math.min(progress.statement, runsOf(job.call) - 1);
  const ending = unfinished(endingOf(flight, job), at, runningMs(flight));
  const before = beforeEnding(flight, job, ending);
  if (before === null) failCall(flight.lanes, job, ending);
  return before;
}

function endingOf({ killed }: LaneFlight, { call }: CallJob): "timeout" | "result_too_large" | "too_big" {
  if (killed === "timeout") return "timeout";
  return killed === "memory" && call.level === "read" ? "result_too_large" : "too_big";
}

/** The call with only its statements before the failure, to run again; null: nothing of the call is to stay. */
function beforeEnding(flight: LaneFlight, job: CallJob, ending: FailedOutcome): CallJob | null {
  const call = whatStays(job.call, ending);
  if (call === null) return null;
  return {
    ...job,
    call,
    wire: {
      ...firstRuns(job.wire, ending.failedIndex),
      failsWith: ending.failure.kind,
      stoppedMs: ending.durationMs,
    },
    resolve: (outcome) => job.resolve(endedAfter(outcome, ending)),
    queuedMs: Math.max(job.queuedMs, flight.killedMs),
    crashes: 0,
  };
}

/** Milliseconds since the watchdog last saw the running statement begin. */
function runningMs(flight: LaneFlight): number {
  return Math.max(0, Math.round(flight.killedMs - flight.seen.sinceMs));
}

function recoverTask(
  flight: LaneFlight,
  { job, lane }: { readonly job: TaskJob; readonly lane: TaskLane },
  { byWork }: ChildRemains,
): void {
  job.crashes++;
  const most = flight.killed === null && !byWork ? MAX_ENDED : MAX_CRASHES;
  const runsAgain = job.crashes < most && isRepeatable(job.request.op);
  // Ended so that others get a turn, or by itself: nobody's statement is to blame.
  if (runsAgain && (flight.killed === null || flight.killed === "busy")) {
    flight.lanes.putBackTask(job, lane);
  } else if (flight.killed === "busy") job.reject(new AppError("database_busy"));
  else if (flight.killed !== null && job.request.op === "inspect") {
    // The caller's statements ended the child, not the store.
    const { failure } = unfinished(flight.killed === "timeout" ? "timeout" : "too_big", 0, 0);
    job.resolve({ reply: { t: "failed", f: failure }, text: "" });
  } else job.reject(new AppError("store_unavailable"));
}

/** Requests that may be complete and must not run twice. */
function isRepeatable(op: TaskJob["request"]["op"]): boolean {
  return !["create", "internal", "restore", "merge"].includes(op);
}

/**
 * The child ended after it had run the group and before it reported the commit. Every call wrote a log row in its
 * transaction, so the database shows which calls were committed. Those calls, and those whose commit was refused, get
 * the outcome that is held; the others run again. Nobody writes in between, because this query goes to the front of the
 * write lane.
 */
function askWhatCommitted(
  flight: LaneFlight,
  answered: ReplyFrame,
  jobs: readonly CallJob[],
  remains: ChildRemains,
): void {
  const { lanes, work } = flight;
  if (work.kind === "task") return;
  const ids = jobs.flatMap((job) => job.call.log?.id ?? []);
  lanes.putBackTask({
    request: { op: "has_log", db: lanes.databaseId, ids },
    resolve: ({ reply }) => {
      const committed = new Set(reply.t === "ids" ? reply.ids : []);
      if (committed.size === 0) lanes.log.putBack(work.logRows);
      else lanes.log.settle(work.logRows);
      const again = settleCommitted(flight, answered, committed, remains);
      lanes.putBack(again, "write");
    },
    reject: () => {
      lanes.log.settle(work.logRows);
      for (const job of jobs) job.reject(new AppError("outcome_unknown"));
    },
    queuedMs: flight.startedMs,
    crashes: 0,
  }, "write");
}

/** Answers the calls that were committed or refused; returns those to run again. */
function settleCommitted(
  flight: LaneFlight,
  answered: ReplyFrame,
  committed: ReadonlySet<string>,
  remains: ChildRemains,
): CallJob[] {
  const { lanes, work } = flight;
  if (work.kind === "task" || answered.reply.t !== "outcomes") return [];
  const again: CallJob[] = [];
  let start = 0;
  for (const [index, job] of work.jobs.entries()) {
    const outcome = answered.reply.o[index];
    const length = outcome ? textLength(outcome) : 0;
    const refused = outcome?.k === "failed" && outcome.unlogged === true;
    if (outcome && outcome.k !== "stale" && (refused || committed.has(job.call.log?.id ?? ""))) {
      settleGroup(lanes, { kind: "write", jobs: [job], logRows: [] }, {
        reply: { t: "outcomes", o: [outcome] },
        text: answered.text.slice(start, start + length),
      });
    } else {
      const left = leftOf(flight, job, index, remains);
      if (left) again.push(left);
    }
    start += length;
  }
  return again;
}
