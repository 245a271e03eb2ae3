// Decides what happens to a slow read: the calls sent in the same frame go to another child, and the read itself continues
// while it has a slot for slow work or nobody waits. Also, how long a statement goes on whose caller has gone.
import type { ChildSlot, LaneFlight } from "./child_slot.ts";
import type { ChildReport, Progress } from "./progress_files.ts";
import type { CallJob } from "../lanes/jobs.ts";
import type { Scheduler } from "./scheduler.ts";
import { standIn } from "./read_train.ts";
import { callerOf, type ChildShares, SLOW_READ_CPU_MS, SLOW_READ_MS } from "./child_shares.ts";
import { tokenOf } from "../../read_queue.ts";

/**
 * Milliseconds that a statement may still run when its caller has gone: most end by then. To end the child instead takes as
 * much processor time for another one, and its open files and what it has learned are lost.
 */
const LEFT_MS = 100;
/** Milliseconds for which whoever replaces a database's file waits for another one's statement in a child that may have it open. */
const CLOSE_MS = 1_000;

/** What the decisions need of the scheduler. */
interface Sharing extends Pick<Scheduler, "waiting" | "setApart"> {
  readonly shares: Pick<
    ChildShares,
    "mayTakeSlot" | "mayGoWithoutSlot" | "noteSlowTry" | "isShort" | "turns"
  >;
}

/** Whether to end the flight's child, because somebody waits and no slot for slow work is free. */
export function givesWay(
  scheduler: Sharing,
  flight: LaneFlight,
  report: ChildReport | null,
  nowMs: number,
): boolean {
  const { work, lanes } = flight;
  if (report === null || !isSlow(flight, report, nowMs)) return false;
  if (work.kind === "task") {
    return work.job.request.op === "inspect" && !mayGoOn(scheduler, flight, null, nowMs);
  }
  const job = work.kind === "read" && report.progress ? work.jobs[report.progress.call] : undefined;
  // Of a call that was taken back the caller is unknown here; where it runs now, it is judged.
  if (!job || job.takenBack || !report.progress) return false;
  takeBack(scheduler, flight, work.jobs, report.progress);
  lanes.reads.noteSlow(job, nowMs);
  return !mayGoOn(scheduler, flight, job, nowMs);
}

/**
 * Whether to end the child so that a database is closed in it, whose owner restores it and cannot read it meanwhile. The call
 * that it runs begins again in another child, once: else restores could keep a neighbour's statement from its end.
 */
export function makesWay(
  { toClose }: Pick<ChildSlot, "toClose">,
  { work }: LaneFlight,
  report: ChildReport | null,
  nowMs: number,
): boolean {
  const sinceMs = Math.min(...toClose.map((one) => one.sinceMs));
  if (nowMs - sinceMs < CLOSE_MS || work.kind === "task") return false;
  const job = report?.progress ? work.jobs[report.progress.call] : undefined;
  if (!job || job.takenBack || job.hasMadeWay) return false;
  return job.hasMadeWay = true;
}

/** Whether to end the flight's child because nobody waits for the statement that runs in it (`isLeft`), but for its child. */
export function givesUp(
  { shares }: Pick<Sharing, "shares">,
  flight: LaneFlight,
  isLeft: boolean,
  nowMs: number,
): boolean {
  flight.leftMs = isLeft ? flight.leftMs ?? nowMs : null;
  return flight.leftMs !== null && (nowMs - flight.leftMs >= LEFT_MS || shares.isShort(nowMs));
}

/**
 * A group counts from where a statement of it was first seen, a task from the child's first report, and processor time from
 * that as well: before that the child may be starting, which takes long on a busy machine. To end it would start another.
 */
function isSlow(flight: LaneFlight, { progress, cpuMs, count }: ChildReport, nowMs: number): boolean {
  if (flight.work.kind === "task" ? count === 0 : progress === null) return false;
  flight.begun ??= { atMs: nowMs, cpuMs };
  if (Number.isNaN(flight.begun.cpuMs)) flight.begun = { ...flight.begun, cpuMs };
  return cpuMs - flight.begun.cpuMs >= SLOW_READ_CPU_MS || nowMs - flight.begun.atMs >= SLOW_READ_MS;
}

/**
 * Takes the other calls of a slow read's frame back, to run in another child. Those before it have run here too, but their
 * outcomes would wait for the frame; those after it are not started here, because the frame's time is over.
 */
function takeBack(scheduler: Sharing, { lanes }: LaneFlight, jobs: CallJob[], { call }: Progress): void {
  const others = jobs.filter((job, index) => index !== call && !job.takenBack);
  if (others.length === 0) return;
  for (const job of others) job.again = true;
  for (const [index, job] of jobs.entries()) if (index < call) jobs[index] = standIn(job);
  jobs.length = call + 1;
  lanes.putBack(others, "read");
  scheduler.waiting.add(lanes);
}

/** Whether the slow work may go on: with a slot, or as long as nobody waits for its child. `job`: null for a task. */
function mayGoOn(scheduler: Sharing, flight: LaneFlight, job: CallJob | null, nowMs: number): boolean {
  const { shares } = scheduler;
  const tokenId = job && tokenOf(job);
  const isTry = flight.slow !== null && !flight.slow.hasSlot && !flight.slow.turn;
  const slow = flight.slow ??= { tokenId, hasSlot: false, seen: false };
  if (isTry && !slow.seen) shares.noteSlowTry(flight, nowMs);
  // The child may have started for it, which is not counted.
  if (slow.turn && !slow.seen) slow.turn.sinceMs = slow.turn.countedMs = nowMs;
  slow.hasSlot ||= shares.mayTakeSlot(flight.lanes, tokenId);
  const caller = callerOf(flight.lanes, tokenId);
  if (!slow.hasSlot && !shares.mayGoWithoutSlot(flight, nowMs)) {
    if (job && !slow.turn) shares.turns.add(caller, SLOW_READ_CPU_MS, nowMs);
    return false;
  }
  if (slow.hasSlot) delete slow.turn;
  else if (job && !slow.turn) {
    job.turns = (job.turns ?? 0) + 1;
    slow.turn = shares.turns.begin(caller, nowMs, job.turns);
  }
  slow.seen = true;
  scheduler.setApart(flight);
  return true;
}
