// Transactions of look-ups in files at rest: as long as one lasts, the file gets no log where nobody has the write slot. So each
// ends some time, a few in a round, because to end one takes some microseconds.
import type { Clock } from "../../core/clock.ts";
import type { SlotReader } from "./write_lane.ts";

/** Milliseconds after which a transaction is ended, those between two rounds, and how many end in one. */
const HELD_MS = 5_000;
const ROUND_MS = 100;
const MOST_ENDED = 64;

/** Those that have begun. */
export class HeldReads {
  /** In the order in which they began. */
  readonly #held: { readonly reader: SlotReader; readonly untilMs: number }[] = [];
  #rounds: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {}

  /** One has begun at `nowMs`, by the monotonic clock. */
  add(reader: SlotReader, nowMs: number): void {
    this.#held.push({ reader, untilMs: nowMs + HELD_MS });
    this.#rounds ??= setInterval(() => this.#endSome(), ROUND_MS);
  }

  /** Ends none any more. */
  stop(): void {
    if (this.#rounds !== null) clearInterval(this.#rounds);
    this.#rounds = null;
  }

  #endSome(): void {
    const nowMs = this.clock.monotonicMs();
    const young = this.#held.findIndex(({ untilMs }, at) => at === MOST_ENDED || untilMs > nowMs);
    for (const { reader } of this.#held.splice(0, young < 0 ? this.#held.length : young)) reader.letGo();
    if (this.#held.length === 0) this.stop();
  }
}
