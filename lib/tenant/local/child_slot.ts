// One engine child in the pool, and what it is doing.
import type { EngineChild } from "./engine_child.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { Flight } from "./jobs.ts";

/** A flight and where its work came from. */
export interface LaneFlight extends Flight {
  readonly lanes: DatabaseLanes;
}

/** One position in the pool of children. */
export interface ChildSlot {
  readonly child: EngineChild;
  /** Of its progress file. */
  readonly number: number;
  flight: LaneFlight | null;
  /** Databases to close in this child before other work, each with what waits for it. */
  readonly toClose: { readonly databaseId: string; readonly closed: () => void }[];
  lastUsedMs: number;
  /** It has worked since the last sweep of unused databases. */
  dirty: boolean;
  /** No new work: it is being ended. */
  leaving: boolean;
  /** Slow work has run there, with a lower priority that nothing raises again: it takes no other work any more. */
  lowered: boolean;
}

/** The slot of a child that has just been started. */
export function newSlot(child: EngineChild, number: number, lastUsedMs: number): ChildSlot {
  return {
    child,
    number,
    flight: null,
    toClose: [],
    lastUsedMs,
    dirty: false,
    leaving: false,
    lowered: false,
  };
}

/** Nothing is on its way there: a reply is known by being the next one, also that to a `close`. */
export function isFree(slot: ChildSlot): boolean {
  return slot.flight === null && slot.toClose.length === 0 && !slot.leaving;
}
