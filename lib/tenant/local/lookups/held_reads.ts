// Transactions of look-ups in files at rest: as long as one lasts, the file gets no log where nobody has the write slot. So each
// ends some time, a few in a round, because to end one takes some microseconds.
import type { Clock } from "../../../core/clock.ts";
import type { SlotReader } from "../lanes/write_lane.ts";

/** Milliseconds after which a transaction is ended, those between two rounds, and how many end in one. */
const HELD_MS = 5_000;
const ROUND_MS = 100;
const MOST_ENDED = 64;

/** Those that have begun. */
export class HeldReads {
  /** When each is to end, in the order in which they began. */
  readonly #held = new Map<SlotReader, number>();
  #rounds: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {}

  /** One has begun at `nowMs`, by the monotonic clock; the reader's one before it has ended. */
  add(reader: SlotReader, nowMs: number): void {
    this.#held.delete(reader);
    this.#held.set(reader, nowMs + HELD_MS);
    this.#rounds ??= setInterval(() => this.#endSome(), ROUND_MS);
  }

  /** Ends none any more. */
  stop(): void {
    if (this.#rounds !== null) clearInterval(this.#rounds);
    this.#rounds = null;
  }

  #endSome(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [reader, untilMs] of this.#held.entries().take(MOST_ENDED)) {
      if (untilMs > nowMs) break;
      this.#held.delete(reader);
      reader.letGo();
    }
    if (this.#held.size === 0) this.stop();
  }
}
