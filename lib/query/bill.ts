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

/** Who pays for a call. `reads`: it changes nothing, and goes on where KV is full. */
export type PaidCall = Payer & { readonly reads: boolean };

/** The money of one call. It is reserved once, settled at most once, and released whatever happens. */
export class Bill {
  #admission: Admission | null = null;
  /** What the work of `billed` has done so far; the last figures count, null: nothing. */
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
}

/**
 * Does `work` for which the namespace pays as for one call, by the last figures of its bill: also where it fails, for what it
 * has done until then. Errors: those of `reserve` and of the work.
 */
export async function billed<Value>(
  meter: Meter,
  call: PaidCall,
  work: (bill: Bill) => Promise<Value>,
): Promise<Value> {
  const bill = new Bill(meter, call);
  await bill.reserve(call.reads);
  try {
    return await work(bill);
  } finally {
    if (bill.figures) bill.settle(bill.figures);
    bill.release();
  }
}
