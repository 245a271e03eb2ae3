// How much of Deno KV a namespace's answers of keyed calls, and its proposed calls, may take. They are cheap to make, by a token
// that only reads too, and all namespaces share that file.
import type { Clock } from "../core/clock.ts";
import { MAX_KEPT_BYTES, MAX_SMALL_BYTES } from "../core/limits.ts";

/** What is kept is counted by the hour in which it came. */
const HOUR_MS = 3_600_000;

/** What this process has kept for each namespace of late. */
export class KeptRoom {
  /** By namespace: hour → bytes, in the order of time. */
  readonly #kept = new Map<string, Map<number, number>>();

  /** `keepMs`: how long it stays. */
  constructor(private readonly clock: Pick<Clock, "now">, private readonly keepMs: number) {}

  /** Whether there is room for so many bytes, and takes it. A small thing always has room: it may be an answer that tells a token, once. */
  take(namespaceId: string, bytes: number): boolean {
    if (bytes <= MAX_SMALL_BYTES) return true;
    const hour = Math.floor(this.clock.now() / HOUR_MS);
    const hours = this.#kept.get(namespaceId) ?? new Map<number, number>();
    let all = bytes;
    for (const [at, kept] of hours) {
      if ((hour - at) * HOUR_MS > this.keepMs) hours.delete(at);
      else all += kept;
    }
    if (all > MAX_KEPT_BYTES) return false;
    this.#kept.set(namespaceId, hours.set(hour, (hours.get(hour) ?? 0) + bytes));
    return true;
  }
}
