// What one process knows and owes of one namespace's money: its block, its running calls and those that wait. In
// memory only.
import type { ErrorCode } from "../../core/errors.ts";
import type { BlockRecord } from "../../store/money_records.ts";
import {
  BLOCK_SECONDS,
  BOOKED_A_SECOND,
  BOOKED_WITHIN_SEC,
  CHARGED_AT_ONCE,
  FIRST_GUESS_NANO_USD,
  IDLE_MS,
  MIN_BLOCK_NANO_USD,
  TRUSTED_MS,
  TRUSTED_NANO_USD,
} from "./balance_limits.ts";
import { addUsage, type CallUsage, type DatabaseUsage, usageOf } from "./database_usage.ts";
import type { BlockPlan } from "./plan_block.ts";

/** The admission of one call. It ends with `settle` or `release`; ending it again does nothing. */
export class Admission {
  /** @internal */
  open = true;
  constructor(/** @internal */ readonly account: SpendingAccount) {}
}

/** Spending that is being written to KV. */
export interface Charge {
  readonly costNanoUsd: number;
  readonly databases: ReadonlyMap<string, DatabaseUsage>;
  /** Written into the block's record by the commit that pays the spending. */
  readonly stamp: number;
}

interface Waiter {
  readonly resolve: (admission: Admission) => void;
  readonly reject: (error: unknown) => void;
  readonly sinceMs: number;
  /** Whether the call only reads. */
  readonly reads: boolean;
}

interface Refusal {
  readonly code: ErrorCode;
  readonly untilMs: number;
}

/** Times are monotonic milliseconds, amounts nano-dollars. */
export class SpendingAccount {
  /** What may still be spent: the block minus what is not paid yet. Negative when a call was dearer than expected. */
  left = 0;
  inFlight = 0;
  /** The dearest recent call: each running call is expected to cost as much. */
  dearest = FIRST_GUESS_NANO_USD;
  /** Until when the block is ours. */
  leaseUntilMs = -Infinity;
  /** Below this a refill is requested in advance. */
  refillBelow = -Infinity;
  lastUsedMs: number;
  renewedMs = -Infinity;
  syncedMs = -Infinity;
  /** Whether nothing more can be reserved, as KV said last. */
  end: BlockPlan["end"] = null;
  refusal: Refusal | null = null;
  /** Whether the money was changed here while KV was being asked. */
  hasNews = false;
  syncing: Promise<void> | null = null;
  readonly waiters: Waiter[] = [];

  /** The block as last confirmed. */
  amount = 0;
  /** Spent and not confirmed as paid: `charge` and `#fresh` together. */
  #unpaid = 0;
  /** What may be unpaid while KV has no room, and until when that holds. */
  #trusted = 0;
  #trustedUntilMs = -Infinity;
  #charge: Charge | null = null;
  readonly #fresh = new Map<string, DatabaseUsage>();
  #last: DatabaseUsage | null = null;
  #ratePerSec = 0;
  #sinceBeat = 0;
  #beatMs: number;

  constructor(readonly namespaceId: string, nowMs: number) {
    this.lastUsedMs = nowMs;
    this.#beatMs = nowMs;
  }

  /** Whether the block pays the next call and all that run. A single call may be dearer than what is left. */
  covers(nowMs: number): boolean {
    return this.left > 0 && nowMs < this.leaseUntilMs &&
      (this.inFlight === 0 || this.left >= (this.inFlight + 1) * this.dearest);
  }

  /** Whether reads may go on although KV has no room for their cost. */
  trusts(nowMs: number): boolean {
    return nowMs < this.#trustedUntilMs && this.#trusted > this.#unpaid + this.inFlight * this.dearest;
  }

  /** The most that may be spent, as KV says; more than the bound is never owed. */
  trustUpTo(nanoUsd: number): void {
    this.#trusted = Math.min(nanoUsd, TRUSTED_NANO_USD);
  }

  /** KV can be read and takes no changes. */
  notBooked(nowMs: number): void {
    this.#trustedUntilMs = nowMs + TRUSTED_MS;
  }

  begin(nowMs: number): Admission {
    this.inFlight++;
    this.lastUsedMs = nowMs;
    return new Admission(this);
  }

