// The money of namespaces, as their owners and the operator see and change it.
import type { Clock } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { keys } from "../../store/keys.ts";
import { kvCall, kvGet } from "../../store/kv_call.ts";
import type { BalanceRecord, CreditRecord } from "../../store/money_records.ts";
import { removeAll } from "../../store/remove_all.ts";
import { type Also, nothingElse } from "../../store/until_committed.ts";
import { type AccountStep, changeAccount, inMonth } from "./change_account.ts";
import {
  readUsage,
  sumUsage,
  type UsagePage,
  type UsageRange,
  type UsageRows,
  type UsageSums,
} from "./read_usage.ts";

/** A payment. */
export interface CreditInput {
  /** From 1. */
  readonly amountNanoUsd: number;
  /** At most 200 code points; a reference counts once. */
  readonly reference: string;
}

/** What became of a payment. */
export interface CreditOutcome {
  readonly credit: CreditRecord;
  /** False when the reference had counted before; `credit` is the first payment then. */
  readonly isNew: boolean;
}

const MAX_REFERENCE_LENGTH = 200;

/** Every method's errors: `meter_unreachable`. */
export class Ledger {
  /** `changed` is called with every namespace whose money changed here, and resolves when its spenders know. */
  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly changed: (namespaceId: string) => Promise<void> = () => Promise.resolve(),
  ) {}

  /** The balance in the current month; null when there is no such namespace. */
  async balance(namespaceId: string): Promise<BalanceRecord | null> {
    const balance = (await kvGet(this.kv, keys.balance(namespaceId))).value;
    return balance && inMonth(balance, namespaceId, this.clock.now());
  }

  /**
   * Adds money; `also` writes to the commit that adds it. Errors: `namespace_not_found`; `validation_failed` when the
   * reference counted with another amount, or when the sum of all credits would exceed 2^53 - 1 nano-dollars. After
   * `meter_unreachable` it can be repeated with its reference.
   */
  async credit(
    namespaceId: string,
    { amountNanoUsd, reference }: CreditInput,
    also: (commit: Deno.AtomicOperation) => void = () => {},
  ): Promise<CreditOutcome> {
    if (!Number.isSafeInteger(amountNanoUsd) || amountNanoUsd < 1) throw new RangeError("amountNanoUsd");
    if (reference === "" || [...reference].length > MAX_REFERENCE_LENGTH) throw new RangeError("reference");
    const key = keys.credit(namespaceId, reference);
    const outcome = await changeAccount<CreditOutcome>(this.kv, namespaceId, async (balance) => {
      const entry = await kvGet(this.kv, key);
      if (entry.versionstamp !== null) return repeated(entry.value, amountNanoUsd);
      const creditedNanoUsd = balance.creditedNanoUsd + amountNanoUsd;
      if (!Number.isSafeInteger(creditedNanoUsd)) {
        throw amountError("Credit less; the sum of all credits would be above the largest amount kept");
      }
      const credit: CreditRecord = { reference, amountNanoUsd, createdAt: this.clock.now() };
      return {
        next: { ...balance, creditedNanoUsd, balanceNanoUsd: balance.balanceNanoUsd + amountNanoUsd },
        also: (atomic) => also(atomic.check(entry).set(key, credit)),
        outcome: { credit, isNew: true },
      };
    });
    void this.changed(namespaceId);
    return outcome;
  }

  /**
   * Sets the monthly cap, or removes it for null; `also` writes to the commit that does, and is told the one before. The next
   * call of this process runs under it. Errors: `namespace_not_found`.
   */
  async setMonthlyCap(
    namespaceId: string,
    monthlyCapNanoUsd: number | null,
    also: Also<[former: number | null]> = nothingElse,
  ): Promise<void> {
    if (monthlyCapNanoUsd !== null && (!Number.isSafeInteger(monthlyCapNanoUsd) || monthlyCapNanoUsd < 0)) {
      throw new RangeError("monthlyCapNanoUsd");
    }
    await changeAccount(this.kv, namespaceId, (found) => ({
      next: { ...inMonth(found, namespaceId, this.clock.now()), monthlyCapNanoUsd },
      also: (atomic) => also(atomic, found.monthlyCapNanoUsd),
      outcome: null,
    }));
    await this.changed(namespaceId);
  }

  /**
   * Usage in the order of time. Errors: `validation_failed` when all of it is too much for one answer, and for what is no
   * cursor.
   */
  usage(namespaceId: string, range: UsageRange, page: UsagePage): Promise<UsageRows> {
    return readUsage(this.kv, namespaceId, range, page);
  }

  /** The same in sums, whatever the number of databases. `only`: the database whose hours or days are told; null: all. */
  usageSums(namespaceId: string, range: UsageRange, only: string | null): Promise<UsageSums> {
    return sumUsage(this.kv, namespaceId, { ...range, only });
  }

  /** Deletes all money records of a removed namespace. It can be repeated. */
  async remove(namespaceId: string): Promise<void> {
    // The balance goes first: without it no process can reserve, pay or be credited.
    await kvCall(() => this.kv.delete(keys.balance(namespaceId)));
    await removeAll(this.kv, keys.balanceBlocksOf(namespaceId));
    await removeAll(this.kv, keys.credits(namespaceId));
    await removeAll(this.kv, keys.usageOf(namespaceId));
    void this.changed(namespaceId);
  }
}

function repeated(credit: CreditRecord, amountNanoUsd: number): AccountStep<CreditOutcome> {
  if (credit.amountNanoUsd !== amountNanoUsd) {
    throw amountError("Choose another reference; this one was credited with another amount");
  }
  return { next: null, outcome: { credit, isNew: false } };
}

function amountError(message: string): AppError {
  return invalidInput("amountUsd", message);
}
