// A clock that runs with the machine's and can be turned, so that what lasts hours is over in a test's next line.
import { type Clock, systemClock } from "../../lib/core/clock.ts";

/** Both readings move together. It never stands still: deadlines of real processes hang on it. */
export class TurnableClock implements Clock {
  #turnedMs = 0;

  now(): number {
    return systemClock.now() + this.#turnedMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.#turnedMs;
  }

  /** Puts the clock forward by `ms`. */
  turn(ms: number): void {
    this.#turnedMs += ms;
  }
}
