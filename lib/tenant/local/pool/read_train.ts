// Quick reads that a child is sent one behind the other, of several databases or two groups of one, so that it does not wait for
// the service between two of them. Each has a frame and a flight of its own, and they are answered in their order.
import { type ChildSlot, type LaneFlight, noteWorked } from "./child_slot.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { CallJob } from "../lanes/jobs.ts";

/** Frames of a train at most: behind it, other work of the child's databases has its turn. */
const MAX_TRAIN = 16;
/** Milliseconds in which a child has worked for one database only. */
const ALONE_MS = 100;

/** Whether one more read may be sent behind the one that runs. */
export function takesMore({ flight, train, toClose, leaving, lowered, child }: ChildSlot): boolean {
  return flight !== null && flight.work.kind === "read" && flight.slow === null && flight.killed === null &&
    train < MAX_TRAIN && toClose.length === 0 && !leaving && !lowered && child.serves;
}

/**
 * How many groups of quick reads of a database may be under way at once. More than one only where it has its home for itself:
 * others would have one more to wait for. `waiting`: databases with work that waits.
 */
export function groupsAtOnce(
  home: ChildSlot | undefined,
  lanes: DatabaseLanes,
  { waiting, nowMs }: { readonly waiting: ReadonlySet<DatabaseLanes>; readonly nowMs: number },
): number {
  const isAlone = home?.lastLanes === lanes && nowMs - home.lastLanesSinceMs >= ALONE_MS &&
    waiting.size <= (waiting.has(lanes) ? 1 : 0);
  return isAlone ? lanes.pace.groups(lanes.reads.length) : 1;
}

/** Adds a flight that is being sent. */
export function joinTrain(slot: ChildSlot, flight: LaneFlight): void {
  slot.train++;
  noteWorked(slot, flight);
  if (slot.lastLanes !== flight.lanes) {
    slot.lastLanes = flight.lanes;
    slot.lastLanesSinceMs = flight.startedMs;
  }
  if (slot.flight === null) slot.flight = flight;
  else {
    flight.startedMs = Infinity;
    slot.behind.push(flight);
  }
}

/** The flight that runs has ended: the next one begins, if there is one. */
export function leaveTrain(slot: ChildSlot, ended: LaneFlight, nowMs: number): void {
  const next = slot.behind.shift() ?? null;
  slot.flight = next;
  if (next === null) {
    slot.train = 0;
    return;
  }
  next.startedMs = next.heard.sinceMs = next.seen.sinceMs = nowMs;
  // The child is being ended, which is not this one's fault.
  if (ended.killed !== null) next.killed = "busy";
}

/** Takes back the reads behind one that lasts, to run in other children. The child still runs them: nobody looks at that. */
export function takeBackBehind({ behind }: Pick<ChildSlot, "behind">, waiting: Set<DatabaseLanes>): void {
  for (const flight of behind) {
    const { work, lanes } = flight;
    const isFirstTime = lanes.flights.delete(flight);
    if (!isFirstTime || work.kind === "task") continue;
    lanes.putBack(work.jobs, "read");
    for (const [index, job] of work.jobs.entries()) work.jobs[index] = standIn(job);
    waiting.add(lanes);
  }
}

const gone = AbortSignal.abort();

/** Stands for a call that was taken back: its outcome is neither answered nor logged. */
export function standIn(job: CallJob): CallJob {
  const nobody = () => {};
  const call = { ...job.call, log: null, signal: () => gone };
  return { ...job, call, resolve: nobody, reject: nobody, takenBack: true };
}
