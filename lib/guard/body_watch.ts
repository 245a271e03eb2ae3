// Ends request bodies that arrive too slowly, without a timer for each request: one coarse sweep watches them all.
import { AppError } from "../core/errors.ts";

/** Milliseconds that a stop leaves to bodies on their way. */
const STOP_MS = 5000;

/** A body on its way: a link of a ring in order of arrival. */
class Pending {
  before: Pending = this;
  after: Pending = this;
  /** Who waits for its end. */
  waiter: { ended(): void } | null = null;

  constructor(readonly sweep: number, private readonly reject: (reason: AppError) => void) {}

  expire(code: "request_timeout" | "shutting_down"): void {
    this.reject(new AppError(code, { headers: { "Connection": "close" } }));
  }

  insertBefore(next: Pending): void {
    this.after = next;
    this.before = next.before;
    this.before.after = this;
    next.before = this;
  }

  /** Removes it from the ring; a second time does nothing. */
  remove(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this.after = this;
    this.waiter?.ended();
    this.waiter = null;
  }
}

/**
 * The bodies that are being read. The owner of the timer calls `sweep()` at a steady pace, and a body that is
 * incomplete after `sweeps` of them fails. It costs a few pointers for each request, no clock and no timer.
 */
export class BodyWatch {
  readonly #ends = new Pending(0, () => {});
  #sweep = 0;
  #isStopping = false;

  constructor(private readonly sweeps: number) {}

  /** Whether the service stops: that a body does not arrive whole is then not its client's doing. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get #expired(): "request_timeout" | "shutting_down" {
    return this.#isStopping ? "shutting_down" : "request_timeout";
  }

  /** Bodies that have not arrived yet. */
  get pending(): number {
    let count = 0;
    for (let entry = this.#ends.after; entry !== this.#ends; entry = entry.after) count++;
    return count;
  }

  /**
   * What `made` makes of the body that `reading` has read. `late` is called first where a sweep has come before the end of the
   * body. Errors: those of `late` and of `made`; `request_timeout` when reading takes too long, or when the connection breaks off
   * (then nobody reads the answer); during a stop `shutting_down`.
   */
  watch<T, Made>(
    reading: Promise<T>,
    made: (body: T) => Made,
    late: () => unknown = () => {},
  ): Promise<Made> {
    return new Promise((resolve, reject) => {
      const entry = new Pending(this.#sweep, reject);
      entry.insertBefore(this.#ends);
      reading.then((body) => {
        entry.remove();
        try {
          resolve(entry.sweep === this.#sweep ? made(body) : Promise.try(late).then(() => made(body)));
        } catch (error) {
          reject(error);
        }
      }, (reason) => {
        entry.remove();
        if (reason instanceof AppError) reject(reason);
        else entry.expire(this.#expired);
      });
    });
  }

  /**
   * See `ArrivingBodies`. Where a connection is to end, the runtime takes a body that is on its way from whoever reads it.
   * Bodies that come later are not waited for.
   */
  async arrived(): Promise<void> {
    this.#isStopping = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    let left = 0;
    const waiter = { ended: () => void (--left === 0 && resolve()) };
    for (let entry = this.#ends.after; entry !== this.#ends; entry = entry.after, left++) {
      entry.waiter = waiter;
    }
    if (left === 0) return;
    const timer = setTimeout(resolve, STOP_MS);
    await promise;
    clearTimeout(timer);
  }

  /** Fails the body that has been on its way for longest. False: none is on its way. */
  endFirst(): boolean {
    const first = this.#ends.after;
    if (first === this.#ends) return false;
    first.remove();
    first.expire(this.#expired);
    return true;
  }

  /** One step of time. Entries are in order of arrival, so the walk ends at the first young one. */
  sweep(): void {
    this.#sweep++;
    for (let entry = this.#ends.after; entry !== this.#ends; entry = this.#ends.after) {
      if (this.#sweep - entry.sweep <= this.sweeps) return;
      entry.remove();
      entry.expire(this.#expired);
    }
  }
}
