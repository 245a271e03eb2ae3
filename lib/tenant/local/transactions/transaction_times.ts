// When the time of an open transaction is up. Pure.
import type { TransactionLimits } from "../../../core/limits_of_transactions.ts";

/** Times by the monotonic clock; null: it has not happened. */
export interface Times {
  /** The last statement ended, or the transaction began. */
  readonly lastMs: number;
  /** It took its snapshot or the slot. */
  readonly begunMs: number | null;
  /** It took the write slot. */
  readonly leasedMs: number | null;
}

/** When a transaction between two statements is ended, and why. `othersWait`: for the write slot that it has. */
export function nextEnd(
  { lastMs, begunMs, leasedMs }: Times,
  { idleMs, longestMs, leaseMs }: TransactionLimits,
  othersWait: boolean,
): { readonly atMs: number; readonly why: string } {
  const ends = [{ atMs: lastMs + idleMs, why: `it was idle for ${seconds(idleMs)}` }];
  const since = leasedMs ?? begunMs;
  if (since !== null) ends.push({ atMs: since + longestMs, why: `it was open for ${seconds(longestMs)}` });
  if (leasedMs !== null && othersWait) {
    ends.push({
      atMs: leasedMs + leaseMs,
      why: `it had the write slot for ${seconds(leaseMs)} and others waited`,
    });
  }
  return ends.reduce((first, one) => one.atMs < first.atMs ? one : first);
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
