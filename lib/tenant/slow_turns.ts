// The turn of slow reads for which there is no slot: one of them has it at a time. It goes to the caller that has had it least,
// so that what would end soon is not held up by what never ends.

/** Milliseconds that a caller may have had the turn beyond another one that waits for it. */
export const TURN_MS = 1000;
/** The same for a read that has had many turns: it begins anew with each, and each is twice as long, so that it ends in one. */
const LONGEST_TURN_MS = 8 * TURN_MS;
/** Milliseconds after which it is forgotten how long a caller has had it. */
const FORGET_MS = 60_000;

/** The turn of one read. */
export interface SlowTurn {
  /** The caller: its token, or the database of an anonymous one. */
  readonly key: string;
  readonly lengthMs: number;
  sinceMs: number;
  /** Until when it is counted. */
  countedMs: number;
}

/** A caller that waits for a turn; `isNew`: with a read that has had none yet. */
export interface TurnWaiter {
  readonly key: string;
  readonly isNew: boolean;
}

/** How long each caller has had the turn. */
export class SlowTurns {
  readonly #had = new Map<string, { ms: number; lastMs: number }>();

  hadMs(key: string): number {
    return this.#had.get(key)?.ms ?? 0;
  }

  /** `turns`: how many the read has had with this one. */
  begin(key: string, nowMs: number, turns = 1): SlowTurn {
    for (const [other, { lastMs }] of this.#had) if (nowMs - lastMs > FORGET_MS) this.#had.delete(other);
    const lengthMs = Math.min(TURN_MS * 2 ** (turns - 1), LONGEST_TURN_MS);
    return { key, lengthMs, sinceMs: nowMs, countedMs: nowMs };
  }

  /** Counts the turn until now. */
  count(turn: SlowTurn, nowMs: number): void {
    this.add(turn.key, nowMs - turn.countedMs, nowMs);
    turn.countedMs = nowMs;
  }

  /** Counts what a read took that was slow without a turn: a caller with many of these comes after one with few. */
  add(key: string, ms: number, nowMs: number): void {
    this.#had.set(key, { ms: this.hadMs(key) + ms, lastMs: nowMs });
  }

  /** Whether the turn is over, because somebody waits for it who has had it less. */
  isOver(turn: SlowTurn, waiting: Iterable<TurnWaiter>, nowMs: number): boolean {
    this.count(turn, nowMs);
    const ownMs = this.hadMs(turn.key);
    for (const { key, isNew } of waiting) {
      const isOver = key === turn.key
        ? isNew && nowMs - turn.sinceMs >= TURN_MS
        : ownMs - this.hadMs(key) >= turn.lengthMs;
      if (isOver) return true;
    }
    return false;
  }

  /** Whether somebody waits who has had the turn less than that caller. */
  comesLater(key: string, waiting: Iterable<TurnWaiter>): boolean {
    for (const waiter of waiting) if (this.hadMs(waiter.key) < this.hadMs(key)) return true;
    return false;
  }
}
