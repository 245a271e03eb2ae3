// Chooses the child for a database's quick work: its home, which has the file open and its statements compiled, or another
// one while the home is busy for long.
import { type ChildSlot, isFree } from "./child_slot.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import { type ChildShares, LONG_FLIGHT_MS } from "./child_shares.ts";
import { isLong } from "../lanes/jobs.ts";
import { takesMore } from "./read_train.ts";

/** The parts of the scheduler that the choice needs. */
export interface ChildPool {
  readonly slots: readonly ChildSlot[];
  readonly shares: ChildShares;
  addChild(): ChildSlot | null;
}

/** Bytes that an open file of a database of ordinary size takes in a child: how many are at home in one. */
const FILE_BYTES = 128 * 1024;

/**
 * So many children are started for the room that they have, and share it: more than the processors keep busy would take as
 * much memory for themselves as the files that they could hold open. Others keep few files.
 */
const CHILDREN_FOR_ROOM = navigator.hardwareConcurrency + 1;
const FEW_BYTES = 64 * FILE_BYTES;

/** Bytes of open files that each of the children for room may keep, where all children together may keep `bytes`. */
export function roomBytesOf(bytes: number, maxChildren: number): number {
  const roomy = Math.min(maxChildren, CHILDREN_FOR_ROOM);
  return Math.max(0, Math.floor((bytes - (maxChildren - roomy) * FEW_BYTES) / roomy));
}

/** Remembers the child of each database. */
export class HomeChildren {
  readonly #homes = new Map<DatabaseLanes, ChildSlot>();

  /** `keepBytes`: of open files in each of the children for room. */
  constructor(private readonly pool: ChildPool, private readonly keepBytes: number) {}

  /** The same of any child; they are numbered from 1. */
  keepBytesOf(number: number): number {
    return number <= CHILDREN_FOR_ROOM ? this.keepBytes : Math.min(this.keepBytes, FEW_BYTES);
  }

  of(lanes: DatabaseLanes): ChildSlot | undefined {
    return this.#homes.get(lanes);
  }

  /** Gives up the home of a database that nobody uses. */
  forget(lanes: DatabaseLanes): void {
    const home = this.#homes.get(lanes);
    if (home) home.homes--;
    this.#homes.delete(lanes);
  }

  /**
   * The database's home while that answers quickly, else another child for this time: to move would mean to open the file
   * anew; null: the work waits. Only calls that read (`isRead`) go to a child that works.
   */
  slotFor(lanes: DatabaseLanes, nowMs: number, isRead: boolean): ChildSlot | null {
    const { slots, shares } = this.pool;
    const home = this.#homes.get(lanes);
    const stays = home && !home.leaving && !home.lowered && slots.includes(home);
    if (stays) {
      if (isFree(home)) return home;
      if (this.#endsSoon(home, nowMs)) return isRead && takesMore(home) ? home : null;
    }
    if (shares.holdsTooMany(lanes.namespaceId, nowMs)) return null;
    const slot = this.#roomiest() ?? this.#oneMore(nowMs);
    if (slot && !stays) this.#settle(lanes, slot);
    return slot;
  }

  #settle(lanes: DatabaseLanes, slot: ChildSlot): void {
    this.forget(lanes);
    this.#homes.set(lanes, slot);
    slot.homes++;
    // Ahead of the databases that will find no child with room for their files.
    const used = this.#used;
    if (used.length >= CHILDREN_FOR_ROOM || !this.pool.shares.mayGrow) return;
    if (!used.some((slot) => this.#hasRoom(slot))) this.pool.addChild();
  }

  /** The children that take quick work. */
  get #used(): ChildSlot[] {
    return this.pool.slots.filter(({ lowered, leaving }) => !lowered && !leaving);
  }

  /** A free child: the first one with room for more files, so that others come to rest, else the one with the fewest. */
  #roomiest(): ChildSlot | null {
    const used = this.#used;
    const serving = used.filter(({ child }) => child.serves);
    // A child that still loads its program would keep its first work waiting, for a tenth of a second.
    const free = (serving.length > 0 ? serving : used).filter(isFree);
    const fewest = free.reduce<ChildSlot | null>(
      (best, slot) => best === null || slot.homes < best.homes ? slot : best,
      null,
    );
    return free.find((slot) => this.#hasRoom(slot)) ?? fewest;
  }

  #hasRoom({ number, homes }: ChildSlot): boolean {
    return homes < Math.floor(this.keepBytesOf(number) / FILE_BYTES);
  }

  /**
   * Starts one more child where every other one has a long flight, because a short wait is cheaper than a process. Null: the
   * work waits for the first child that is free, and the watchdog looks for one every few milliseconds.
   */
  #oneMore(nowMs: number): ChildSlot | null {
    const soon = this.pool.slots.some((slot) => !slot.lowered && this.#endsSoon(slot, nowMs));
    if (!soon) this.pool.addChild();
    return this.#roomiest();
  }

  /** Busy children share the processors, so that the flight of each lasts as many times as long. */
  #endsSoon({ flight }: ChildSlot, nowMs: number): boolean {
    if (flight === null) return true;
    const busy = this.pool.slots.reduce((count, slot) => slot.flight === null ? count : count + 1, 0);
    return !isLong(flight, nowMs, LONG_FLIGHT_MS * busy);
  }
}
