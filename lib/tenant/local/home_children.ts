// Chooses the child for a database's quick work: its home, which has the file open and its statements compiled, or another
// one while the home is busy for long.
import { type ChildSlot, isFree } from "./child_slot.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import { type ChildShares, LONG_FLIGHT_MS } from "./child_shares.ts";

/** The parts of the scheduler that the choice needs. */
export interface ChildPool {
  readonly slots: readonly ChildSlot[];
  readonly shares: ChildShares;
  addChild(): ChildSlot | null;
}

/** Remembers the child of each database. */
export class HomeChildren {
  readonly #homes = new WeakMap<DatabaseLanes, ChildSlot>();

  constructor(private readonly pool: ChildPool) {}

  of(lanes: DatabaseLanes): ChildSlot | undefined {
    return this.#homes.get(lanes);
  }

  /** The database's home while that answers quickly, else another child, which becomes the home; null: the work waits. */
  slotFor(lanes: DatabaseLanes, nowMs: number): ChildSlot | null {
    const { slots, shares } = this.pool;
    const home = this.#homes.get(lanes);
    if (home && !home.leaving && !home.lowered && slots.includes(home)) {
      if (isFree(home)) return home;
      const quick = home.flight === null || nowMs - home.flight.startedMs < LONG_FLIGHT_MS;
      if (quick) return null;
    }
    if (shares.holdsTooMany(lanes.namespaceId, nowMs)) return null;
    const slot = shares.free ?? this.#oneMore(nowMs);
    if (slot) this.#homes.set(lanes, slot);
    return slot;
  }

  /** Starts one more child where every other one has a long flight, because a short wait is cheaper than a process. */
  #oneMore(nowMs: number): ChildSlot | null {
    const quick = this.pool.slots.some(({ lowered, flight }) =>
      !lowered && (flight === null || nowMs - flight.startedMs < LONG_FLIGHT_MS)
    );
    return quick ? null : this.pool.addChild();
  }
}
