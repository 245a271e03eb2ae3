// Ends request bodies that arrive too slowly, without a timer per request: one coarse sweep looks after all of them.
import { AppError } from "../core/errors.ts";

interface Pending {
  readonly sweep: number;
  readonly expire: () => void;
}

/**
 * Bodies that are being read. `sweep()` is called at a steady pace by whoever owns the timer; a body that is still
 * incomplete after `sweeps` of them fails. Costs a set entry per request, no clock reading and no timer.
 */
export class BodyWatch {
  readonly #pending = new Set<Pending>();
  #sweep = 0;

  constructor(private readonly sweeps: number) {}

  /** Bodies that have not arrived whole yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Settles as `reading` does. Errors: `request_timeout` when it takes too long, or when the connection breaks off
   * in the middle (then nobody reads the answer).
   */
  watch<T>(reading: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new AppError("request_timeout", { headers: { "Connection": "close" } }));
      const entry = { sweep: this.#sweep, expire: late };
      this.#pending.add(entry);
      reading.then((value) => {
        this.#pending.delete(entry);
        resolve(value);
      }, (reason) => {
        this.#pending.delete(entry);
        if (reason instanceof AppError) reject(reason);
        else late();
      });
    });
  }

  /** One step of time. Entries are in order of arrival, so the first young one ends the walk. */
  sweep(): void {
    this.#sweep++;
    for (const entry of this.#pending) {
      if (this.#sweep - entry.sweep <= this.sweeps) return;
      this.#pending.delete(entry);
      entry.expire();
    }
  }
}
