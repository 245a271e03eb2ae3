// Chooses the child for a database's quick work: the one that has the file open and its statements compiled, while that
// child answers quickly.
import { type ChildSlot, isFree } from "./child_slot.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import { type ChildShares, LONG_FLIGHT_MS } from "./child_shares.ts";

/** What a scheduler has. */
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

  /** The database's own child while it answers quickly, else another one; null: the work has to wait. */
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

  /** Starts one more child once all have been busy for a while, because a short wait is cheaper than a process. */
  #oneMore(nowMs: number): ChildSlot | null {
    const quick = this.pool.slots.some(({ lowered, flight }) =>
      !lowered && (flight === null || nowMs - flight.startedMs < LONG_FLIGHT_MS)
    );
    return quick ? null : this.pool.addChild();
  }
}
