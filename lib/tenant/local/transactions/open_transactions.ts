// The transactions over several calls that are open in this store: how many each token and database has, and their bounds.
import { AppError } from "../../../core/errors.ts";
import type { TransactionLimits } from "../../../core/limits_of_transactions.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { TransactionChildren } from "./transaction_children.ts";

/** Where one is to begin, and for whom. */
interface Asking {
  readonly lanes: DatabaseLanes;
  readonly tokenId: string;
  readonly signal: AbortSignal | null;
}

/** One that is to begin when there is room. */
interface Waiting extends Omit<Asking, "signal"> {
  /** Begins it, or fails for want of room. */
  readonly begin: () => void;
}

/** They, and the children that they are in. */
export class OpenTransactions {
  readonly #byToken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #stopping = false;

  constructor(
    readonly children: TransactionChildren,
    readonly limits: TransactionLimits,
  ) {}

  /** Counts one more. Errors: `transaction_limit`, `shutting_down`. */
  admit(lanes: DatabaseLanes, tokenId: string): void {
    if (this.#stopping) throw new AppError("shutting_down");
    if (!this.#hasRoom(lanes, tokenId)) throw new AppError("transaction_limit");
    this.#byToken.set(tokenId, (this.#byToken.get(tokenId) ?? 0) + 1);
  }

  /**
   * Begins one, which is to be admitted at that: when there is room for it, in the order of those that wait. `signal`: whoever
   * asks has gone, so it waits no longer.
   */
  inTurn<T>({ lanes, tokenId, signal }: Asking, begin: () => T): Promise<T> {
    if (this.#hasRoom(lanes, tokenId) || signal?.aborted || !this.#mayWait(lanes)) return Promise.try(begin);
    return new Promise((resolve) => {
      const beginNow = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", beginNow);
        this.#waiting.delete(waiting);
        resolve(Promise.try(begin));
      };
      const waiting = { lanes, tokenId, begin: beginNow };
      const timer = setTimeout(beginNow, this.limits.waitMs);
      signal?.addEventListener("abort", beginNow);
      this.#waiting.add(waiting);
    });
  }

  #mayWait({ namespaceId }: DatabaseLanes): boolean {
    const { mostWaiting, mostWaitingOfNamespace } = this.limits;
    const own = [...this.#waiting].filter(({ lanes }) => lanes.namespaceId === namespaceId).length;
    return !this.#stopping && this.#waiting.size < mostWaiting && own < mostWaitingOfNamespace;
  }

  #hasRoom({ transactions }: DatabaseLanes, tokenId: string): boolean {
    const { mostOfDatabase, mostOfToken } = this.limits;
    return transactions.size < mostOfDatabase && (this.#byToken.get(tokenId) ?? 0) < mostOfToken;
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
    for (const { begin } of this.#waiting) begin();
    await Promise.all([...all].map((lanes) => this.endAll(lanes, "the service stopped")));
    await this.children.stop();
  }

  /** Counts one less, which may be room for one that waits. */
  leave(tokenId: string): void {
    const left = (this.#byToken.get(tokenId) ?? 1) - 1;
    if (left > 0) this.#byToken.set(tokenId, left);
    else this.#byToken.delete(tokenId);
    this.beginWaiting();
  }

  /** Call where a database may have room for one more. */
  beginWaiting(): void {
    for (const { lanes, tokenId, begin } of this.#waiting) if (this.#hasRoom(lanes, tokenId)) begin();
  }
}
