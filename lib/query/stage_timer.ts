// Times the stages of one call for the `Server-Timing` header (W3C Server Timing).
import type { Clock } from "../core/clock.ts";

/** A watch that is read at the end of each stage. */
export class StageTimer {
  #lastMs: number;
  #text = "";

  constructor(private readonly clock: Clock) {
    this.#lastMs = clock.monotonicMs();
  }

  /** Ends the stage that has been running since the last call. */
  end(stage: string): void {
    const nowMs = this.clock.monotonicMs();
    this.#text += `${this.#text === "" ? "" : ", "}${stage};dur=${
      Math.round((nowMs - this.#lastMs) * 1000) / 1000
    }`;
    this.#lastMs = nowMs;
  }

  get header(): string {
    return this.#text;
  }
}