  /** Notes what a call used. */
  spend(usage: CallUsage): void {
    const cost = usage.costNanoUsd;
    this.left -= cost;
    this.#unpaid += cost;
    this.#sinceBeat += cost;
    if (cost > this.dearest) this.dearest = cost;
    let database = this.#last;
    if (database === null || database.databaseId !== usage.databaseId) {
      database = usageOf(this.#fresh, usage.databaseId, this.#beatMs);
      this.#last = database;
    }
    addUsage(database, usage);
  }

  /** Whether there is something to write to KV besides a renewal. */
  get owes(): boolean {
    return this.#fresh.size > 0 || this.#charge !== null;
  }

  /** How many databases the next commit is to book, of those that have waited longest. */
  get share(): number {
    return Math.min(
      CHARGED_AT_ONCE,
      Math.max(BOOKED_A_SECOND, Math.ceil(this.#fresh.size / BOOKED_WITHIN_SEC)),
    );
  }

  /** Whether more is to be booked than that share, because some of it has waited for so long. */
  isBehind(nowMs: number): boolean {
    if (this.#fresh.size <= BOOKED_A_SECOND) return false;
    const [oldest] = this.#fresh.values();
    return oldest !== undefined && nowMs - oldest.sinceMs >= (BOOKED_WITHIN_SEC - 1) * 1000;
  }

  isIdle(nowMs: number): boolean {
    return this.inFlight === 0 && this.waiters.length === 0 && nowMs - this.lastUsedMs >= IDLE_MS;
  }

  /** The part of the block that pays what is booked after the next commit. */
  get bookedLater(): number {
    return this.#unpaid - (this.#charge?.costNanoUsd ?? 0);
  }

  /** The size that the block should have after the next commit. */
  wanted(nowMs: number): number {
    const later = this.bookedLater;
    if (this.isIdle(nowMs)) return later;
    const perSec = Math.max(
      this.#ratePerSec,
      this.#sinceBeat / Math.max(0.25, (nowMs - this.#beatMs) / 1000),
    );
    const calls = this.inFlight + this.waiters.length + 1;
    return later + Math.ceil(Math.max(MIN_BLOCK_NANO_USD, BLOCK_SECONDS * perSec, 2 * calls * this.dearest));
  }

  /** Called about once a second: old observations fade. */
  beat(nowMs: number): void {
    const elapsedSec = Math.max(0.001, (nowMs - this.#beatMs) / 1000);
    this.#ratePerSec = Math.max(this.#sinceBeat / elapsedSec, this.#ratePerSec * 0.7);
    this.#sinceBeat = 0;
    this.#beatMs = nowMs;
    this.dearest = Math.max(FIRST_GUESS_NANO_USD, Math.ceil(this.dearest * 0.9));
  }

  /** Checks in our block's record whether an unconfirmed commit was made. */
  resolveDoubt(block: BlockRecord | null): void {
    if (this.#charge === null || block?.stamp !== this.#charge.stamp) return;
    this.#paid(this.#charge, block.amountNanoUsd);
  }

  /**
   * What the next commit is to pay, of so many databases at most. Spending whose commit was not confirmed comes again
   * unchanged and with its old stamp, so that it is paid once whichever commit is made. Later spending waits for the next
   * commit.
   */
  takeCharge(nextStamp: () => number, most: number): Charge {
    if (this.#charge !== null) return this.#charge;
    const databases = new Map([...this.#fresh].slice(0, most));
    let costNanoUsd = 0;
    for (const [databaseId, usage] of databases) {
      costNanoUsd += usage.costNanoUsd;
      this.#fresh.delete(databaseId);
    }
    this.#last = null;
    this.#charge = { costNanoUsd, databases, stamp: nextStamp() };
    return this.#charge;
  }

  /** Before a commit: what may be spent while it is not known whether the commit is made. */
  expect(charge: Charge, amountNanoUsd: number): void {
    this.left = Math.min(this.left, amountNanoUsd - (this.#unpaid - charge.costNanoUsd));
  }

  /** After a commit. */
  confirm(charge: Charge, plan: BlockPlan): void {
    this.#paid(charge, plan.amountNanoUsd);
    this.#trustedUntilMs = -Infinity;
    this.end = plan.end;
    this.refillBelow = plan.end === null ? this.left / 2 : -Infinity;
  }

  /** Admits waiting calls while the money covers them. */
  serve(nowMs: number): void {
    while (this.waiters.length > 0 && this.covers(nowMs)) this.waiters.shift()?.resolve(this.begin(nowMs));
    if (nowMs >= this.#trustedUntilMs) return;
    for (const waiter of this.waiters.splice(0)) {
      if (waiter.reads && this.trusts(nowMs)) waiter.resolve(this.begin(nowMs));
      else this.waiters.push(waiter);
    }
  }

  /** Refuses all waiting calls, or those that came before `beforeMs`. */
  refuse(error: unknown, beforeMs = Infinity): void {
    for (let first = this.waiters[0]; first && first.sinceMs < beforeMs; first = this.waiters[0]) {
      this.waiters.shift();
      first.reject(error);
    }
  }

  #paid(charge: Charge, amountNanoUsd: number): void {
    this.#unpaid -= charge.costNanoUsd;
    this.#charge = null;
    this.amount = amountNanoUsd;
    this.left = amountNanoUsd - this.#unpaid;
  }
}
