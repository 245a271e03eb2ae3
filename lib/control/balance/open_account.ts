// The money record, which every namespace has from its first commit on.
import { isoTime } from "../../core/clock.ts";
import { keys } from "../../store/keys.ts";

/** The reference of the credit that a new namespace gets. */
export const WELCOME_REFERENCE = "welcome";

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
      month: isoTime(nowMs).slice(0, 7),
      monthUsedNanoUsd: 0,
    })
    .set(keys.credit(namespaceId, WELCOME_REFERENCE), {
      reference: WELCOME_REFERENCE,
      amountNanoUsd: creditNanoUsd,
      createdAt: nowMs,
    });
}
