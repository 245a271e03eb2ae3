// Times the stages of one call for the `Server-Timing` header (W3C Server Timing).
import type { Clock } from "../core/clock.ts";

/** `000` to `999`: putting three digits behind a point is much faster than writing a fraction. */
const THOUSANDTHS = Array.from({ length: 1000 }, (_, micros) => String(micros).padStart(3, "0"));

export class StageTimer {
  #lastMs: number;
  #text = "";

  constructor(private readonly clock: Clock) {
    this.#lastMs = clock.monotonicMs();
  }

  /** Ends the stage that has been running since the last call. */
  end(stage: string): void {
    const nowMs = this.clock.monotonicMs();
    const micros = Math.round((nowMs - this.#lastMs) * 1000);
    const millis = `${Math.floor(micros / 1000)}.${THOUSANDTHS[micros % 1000]}`;
    this.#text += `${this.#text === "" ? "" : ", "}${stage};dur=${millis}`;
    this.#lastMs = nowMs;
  }

  get header(): string {
    return this.#text;
  }
}
