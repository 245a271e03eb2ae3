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
  /** Look-ups of namespaces within a second: since when, how many, how long all of them took, and the slow ones. */
  readonly #seconds = new Map<string, { sinceMs: number; count: number; ms: number; slowMs: number }>();

  /** `meanMs`: milliseconds that look-ups of a namespace may take in the mean, more than memory does, and less than a disk. */
  constructor(private readonly meanMs: number) {}

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
    const ms = nowMs - startedMs;
    let second = this.#seconds.get(namespaceId);
    if (second === undefined || startedMs - second.sinceMs >= 1000) {
      if (this.#seconds.size >= MAX_REMEMBERED) this.#seconds.clear();
      this.#seconds.set(namespaceId, second = { sinceMs: startedMs, count: 0, ms: 0, slowMs: 0 });
    }
    second.count++;
    second.ms += ms;
    if (ms > SLOW_MS) second.slowMs += ms;
    const slowMs = second.ms > second.count * this.meanMs ? second.ms : second.slowMs;
    if (slowMs > SLOW_MS_A_SECOND) this.add(namespaceId, nowMs + slowMs * LEFT_OUT_TIMES);
  }
}
