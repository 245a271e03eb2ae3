// A processor that has nothing to do sleeps, and takes longer to wake than a small call takes to answer. So behind the answer for
// a caller who comes back at once, the event loop goes round for a moment instead of waiting in the kernel.
import type { Clock } from "./clock.ts";

/** In milliseconds: a caller on the same machine is back within it, and one behind a network is not. */
const MOMENT_MS = 0.2;
/** Turns of the event loop for one answer, whatever the clock says. A turn takes some 4 µs. */
const MAX_TURNS = 100;
/** Milliseconds of a turn in which nothing was done: others want the processor, and going round only takes it from them. */
const TAKEN_MS = 1;
/** Milliseconds for which it is left to them then. */
const LEFT_MS = 2000;

/** With one processor the caller would have to wait until the event loop sleeps. */
const HAS_OTHERS = navigator.hardwareConcurrency > 1;

/** For callers who wait for each answer. Who does not come back within a moment costs one moment, and then nothing. */
export class StayAwake {
  #answeredMs = -Infinity;
  #turnedMs = 0;
  #leftUntilMs = -Infinity;
  #turns = 0;
  #isGoing = false;

  constructor(private readonly clock: Clock) {}

  /** Whether the event loop goes round. */
  get isAwake(): boolean {
    return this.#isGoing;
  }

  /** Notes an answer at `nowMs` for a call that came at `cameMs`, of the monotonic clock. */
  noteAnswer(cameMs: number, nowMs: number): void {
    const isBack = cameMs - this.#answeredMs < MOMENT_MS;
    this.#answeredMs = this.#turnedMs = nowMs;
    this.#turns = 0;
    if (!isBack || !HAS_OTHERS || this.#isGoing || nowMs < this.#leftUntilMs) return;
    this.#isGoing = true;
    setImmediate(this.#turn);
  }

  /** Lets the event loop wait again from its next turn on. */
  end(): void {
    this.#turns = MAX_TURNS;
  }

  readonly #turn = (): void => {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.#turnedMs > TAKEN_MS) this.#leftUntilMs = nowMs + LEFT_MS;
    this.#turnedMs = nowMs;
    this.#turns++;
    this.#isGoing = this.#turns < MAX_TURNS && nowMs >= this.#leftUntilMs &&
      nowMs - this.#answeredMs < MOMENT_MS;
    if (this.#isGoing) setImmediate(this.#turn);
  };
}
