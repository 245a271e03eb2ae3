// One engine child in the pool, and what it is doing.
import type { EngineChild } from "./engine_child.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { Flight } from "../lanes/jobs.ts";

/** A flight and the lanes from which its work came. */
export interface LaneFlight extends Flight {
  readonly lanes: DatabaseLanes;
}

/** A database to close. `heard`: of the child, while it does. */
interface Closing {
  readonly databaseId: string;
  readonly sinceMs: number;
  readonly closed: () => void;
  heard?: LaneFlight["heard"];
}

/** Databases that are known for a child: some 100 bytes each. */
const MAX_WORKED = 20_000;

/** One position in the pool of children. */
export interface ChildSlot {
  readonly child: EngineChild;
  /** The number of the child's progress file. */
  readonly number: number;
  /** What runs. */
  flight: LaneFlight | null;
  /** What was sent behind it, in its order: nothing where nothing runs. */
  readonly behind: LaneFlight[];
  /** Frames sent since the child was last free. */
  train: number;
  /** Databases that the child was sent work for and has not been told to close since; null: too many to say. */
  worked: Set<string> | null;
  /**
   * Databases to close in this child before other work, each with what waits for it, and since when by the monotonic clock: long
   * work ends for it. Infinity: none does.
   */
  readonly toClose: Closing[];
  lastUsedMs: number;
  /** The database that it worked for last, and since when for no other one. */
  lastLanes: DatabaseLanes | null;
  lastLanesSinceMs: number;
  /** Databases that are at home in the child. */
  homes: number;
  /** The child has worked since the last sweep of unused databases. */
  dirty: boolean;
  /** The child is being ended and takes no new work. */
  leaving: boolean;
  /** Slow work has lowered the child's priority for good, so it takes slow work only; not while no other child may start. */
  lowered: boolean;
}

/** Makes the slot of a child that has just been started. */
export function newSlot(child: EngineChild, number: number, lastUsedMs: number): ChildSlot {
  return {
    child,
    number,
    flight: null,
    behind: [],
    train: 0,
    worked: new Set(),
    toClose: [],
    lastUsedMs,
    lastLanes: null,
    lastLanesSinceMs: -Infinity,
    homes: 0,
    dirty: false,
    leaving: false,
    lowered: false,
  };
}

/** Makes a flight that starts now. */
export function newFlight(
  { lanes, work, frame, slow, startedMs }: Pick<
    LaneFlight,
    "lanes" | "work" | "frame" | "slow" | "startedMs"
  >,
): LaneFlight {
  return {
    lanes,
    work,
    frame,
    startedMs,
    answered: null,
    killed: null,
    killedMs: 0,
    leftMs: null,
    begun: null,
    slow,
    heard: { count: -1, sinceMs: startedMs },
    seen: { call: -1, statement: -1, sinceMs: startedMs },
  };
}

/** Notes the databases whose files the child opens for a flight. */
export function noteWorked(slot: ChildSlot, { lanes, work }: LaneFlight): void {
  if (slot.worked === null) return;
  slot.worked.add(lanes.databaseId);
  // The child keeps the file of the branch open as well.
  if (work.kind === "task" && work.job.request.op === "merge") slot.worked.add(work.job.request.branch);
  if (slot.worked.size > MAX_WORKED) slot.worked = null;
}

/** Closes a database in every child that may have it open, between two frames. `nowMs`: by the monotonic clock. */
export async function closeInAll(
  { slots, onBusy }: { readonly slots: readonly ChildSlot[]; onBusy(): void },
  databaseId: string,
  nowMs: number,
): Promise<void> {
  onBusy();
  await Promise.all(
    slots.filter((slot) => mayHaveOpen(slot, databaseId)).map((slot) => closeIn(slot, databaseId, nowMs)),
  );
}

/** A task has other files open than that of its own database. */
function mayHaveOpen({ worked, flight }: ChildSlot, databaseId: string): boolean {
  return worked === null || worked.has(databaseId) || flight?.work.kind === "task";
}

function closeIn(slot: ChildSlot, databaseId: string, sinceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const closed = () => {
      slot.worked?.delete(databaseId);
      resolve();
    };
    const isNext = slot.toClose.push({ databaseId, sinceMs, closed }) === 1;
    if (isNext && slot.flight === null) closeNext(slot);
  });
}

/** Sends the request to close the next database, if there is one. */
export function closeNext({ toClose: [next], child }: ChildSlot): void {
  if (next) child.send({ op: "close", db: next.databaseId });
}

/** Whether the child has no request in flight. Replies carry no id and match requests by their order, `close` included. */
export function isFree(slot: ChildSlot): boolean {
  return slot.flight === null && slot.toClose.length === 0 && !slot.leaving;
}

/** Whether no child has anything to do. */
export function isIdle(
  { slots, waiting }: { readonly slots: readonly ChildSlot[]; readonly waiting: ReadonlySet<unknown> },
): boolean {
  return waiting.size === 0 && slots.every(({ flight }) => flight === null);
}

/** Ends children that nobody has used since `unusedMs`, one stays; what others hold unused is closed. */
export function sweepSlots(
  pool: { readonly slots: readonly ChildSlot[]; endChild(slot: ChildSlot): void },
  unusedMs: number,
): void {
  for (const slot of pool.slots) {
    if (slot.flight !== null || slot.leaving) continue;
    const staying = pool.slots.filter((other) => other !== slot && !other.leaving && !other.lowered);
    if (staying.length > 0 && slot.lastUsedMs < unusedMs) pool.endChild(slot);
    else if (slot.dirty) {
      slot.dirty = false;
      slot.child.send({ op: "sweep" });
    }
  }
}
