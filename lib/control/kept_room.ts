// How much of Deno KV the answers of a namespace's keyed calls may take. A token that only reads makes such answers too, and
// all namespaces share that file.
import type { Clock } from "../core/clock.ts";
import { MAX_KEPT_BYTES, MAX_SMALL_ANSWER_BYTES, REPLAY_MS } from "../core/limits.ts";

/** What is kept is counted by the hour in which it came. */
const HOUR_MS = 3_600_000;

/** What this process has kept for each namespace in the last day. */
export class KeptRoom {
  /** By namespace: hour → bytes, in the order of time. */
  readonly #kept = new Map<string, Map<number, number>>();

  constructor(private readonly clock: Pick<Clock, "now">) {}

  /** Whether there is room for an answer of so many bytes, which takes it. A small one, that may tell a token once, always has it. */
  take(namespaceId: string, bytes: number): boolean {
    if (bytes <= MAX_SMALL_ANSWER_BYTES) return true;
    const hour = Math.floor(this.clock.now() / HOUR_MS);
    const hours = this.#kept.get(namespaceId) ?? new Map<number, number>();
    let all = bytes;
    for (const [at, kept] of hours) {
      if ((hour - at) * HOUR_MS > REPLAY_MS) hours.delete(at);
      else all += kept;
    }
    if (all > MAX_KEPT_BYTES) return false;
    this.#kept.set(namespaceId, hours.set(hour, (hours.get(hour) ?? 0) + bytes));
    return true;
  }
}
