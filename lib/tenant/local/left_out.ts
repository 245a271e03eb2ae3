// Which databases and namespaces have no look-ups in the service's own process for a while, and which have been slow there.

/** Milliseconds after which a look-up counts as slow, as by a disk or by long keys. A busy machine makes some look so. */
const SLOW_MS = 5;
/** A namespace whose slow look-ups take so much of a second is left out for so many times as long. */
const SLOW_MS_A_SECOND = 100;
const LEFT_OUT_TIMES = 100;
/** The most that are remembered; then all may try again. */
const MAX_REMEMBERED = 10_000;

/** Times are of the monotonic clock, in milliseconds. */
export class LeftOut {
  /** Until when, by the id of a database or a namespace. */
  readonly #until = new Map<string, number>();
  /** Slow look-ups of namespaces: since when, and how long they took together. */
  readonly #slow = new Map<string, { sinceMs: number; ms: number }>();

  add(id: string, untilMs: number): void {
    if (this.#until.size >= MAX_REMEMBERED) this.#until.clear();
    this.#until.set(id, untilMs);
  }

  has(id: string, nowMs: number): boolean {
    const untilMs = this.#until.size === 0 ? undefined : this.#until.get(id);
    if (untilMs === undefined) return false;
    if (nowMs < untilMs) return true;
    this.#until.delete(id);
    return false;
  }

  /** Notes how long a look-up of the namespace took. */
  noteTime(namespaceId: string, startedMs: number, nowMs: number): void {
    if (nowMs - startedMs <= SLOW_MS) return;
    const before = this.#slow.get(namespaceId);
    const slow = before && startedMs - before.sinceMs < 1000 ? before : { sinceMs: startedMs, ms: 0 };
    slow.ms += nowMs - startedMs;
    if (this.#slow.size >= MAX_REMEMBERED) this.#slow.clear();
    this.#slow.set(namespaceId, slow);
    if (slow.ms > SLOW_MS_A_SECOND) this.add(namespaceId, nowMs + slow.ms * LEFT_OUT_TIMES);
  }
}
