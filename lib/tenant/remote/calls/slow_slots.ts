// How many reads a server works on at a time: of one token, of one database and of this process, slow ones and others.
import type { SlowWork } from "../../read_queue.ts";
import { SlowTurns, type TurnCaller, type TurnWaiter } from "../../slow_turns.ts";

/** Slow reads at a time of one token, of one database, and of all together; of tries, one database's and all. */
const MAX_SLOTS = { token: 2, database: 3, all: 6 } as const;
const MAX_TRIES = { database: 2, all: 4 } as const;
/** Reads at a time that are not known to be slow, unless the store says otherwise; of one token half of them. */
const MAX_QUICK = 64;

/** The reads of one database. */
export interface DatabaseReads {
  /** Who has the turn: the caller's token, or the database of an anonymous caller. */
  callerOf(tokenId: string | null): TurnCaller;
  /** Who waits for the turn. */
  turnWaiters(): Iterable<TurnWaiter>;
  /** Starts what may start of those that wait. `first`: who comes first for the turn; null: nobody waits for it. */
  startWaiting(first?: TurnCaller | null): void;
}

/** A read that the server works on. */
export interface Running {
  readonly reads: DatabaseReads;
  /** Null: an anonymous caller's. */
  readonly tokenId: string | null;
  /** Null: it is not known to be slow work. */
  slow: SlowWork | null;
}

/** The slots of all databases of a process. */
export class SlowSlots {
  readonly running = new Set<Running>();
  /** Whose reads wait. */
  readonly waiting = new Set<DatabaseReads>();
  readonly turns = new SlowTurns();

  constructor(private readonly mostQuick: number = MAX_QUICK) {}

  mayStart(reads: DatabaseReads, tokenId: string | null): boolean {
    if (this.running.size < this.mostQuick / 2) return true;
    const quick = [...this.running].filter(({ slow }) => slow === null);
    const own = quick.filter((one) => one.tokenId === tokenId && (tokenId !== null || one.reads === reads));
    return quick.length < this.mostQuick && own.length < this.mostQuick / 2;
  }

  mayTry(reads: DatabaseReads): boolean {
    const tries = [...this.running].filter(({ slow }) => slow?.hasSlot === false);
    return tries.length < MAX_TRIES.all &&
      tries.filter((one) => one.reads === reads).length < MAX_TRIES.database;
  }

  /** Anonymous callers count for their database only. */
  mayTakeSlot(reads: DatabaseReads, tokenId: string | null): boolean {
    const held = { token: 0, database: 0, all: 0 };
    for (const other of this.running) {
      if (!other.slow?.hasSlot) continue;
      held.all++;
      if (other.reads === reads) held.database++;
      if (tokenId !== null && other.tokenId === tokenId) held.token++;
    }
    return held.token < MAX_SLOTS.token && held.database < MAX_SLOTS.database && held.all < MAX_SLOTS.all;
  }

  /**
   * Whether the caller may have the turn of what has no slot: it has no slot itself, nobody has the turn, and it does not come
   * later than `first`.
   */
  mayTakeTurn(
    reads: DatabaseReads,
    tokenId: string | null,
    first: TurnCaller | null = this.firstForTurn(),
  ): boolean {
    const caller = reads.callerOf(tokenId);
    return !this.#withSlot().has(caller.key) &&
      ![...this.running].some(({ slow }) => slow?.turn !== undefined) &&
      (first === null || !this.turns.comesLater(caller, [first]));
  }

  /** Who of the callers that wait for the turn has had it least; null: nobody waits for it. */
  firstForTurn(): TurnCaller | null {
    let first: TurnCaller | null = null;
    for (const waiter of this.waitForTurn()) {
      if (first === null || this.turns.comesLater(first, [waiter])) first = waiter;
    }
    return first;
  }

  /** The callers that wait for the turn. */
  *waitForTurn(): Iterable<TurnWaiter> {
    const withSlot = this.#withSlot();
    for (const reads of this.waiting) {
      for (const waiter of reads.turnWaiters()) if (!withSlot.has(waiter.key)) yield waiter;
    }
  }

  end(running: Running): void {
    this.running.delete(running);
    if (this.waiting.size > 0) this.next();
  }

  /** Something has changed; each database gets one turn. */
  next(): void {
    const first = this.firstForTurn();
    for (const reads of [...this.waiting]) {
      this.waiting.delete(reads);
      reads.startWaiting(first);
    }
  }

  #withSlot(): Set<string> {
    const keys = new Set<string>();
    for (const { slow, reads, tokenId } of this.running) {
      if (slow?.hasSlot) keys.add(reads.callerOf(tokenId).key);
    }
    return keys;
  }
}
