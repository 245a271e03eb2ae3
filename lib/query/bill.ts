// Stages "reserve" and "settle": permission to spend from the prepaid balance, and the cost of the call. Statements,
// merges and comparisons of branches are paid through this.
import type { Meter } from "../control/balance/meter.ts";
import type { Admission } from "../control/balance/spending_account.ts";
import type { Totals } from "./answer.ts";
import { costNanoUsd, pricesOf } from "./prices.ts";
import type { QueryCall, QueryTarget } from "./query_call.ts";

/** Who pays, and for which database. */
export type Payer = Pick<QueryTarget, "namespaceId" | "databaseId" | "billedDatabaseId">;

/** What a call does: one that changes nothing runs also where KV is full. */
type Effect = "reads" | "writes";

/** The money of one call. It is reserved once, settled at most once, and released whatever happens. */
export class Bill {
  #admission: Admission | null = null;
  /** The figures of the work of `during`; the last ones count. Null: nothing was done. */
  figures: Totals | null = null;

  /** `call`: whether it pays for its request. */
  constructor(
    private readonly meter: Meter,
    private readonly payer: Payer,
    private readonly call: Pick<QueryCall, "opensRequest"> = {},
  ) {}

  /**
   * Gets permission to run, usually at once. Errors: `balance_exhausted`, `monthly_cap_reached`, `meter_unreachable`,
   * `storage_full`.
   */
  reserve(effect: Effect): void | Promise<void> {
    const admitted = this.meter.admit(this.payer.namespaceId, effect === "reads");
    if (admitted instanceof Promise) {
      return admitted.then((admission) => {
        this.#admission = admission;
      });
    }
    this.#admission = admitted;
  }

  /**
   * Takes the price of the request and of the engine's work, also for a failed call. Takes nothing where nothing was
   * reserved.
   */
  settle({ rowsRead, rowsWritten }: Totals): void {
    if (this.#admission === null) return;
    this.meter.settle(this.#admission, {
      databaseId: this.payer.billedDatabaseId ?? this.payer.databaseId,
      requests: this.call.opensRequest === false ? 0 : 1,
      rowsRead,
      rowsWritten,
      costNanoUsd: costNanoUsd(rowsRead, rowsWritten, pricesOf(this.call)),
    });
  }

  /** Gives the reservation back; a settled price stays settled. */
  release(): void {
    if (this.#admission !== null) this.meter.release(this.#admission);
  }

  /**
   * Does work for which the namespace pays as for one call, by the last `figures`, also where it fails, for what it has
   * done until then. Errors: those of `reserve` and of the work.
   */
  async during<Value>(effect: Effect, work: () => Promise<Value>): Promise<Value> {
    await this.reserve(effect);
    try {
      return await work();
    } finally {
      if (this.figures) this.settle(this.figures);
      this.release();
    }
  }
}
