// The turn of slow reads for which there is no slot: one of them has it at a time. It goes to the namespace that has had it
// least, and in it to the caller that has: many tokens win no turns, and what would end soon is not held up by what never ends.

/** Milliseconds that a caller may have had the turn beyond another one that waits for it. */
export const TURN_MS = 1000;
/** The same for a read that has had many turns: it begins anew with each, and each is twice as long, so that it ends in one. */
const LONGEST_TURN_MS = 8 * TURN_MS;
/** Milliseconds after which it is forgotten how long somebody has had it. */
const FORGET_MS = 60_000;
/** Milliseconds by which somebody may be behind the one who has had it most: who was busy alone for an hour waits no hour. */
const MOST_BEHIND_MS = 4 * LONGEST_TURN_MS;
/** Namespaces, and callers, that are remembered at most. */
const MOST_REMEMBERED = 10_000;

/** Who may have the turn. */
export interface TurnCaller {
  readonly namespaceId: string;
  /** The caller: its token, or the database of an anonymous one. */
  readonly key: string;
}

/** The turn of one read. */
export interface SlowTurn extends TurnCaller {
  readonly lengthMs: number;
  sinceMs: number;
  /** Until when it is counted. */
  countedMs: number;
}

/** A caller that waits for a turn; `isNew`: with a read that has had none yet. */
export interface TurnWaiter extends TurnCaller {
  readonly isNew: boolean;
}

/** How long each namespace, and each caller, has had the turn. */
export class SlowTurns {
  readonly #namespaces = new TimesHad();
  readonly #callers = new TimesHad();

  /** Milliseconds of the caller, which tell nothing beside those of another namespace's. */
  hadMs(key: string): number {
    return this.#callers.ms(key);
  }

  /** `turns`: how many the read has had with this one. */
  begin({ namespaceId, key }: TurnCaller, nowMs: number, turns = 1): SlowTurn {
    for (const times of [this.#namespaces, this.#callers]) times.forget(nowMs);
    const lengthMs = Math.min(TURN_MS * 2 ** (turns - 1), LONGEST_TURN_MS);
    return { namespaceId, key, lengthMs, sinceMs: nowMs, countedMs: nowMs };
  }

  /** Counts the turn until now. */
  count(turn: SlowTurn, nowMs: number): void {
    this.add(turn, nowMs - turn.countedMs, nowMs);
    turn.countedMs = nowMs;
  }

  /** Counts what a read took that was slow without a turn: a caller with many of these comes after one with few. */
  add({ namespaceId, key }: TurnCaller, ms: number, nowMs: number): void {
    this.#namespaces.add(namespaceId, ms, nowMs);
    this.#callers.add(key, ms, nowMs);
  }

  /** Whether the turn is over, because somebody waits for it who has had it less. */
  isOver(turn: SlowTurn, waiting: Iterable<TurnWaiter>, nowMs: number): boolean {
    this.count(turn, nowMs);
    for (const waiter of waiting) {
      const isOver = waiter.key === turn.key && waiter.namespaceId === turn.namespaceId
        ? waiter.isNew && nowMs - turn.sinceMs >= TURN_MS
        : this.#beyondMs(turn, waiter) >= turn.lengthMs;
      if (isOver) return true;
    }
    return false;
  }

  /** Whether somebody waits who has had the turn less than that caller. */
  comesLater(caller: TurnCaller, waiting: Iterable<TurnCaller>): boolean {
    for (const waiter of waiting) if (this.#beyondMs(caller, waiter) > 0) return true;
    return false;
  }

  /** The first of those who have had it least. */
  next<Waiter extends TurnCaller>(waiting: Iterable<Waiter>): Waiter | null {
    let least: Waiter | null = null;
    for (const waiter of waiting) {
      if (least === null || this.#beyondMs(least, waiter) > 0) least = waiter;
    }
    return least;
  }

  /** Milliseconds that the one has had more than the other: of their namespaces, or of themselves within one. */
  #beyondMs(one: TurnCaller, other: TurnCaller): number {
    return one.namespaceId === other.namespaceId
      ? this.#callers.ms(one.key) - this.#callers.ms(other.key)
      : this.#namespaces.ms(one.namespaceId) - this.#namespaces.ms(other.namespaceId);
  }
}

/** Milliseconds that each of a kind has had. */
class TimesHad {
  /** Whose was counted longest ago comes first. */
  readonly #had = new Map<string, { readonly ms: number; readonly lastMs: number }>();
  #mostMs = 0;

  ms(key: string): number {
    return Math.max(this.#had.get(key)?.ms ?? 0, this.#mostMs - MOST_BEHIND_MS);
  }

  add(key: string, added: number, nowMs: number): void {
    const ms = this.ms(key) + added;
    this.#mostMs = Math.max(this.#mostMs, ms);
    this.#had.delete(key);
    this.#had.set(key, { ms, lastMs: nowMs });
    this.forget(nowMs);
  }

  /** Forgets whose time is over, and who is one too many. */
  forget(nowMs: number): void {
    for (const [key, { lastMs }] of this.#had) {
      if (nowMs - lastMs <= FORGET_MS && this.#had.size <= MOST_REMEMBERED) break;
      this.#had.delete(key);
    }
    if (this.#had.size === 0) this.#mostMs = 0;
  }
}
