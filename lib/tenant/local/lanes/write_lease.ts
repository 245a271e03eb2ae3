// The write slot of a database in the hands of a transaction: it waits for its turn like any write, and holds the slot until
// it gives it back.
import { AppError } from "../../../core/errors.ts";

/** The lanes of a database, as this needs them. */
interface LeasedLanes {
  readonly writes: { lease: LeaseJob | null; removeLease(job: LeaseJob): boolean };
  addLease(job: LeaseJob): void;
}

/** A transaction that waits for the slot, or has it. */
export interface LeaseJob {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Called when somebody else begins to wait for the slot. */
  readonly writerWaits: () => void;
}

/** Takes the slot when its turn has come, at the latest after `waitMs`. Errors: `database_busy`, that of `cancel`. */
export class WriteLease {
  readonly #job: LeaseJob;
  readonly #turn = Promise.withResolvers<void>();
  readonly taken: Promise<void> = this.#turn.promise;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(
    private readonly lanes: LeasedLanes,
    private readonly wake: () => void,
    { waitMs, writerWaits }: { readonly waitMs: number; readonly writerWaits: () => void },
  ) {
    this.#timer = setTimeout(() => this.cancel(new AppError("database_busy")), waitMs);
    this.#job = { resolve: () => this.#settle(), reject: (error) => this.#settle(error), writerWaits };
    lanes.addLease(this.#job);
    wake();
  }

  #settle(error?: Error): void {
    clearTimeout(this.#timer);
    if (error) this.#turn.reject(error);
    else this.#turn.resolve();
  }

  /** Stops waiting. */
  cancel(error: Error): void {
    if (this.lanes.writes.removeLease(this.#job)) this.#settle(error);
  }

  /** Gives the slot back, or stops waiting for it. */
  release(): void {
    this.cancel(new AppError("database_busy"));
    if (this.lanes.writes.lease === this.#job) this.lanes.writes.lease = null;
    this.wake();
  }
}
