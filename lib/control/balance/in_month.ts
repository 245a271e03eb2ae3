// Which month spending counts in.
import { isoTime } from "../../core/clock.ts";
import type { BalanceRecord } from "../../store/money_records.ts";

/** The balance as it stands in the UTC month of `nowMs`. A clock that goes back does not bring a past month back. */
export function inMonth(balance: BalanceRecord, nowMs: number): BalanceRecord {
  const month = isoTime(nowMs).slice(0, 7);
  return month > balance.month ? { ...balance, month, monthUsedNanoUsd: 0 } : balance;
}
