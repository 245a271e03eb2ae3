// The money of namespaces as Deno KV stores it. Times are unix milliseconds, amounts whole nano-dollars.

/**
 * The money of a namespace. At every commit `creditedNanoUsd = balanceNanoUsd + reservedNanoUsd + usedNanoUsd`, and
 * all of them are safe integers from zero.
 */
export interface BalanceRecord {
  /** Neither spent nor in a block. */
  readonly balanceNanoUsd: number;
  /** The sum of the namespace's blocks. */
  readonly reservedNanoUsd: number;
  /** Paid for usage. */
  readonly usedNanoUsd: number;
  /** The sum of all credits. */
  readonly creditedNanoUsd: number;
  /** What usage cost beyond the money that was there; nobody paid it. */
  readonly writtenOffNanoUsd: number;
  /** The most that may be paid in one UTC month. Null: no cap. */
  readonly monthlyCapNanoUsd: number | null;
  /** The UTC month of `monthUsedNanoUsd`, as `2026-11`. */
  readonly month: string;
  readonly monthUsedNanoUsd: number;
}

/** Money that one process has reserved from a balance, to spend it without asking KV. */
export interface BlockRecord {
  readonly amountNanoUsd: number;
  /** The process that spends it. */
  readonly owner: string;
  /** The wall time after which the owner counts as dead. */
  readonly expiresAtMs: number;
  /** The owner's number for the last change: by it the owner knows whether an unconfirmed change was made. */
  readonly stamp: number;
  /** Its money went back. The record stays for a while, for an owner that has not seen it. */
  readonly closed: boolean;
}

/** A payment. A reference counts once. */
export interface CreditRecord {
  readonly reference: string;
  readonly amountNanoUsd: number;
  readonly createdAt: number;
}

/** What one database used in one UTC hour. Costs include what was written off. */
export interface UsageRecord {
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costNanoUsd: number;
}
