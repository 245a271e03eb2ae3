// How many things of a kind a namespace makes in a day: they cost it nothing, stay for long, and all namespaces share the disk.
import { type Clock, DAY_MS } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { madeLimits } from "../core/limits.ts";

/** What this process has made for each namespace in the present UTC day. */
export class MadeToday {
  readonly #made = new Map<string, number>();
  #day = 0;

  constructor(private readonly clock: Pick<Clock, "now">) {}

  /** Counts one. Errors: `too_many_requests` where there were too many. */
  take(namespaceId: string): void {
    const nowMs = this.clock.now();
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) this.#made.clear();
    this.#day = day;
    const made = this.#made.get(namespaceId) ?? 0;
    if (made >= madeLimits.inDay) {
      throw new AppError("too_many_requests", {
        message: `Wait until tomorrow; a namespace makes ${madeLimits.inDay} of these in a day`,
        retryAfterSec: Math.ceil(((day + 1) * DAY_MS - nowMs) / 1000),
      });
    }
    this.#made.set(namespaceId, made + 1);
  }
}
