// The money record of a namespace: opened with the namespace, and changed in one way only, by one atomic commit that
// checks it.
import { DAY_MS, isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { idTime } from "../../core/ids.ts";
import { keys } from "../../store/keys.ts";
import { kvCommit, kvGet } from "../../store/kv_call.ts";
import type { BalanceRecord } from "../../store/money_records.ts";
import { FASTER, untilCommitted } from "../../store/until_committed.ts";

/** The result of a change. */
export interface AccountStep<Outcome> {
  /** Null commits nothing. */
  readonly next: BalanceRecord | null;
  /** Writes for the same commit. What they depend on may change only together with the balance record. */
  readonly also?: (atomic: Deno.AtomicOperation) => void;
  readonly outcome: Outcome;
}

/**
 * Reads the balance, lets `step` read what else it needs and decide, and commits; again when somebody was faster.
 * Errors: `namespace_not_found`; `meter_unreachable`, after which the change may have been made.
 */
export async function changeAccount<Outcome>(
  kv: Deno.Kv,
  namespaceId: string,
  step: (balance: BalanceRecord) => AccountStep<Outcome> | Promise<AccountStep<Outcome>>,
): Promise<Outcome> {
  return await untilCommitted(async () => {
    // Read first, so that `step` reads nothing older: an older read would pass the check.
    const entry = await kvGet(kv, keys.balance(namespaceId));
    if (entry.versionstamp === null) throw new AppError("namespace_not_found");
    const { next, also, outcome } = await step(entry.value);
    if (next === null) return outcome;
    assertAddsUp(next);
    const atomic = kv.atomic().check(entry).set(keys.balance(namespaceId), next);
    also?.(atomic);
    return await kvCommit(atomic) ? outcome : FASTER;
  });
}

/** A balance that does not add up is a fault of ours and must not be stored. */
function assertAddsUp(balance: BalanceRecord): void {
  const { balanceNanoUsd, reservedNanoUsd, usedNanoUsd, creditedNanoUsd, writtenOffNanoUsd } = balance;
  const amounts = [balanceNanoUsd, reservedNanoUsd, usedNanoUsd, creditedNanoUsd, writtenOffNanoUsd];
  const whole = amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0);
  if (!whole || creditedNanoUsd !== balanceNanoUsd + reservedNanoUsd + usedNanoUsd) {
    throw new RangeError("the balance does not add up");
  }
}

/** Milliseconds of the longest month, and a day. */
const LONGEST_MONTH_MS = 32 * DAY_MS;

/** The balance in the UTC month of `nowMs`. A clock that goes back does not bring a past month back. */
export function inMonth(balance: BalanceRecord, namespaceId: string, nowMs: number): BalanceRecord {
  const month = monthOf(nowMs);
  if (month > balance.month) return { ...balance, month, monthUsedNanoUsd: 0 };
  // A month that a clock far ahead has begun would last until it is over. What was used in it counts in this one.
  const isFarAhead = balance.month > monthOf(nowMs + LONGEST_MONTH_MS);
  // A clock that stands before the namespace was made is wrong itself.
  return isFarAhead && nowMs >= idTime(namespaceId) ? { ...balance, month } : balance;
}

function monthOf(unixMs: number): string {
  return isoTime(unixMs).slice(0, 7);
}

/** The reference of the credit that a new namespace gets. */
const WELCOME_REFERENCE = "welcome";

/** An account to open. */
export interface NewAccount {
  readonly namespaceId: string;
  /** Nano-dollars of the welcome credit, from 0. */
  readonly creditNanoUsd: number;
  readonly nowMs: number;
}

/** Adds the account to the commit that creates the namespace. The commit fails when there is one already. */
export function openAccount(atomic: Deno.AtomicOperation, account: NewAccount): Deno.AtomicOperation {
  const { namespaceId, creditNanoUsd, nowMs } = account;
  if (!Number.isSafeInteger(creditNanoUsd) || creditNanoUsd < 0) throw new RangeError("creditNanoUsd");
  const key = keys.balance(namespaceId);
  return atomic.check({ key, versionstamp: null })
    .set(key, {
      balanceNanoUsd: creditNanoUsd,
      reservedNanoUsd: 0,
      usedNanoUsd: 0,
      creditedNanoUsd: creditNanoUsd,
      writtenOffNanoUsd: 0,
      monthlyCapNanoUsd: null,
      month: monthOf(nowMs),
      monthUsedNanoUsd: 0,
    })
    .set(keys.credit(namespaceId, WELCOME_REFERENCE), {
      reference: WELCOME_REFERENCE,
      amountNanoUsd: creditNanoUsd,
      createdAt: nowMs,
    });
}
