// Answers the calls of a group from the frame that a child sent.
import { AppError } from "../../../core/errors.ts";
import type { WireOutcome } from "../child/wire_call.ts";
import { logRowOf, type LogValues } from "../../log_columns.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";
import type { CallJob, Flight, TaskJob } from "../lanes/jobs.ts";
import type { FailedOutcome } from "../../what_stays.ts";
import { readOutcome } from "../frames/wire.ts";

type Group = Extract<Flight["work"], { jobs: CallJob[] }>;

/** Resolves every call that ran; returns those that were not started. */
export function settleGroup(lanes: DatabaseLanes, group: Group, frame: ReplyFrame): CallJob[] {
  const { reply } = frame;
  if (reply.t === "failed") {
    for (const job of group.jobs) {
      settle(
        lanes,
        job,
        { k: "failed", r: [], at: 0, f: reply.f, ms: 0, w: [0, 0], unlogged: true },
        frame,
        0,
      );
    }
    lanes.log.putBack(group.logRows);
    return [];
  }
  if (reply.t === "rests") {
    for (const job of group.jobs) if (!job.takenBack) job.rests?.();
    return [];
  }
  if (reply.t !== "outcomes") throw new TypeError(`a group was answered with ${reply.t}`);
  // A group whose transaction failed as a whole has not committed its log rows either.
  if (group.kind === "write" && reply.o.every((outcome) => outcome.k === "failed" && outcome.unlogged)) {
    lanes.log.putBack(group.logRows);
  } else lanes.log.settle(group.logRows);
  let start = 0;
  for (const [index, outcome] of reply.o.entries()) {
    const job = group.jobs[index];
    if (job) start = settle(lanes, job, outcome, frame, start);
  }
  return group.jobs.slice(reply.o.length).filter((job) => !job.takenBack);
}

function settle(
  lanes: DatabaseLanes,
  job: CallJob,
  wire: WireOutcome,
  frame: ReplyFrame,
  start: number,
): number {
  const { outcome, end } = readOutcome(wire, frame, start);
  const loggedByChild = job.wire.log !== undefined && !(wire.k === "failed" && wire.unlogged);
  const row: LogValues | null = loggedByChild ? null : logRowOf(job.call, outcome);
  if (row) lanes.log.add(row);
  if (wire.k === "ok" && wire.l) job.proven?.(wire.l, wire.v);
  job.resolve(outcome);
  return end;
}

/** Answers one call that the engine did not finish, and adds its log row. */
export function failCall(lanes: DatabaseLanes, job: CallJob, outcome: FailedOutcome): void {
  const row = logRowOf(job.call, outcome);
  if (row) lanes.log.add(row);
  job.resolve(outcome);
}

/** Rejects a call of which nothing stays: its caller has gone, or somebody else has ended its children. */
export function abandonCall(job: CallJob): void {
  job.reject(new AppError("store_unavailable"));
}

/** Answers a task. */
export function settleTask(job: TaskJob, frame: ReplyFrame): void {
  const { reply } = frame;
  if (reply.t === "failed") job.reject(taskError(reply.f.kind));
  else job.resolve(frame);
}

/** Makes a task's error from the kind of the child's failure. */
export function taskError(kind: string): AppError {
  if (kind === "corrupt") return new AppError("database_corrupt");
  if (kind === "full") return new AppError("storage_full");
  if (kind === "busy") return new AppError("database_busy");
  return new AppError("store_unavailable");
}
