// The transactions over several calls that are open in this store: how many each token and database has, and their bounds.
import { AppError } from "../../core/errors.ts";
import type { TransactionLimits } from "../../core/limits_of_transactions.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { TransactionChildren } from "./transaction_children.ts";

/** They, and the children that they are in. */
export class OpenTransactions {
  readonly #byToken = new Map<string, number>();
  #stopping = false;

  constructor(
    readonly children: TransactionChildren,
    readonly limits: TransactionLimits,
  ) {}

  /** Counts one more. Errors: `transaction_limit`. */
  admit({ transactions }: DatabaseLanes, tokenId: string): void {
    if (this.#stopping) throw new AppError("shutting_down");
    const ofToken = this.#byToken.get(tokenId) ?? 0;
    const { mostOfDatabase, mostOfToken } = this.limits;
    if (transactions.size >= mostOfDatabase || ofToken >= mostOfToken) {
      throw new AppError("transaction_limit");
    }
    this.#byToken.set(tokenId, ofToken + 1);
  }

  /** Takes all of a database away; resolves when nothing of them is left. */
  async endAll({ transactions }: DatabaseLanes, why: string): Promise<void> {
    await Promise.all([...transactions].map((one) => one.end(why)));
  }

  /** Closes a database without transactions in every child. */
  closeEverywhere(databaseId: string): Promise<void> {
    return this.children.closeEverywhere(databaseId);
  }

  /** Bytes that the children hold. */
  get heldBytes(): number {
    return this.children.heldBytes;
  }

  /** Takes all away and ends the children. */
  async stop(all: Iterable<DatabaseLanes>): Promise<void> {
    this.#stopping = true;
    await Promise.all([...all].map((lanes) => this.endAll(lanes, "the service stopped")));
    await this.children.stop();
  }

  /** Counts one less. */
  leave(tokenId: string): void {
    const left = (this.#byToken.get(tokenId) ?? 1) - 1;
    if (left > 0) this.#byToken.set(tokenId, left);
    else this.#byToken.delete(tokenId);
  }
}
