// Stages "reserve" and "settle": leave to spend from the prepaid balance, and what a call then cost. Statements, merges and
// comparisons of branches are paid through this.
import type { Meter } from "../control/balance/meter.ts";
import type { Admission } from "../control/balance/spending_account.ts";
import type { Totals } from "./answer.ts";
import { costNanoUsd } from "./prices.ts";

/** Who pays, and for which database. */
export interface Payer {
  readonly namespaceId: string;
  readonly databaseId: string;
}

/** The money of one call. It is reserved once, settled at most once, and released whatever happens. */
export class Bill {
  #admission: Admission | null = null;
  /** What the work of `during` has done so far; the last figures count, null: nothing. */
  figures: Totals | null = null;

  constructor(private readonly meter: Meter, private readonly payer: Payer) {}

  /**
   * Leave to run, at once in the usual case. `reads`: the call changes nothing, and goes on where KV is full. Errors:
   * `balance_exhausted`, `monthly_cap_reached`, `meter_unreachable`, `storage_full`.
   */
  reserve(reads: boolean): void | Promise<void> {
    const admitted = this.meter.admit(this.payer.namespaceId, reads);
    if (admitted instanceof Promise) {
      return admitted.then((admission) => {
        this.#admission = admission;
      });
    }
    this.#admission = admitted;
  }

  /** Takes the price of the request and of what the engine did, also for a call that failed; nothing of what was never reserved. */
  settle({ rowsRead, rowsWritten }: Totals): void {
    if (this.#admission === null) return;
    this.meter.settle(this.#admission, {
      databaseId: this.payer.databaseId,
      requests: 1,
      rowsRead,
      rowsWritten,
      costNanoUsd: costNanoUsd(rowsRead, rowsWritten),
    });
  }

  /** Ends the leave; what was settled stays so. */
  release(): void {
    if (this.#admission !== null) this.meter.release(this.#admission);
  }

  /**
   * Does work for which the namespace pays as for one call, by the last `figures`: also where it fails, for what it has
   * done until then. `reads` as `reserve` has it. Errors: those of `reserve` and of the work.
   */
  async during<Value>(reads: boolean, work: () => Promise<Value>): Promise<Value> {
    await this.reserve(reads);
    try {
      return await work();
    } finally {
      if (this.figures) this.settle(this.figures);
      this.release();
    }
  }
}
