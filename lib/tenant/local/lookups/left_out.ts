// Which databases and namespaces have no look-ups in the service's own process for a while, and which have been slow there.
import type { OwnTime } from "./own_time.ts";

/** Milliseconds after which a look-up counts as slow, as by a disk or by long keys. */
const SLOW_MS = 5;
/**
 * A namespace whose slow look-ups take so much of a second is watched: a busy machine makes look-ups seem slow. If they take as
 * much of another second of their own time, it is left out for so many times as long.
 */
const SLOW_MS_A_SECOND = 100;
const WATCHED_MS = 10_000;
const LEFT_OUT_TIMES = 100;
/** The most that are remembered; then all may try again. */
const MAX_REMEMBERED = 10_000;

/** Times are of the monotonic clock, in milliseconds. */
export class LeftOut {
  /** Until when, by the id of a database or a namespace. */
  readonly #until = new Map<string, number>();
  /** Until when a namespace is watched, and until when any is. */
  readonly #watchedMs = new Map<string, number>();
  #watchingMs = -Infinity;
  /** Look-ups of namespaces within a second: since when, how many, how long all of them took, and the slow ones. */
  readonly #seconds = new Map<string, { sinceMs: number; count: number; ms: number; slowMs: number }>();

  /** `meanMs`: milliseconds that look-ups of a namespace may take in the mean, more than memory does, and less than a disk. */
  constructor(private readonly meanMs: number, private readonly ownTime: OwnTime) {}

  /** Whether any namespace is watched. */
  isWatching(nowMs: number): boolean {
    return nowMs < this.#watchingMs;
  }

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
    const isWatched = this.isWatching(nowMs) && nowMs < (this.#watchedMs.get(namespaceId) ?? -Infinity);
    const ms = isWatched ? this.ownTime.of(nowMs - startedMs) : nowMs - startedMs;
    let second = this.#seconds.get(namespaceId);
    if (second === undefined || startedMs - second.sinceMs >= 1000) {
      if (this.#seconds.size >= MAX_REMEMBERED) this.#seconds.clear();
      this.#seconds.set(namespaceId, second = { sinceMs: startedMs, count: 0, ms: 0, slowMs: 0 });
    }
    second.count++;
    second.ms += ms;
    if (ms > SLOW_MS) second.slowMs += ms;
    const slowMs = second.ms > second.count * this.meanMs ? second.ms : second.slowMs;
    if (slowMs <= SLOW_MS_A_SECOND) return;
    this.#seconds.delete(namespaceId);
    if (isWatched) this.add(namespaceId, nowMs + slowMs * LEFT_OUT_TIMES);
    else this.#watch(namespaceId, nowMs + WATCHED_MS);
  }

  #watch(namespaceId: string, untilMs: number): void {
    if (this.#watchedMs.size >= MAX_REMEMBERED) this.#watchedMs.clear();
    this.#watchedMs.set(namespaceId, untilMs);
    this.#watchingMs = untilMs;
  }
}

/** SQLITE_TOOBIG: a value is beyond its limit; SQLITE_BUSY: the file gets its log just now (sqlite.org/rescode.html). */
const TOO_BIG = 18;
const BUSY = 5;
const OF_ONE_CALL: readonly unknown[] = [TOO_BIG, BUSY];

/** A value or a row that is too long, or a moment in which the file could not be read, says nothing of other look-ups. */
export function saysNothingOfOthers(error: unknown): boolean {
  return error instanceof Error &&
    (error.name === "ResultTooLarge" || OF_ONE_CALL.includes(Reflect.get(error, "errcode")));
}
