// The money of namespaces as Deno KV holds it. Times are unix milliseconds, amounts whole nano-dollars.

/**
 * The money of a namespace, in whole nano-dollars. At every commit:
 * `creditedNanoUsd = balanceNanoUsd + reservedNanoUsd + usedNanoUsd`, and all of them are safe integers from zero.
 */
export interface BalanceRecord {
  /** Free: neither spent nor in a block. */
  readonly balanceNanoUsd: number;
  /** Sum of the namespace's blocks. */
  readonly reservedNanoUsd: number;
  /** What was paid for usage. */
  readonly usedNanoUsd: number;
  /** Sum of all credits. */
  readonly creditedNanoUsd: number;
  /** What usage cost beyond what was there; nobody paid it. */
  readonly writtenOffNanoUsd: number;
  /** Most that may be paid in one UTC month. Null: no cap. */
  readonly monthlyCapNanoUsd: number | null;
  /** UTC month of `monthUsedNanoUsd`, `2026-11`. */
  readonly month: string;
  readonly monthUsedNanoUsd: number;
}

/** Money that one process has taken out of a balance to spend without asking. */
export interface BlockRecord {
  readonly amountNanoUsd: number;
  /** The process that spends it. */
  readonly owner: string;
  /** Wall time after which the owner counts as dead. */
  readonly expiresAtMs: number;
  /** The owner's number of the last change, by which it knows whether an unconfirmed change was made. */
  readonly stamp: number;
  /** Its money went back; kept for a while for an owner who has not heard. */
  readonly closed: boolean;
}

/** A payment. The same reference counts once. */
export interface CreditRecord {
  readonly reference: string;
  readonly amountNanoUsd: number;
  readonly createdAt: number;
}

/** What one database used in one UTC hour. Costs here include what was written off. */
export interface UsageRecord {
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costNanoUsd: number;
}
