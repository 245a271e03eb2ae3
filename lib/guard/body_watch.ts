// Ends request bodies that arrive too slowly, without a timer for each request: one coarse sweep watches them all.
import { AppError } from "../core/errors.ts";

/** Milliseconds that a stop leaves to bodies on their way. */
const STOP_MS = 5000;

/** A body that keeps coming may take so many times as long as others. */
const PATIENCE = 4;
/** Bytes for each sweep since its beginning that count as coming: with a sweep a second an honest client on the slowest line. */
const PACE_BYTES = 8 * 1024;
/** Bodies that take longer at once, and those of one address: what each holds of memory is its door's bound. */
const MOST_PATIENT = 64;
const MOST_PATIENT_OF_ADDRESS = 8;

/** What has come of a body that may take longer, and by whom it is counted. */
export interface ArrivingBody {
  receivedBytes: number;
  readonly address: string;
}

/** A body on its way: a link of a ring in order of arrival. */
class Pending {
  before: Pending = this;
  after: Pending = this;
  /** Who waits for its end. */
  waiter: { ended(): void } | null = null;

  constructor(
    readonly sweep: number,
    private readonly reject: (reason: AppError) => void,
    readonly arriving: ArrivingBody | null = null,
  ) {}

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
    this.#unlink();
    this.waiter?.ended();
    this.waiter = null;
  }

  moveBefore(next: Pending): void {
    this.#unlink();
    this.insertBefore(next);
  }

  /** Those behind this one, which is the end of a ring. */
  *others(): Iterable<Pending> {
    for (let entry = this.after, { after } = entry; entry !== this; entry = after, { after } = entry) {
      yield entry;
    }
  }

  #unlink(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this.after = this;
  }
}

/**
 * The bodies that are being read. The owner of the timer calls `sweep()` at a steady pace, and a body that is
 * incomplete after `sweeps` of them fails, unless it may take longer and keeps coming. It costs a few pointers for each request, no clock and no timer.
 */
export class BodyWatch {
  readonly #ends = new Pending(0, () => {});
  /** Of those that take longer. */
  readonly #patient = new Pending(0, () => {});
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
    return [...this.#all()].length;
  }

  /**
   * What `made` makes of the body that `reading` has read. `late` is called first where a sweep has come before the end of the
   * body. `arriving`: of one that may take longer. Errors: those of `late` and of `made`; `request_timeout` when reading takes too long, or when the connection breaks off
   * (then nobody reads the answer); during a stop `shutting_down`.
   */
  watch<T, Made>(
    reading: Promise<T>,
    made: (body: T) => Made,
    { late = () => {}, arriving = null }: {
      readonly late?: (() => unknown) | undefined;
      readonly arriving?: ArrivingBody | null;
    } = {},
  ): Promise<Made> {
    return new Promise((resolve, reject) => {
      const entry = new Pending(this.#sweep, reject, arriving);
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
    for (const entry of this.#all()) {
      entry.waiter = waiter;
      left++;
    }
    if (left === 0) return;
    const timer = setTimeout(resolve, STOP_MS);
    await promise;
    clearTimeout(timer);
  }

  /** Fails the body that has been on its way for longest. False: none is on its way. */
  endFirst(): boolean {
    for (const first of this.#all()) {
      this.#end(first);
      return true;
    }
    return false;
  }

  /** One step of time. Entries are in order of arrival, so the walk ends at the first young one. */
  sweep(): void {
    this.#sweep++;
    for (const entry of this.#patient.others()) if (!this.#keepsComing(entry)) this.#end(entry);
    for (const entry of this.#ends.others()) {
      if (this.#sweep - entry.sweep <= this.sweeps) return;
      if (this.#keepsComing(entry) && this.#hasPatience(entry)) entry.moveBefore(this.#patient);
      else this.#end(entry);
    }
  }

  *#all(): Iterable<Pending> {
    yield* this.#patient.others();
    yield* this.#ends.others();
  }

  #end(entry: Pending): void {
    entry.remove();
    entry.expire(this.#expired);
  }

  #keepsComing({ sweep, arriving }: Pending): boolean {
    const age = this.#sweep - sweep;
    return arriving !== null && age <= PATIENCE * this.sweeps &&
      arriving.receivedBytes >= age * PACE_BYTES;
  }

  #hasPatience({ arriving }: Pending): boolean {
    const others = [...this.#patient.others()];
    const own = others.filter((other) => other.arriving?.address === arriving?.address);
    return !this.#isStopping && others.length < MOST_PATIENT && own.length < MOST_PATIENT_OF_ADDRESS;
  }
}
