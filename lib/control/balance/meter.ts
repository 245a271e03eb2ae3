// Prepaid balance as one process spends it: calls are admitted against a block in memory, and KV is written once a
// second, where a namespace has many databases in use for a part of them.
import type { Clock } from "../../core/clock.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import { CHARGED_AT_ONCE, LEASE_MS, MAX_WAIT_MS, REFUSED_MS } from "./balance_limits.ts";
import type { CallUsage } from "./database_usage.ts";
import { Admission, SpendingAccount } from "./spending_account.ts";
import { isKvFull } from "../../store/kv_call.ts";
import { BlockSweeper } from "./sweep_blocks.ts";
import { syncBlock, type SyncContext } from "./sync_block.ts";

/** What a meter is told of its process. */
export interface MeterOptions {
  /** Milliseconds that a silent process's block stays reserved. */
  readonly leaseMs?: number;
  /** No process on another machine has blocks. */
  readonly isAlone?: boolean;
}

/** Accounts written at the same time: KV is one thread. */
const SYNCED_AT_ONCE = 16;
/** Commits that pay everything when the meter closes: one in doubt, the spending after it, and one more. */
const CLOSING_ROUNDS = 3;

/**
 * The meter of a process. Its owner calls `tick` every second and `sweepBlocks` every ten, and `close` when no call
 * runs any more.
 */
export class Meter {
  readonly #accounts = new Map<string, SpendingAccount>();
  readonly #ctx: SyncContext;
  readonly #sweeper: BlockSweeper;
  #ticking: Promise<void> | null = null;
  #closing = false;
  #stamp = 0;

  constructor(kv: Deno.Kv, private readonly clock: Clock, options: MeterOptions = {}) {
    const owner = crypto.randomUUID();
    const leaseMs = options.leaseMs ?? LEASE_MS;
    // Our lease ends well before a sweep may take the block, by a clock that does not jump.
    this.#ctx = { kv, clock, owner, leaseMs, localLeaseMs: leaseMs * 0.75, nextStamp: () => ++this.#stamp };
    this.#sweeper = new BlockSweeper(kv, clock, { leaseMs, isAlone: options.isAlone ?? false });
  }

  /**
   * Admits one call, at once while the namespace's block has money. End the admission with `settle` or `release`.
   * Where KV has no room, calls that only read (`reads`) go on up to a bound of debt. Never throws: a refusal is a
   * rejected promise, and then nothing may run. Errors: `balance_exhausted`, `monthly_cap_reached`,
   * `meter_unreachable`, `storage_full`, `namespace_not_found`, `shutting_down`.
   */
  admit(namespaceId: string, reads = false): Admission | Promise<Admission> {
    const nowMs = this.clock.monotonicMs();
    const account = this.#accounts.get(namespaceId);
    if (account !== undefined && (account.covers(nowMs) || (reads && account.trusts(nowMs)))) {
      return account.begin(nowMs);
    }
    return this.#admitLater(account ?? this.#open(namespaceId, nowMs), nowMs, reads);
  }

  /** Books what the call has used. */
  settle(admission: Admission, usage: CallUsage): void {
    if (!admission.open) return;
    admission.open = false;
    const { account } = admission;
    account.inFlight--;
    account.spend(usage);
    if (account.left < account.refillBelow) void this.#sync(account);
    if (account.waiters.length > 0) this.#serve(account, this.clock.monotonicMs());
  }

  /** Ends the admission of a call that never ran. After `settle` it does nothing. */
  release(admission: Admission): void {
    if (!admission.open) return;
    admission.open = false;
    const { account } = admission;
    account.inFlight--;
    if (account.waiters.length > 0) this.#serve(account, this.clock.monotonicMs());
  }

  /** What all blocks of the process hold at the moment. */
  get reservedNanoUsd(): number {
    return this.#accounts.values().reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Pays what was spent, renews leases, gives idle blocks back. Never fails: what did not work is tried again. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => this.#ticking = null);
    return this.#ticking;
  }

  /** Gives the blocks of dead processes back. Errors: `meter_unreachable`. */
  sweepBlocks(): Promise<void> {
    return this.#sweeper.sweep();
  }

  /**
   * To be called when the balance or its cap was changed here: KV is asked again before a refusal. Resolves when the block is
   * what KV grants after the change, or KV did not answer. Never fails.
   */
  async recheck(namespaceId: string): Promise<void> {
    const account = this.#accounts.get(namespaceId);
    if (account === undefined) return;
    account.refusal = null;
    // A commit under way may have read before the change.
    account.hasNews = account.syncing !== null;
    await account.syncing;
    await this.#sync(account);
  }

  /** Pays everything and gives the blocks back. Calls that settle later are paid one by one while KV is open. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#ticking;
    const accounts = [...this.#accounts.values()];
    for (const account of accounts) {
      account.leaseUntilMs = -Infinity;
      account.refuse(new AppError("shutting_down"));
    }
    for (let round = 0; round < CLOSING_ROUNDS; round++) {
      await inBatches(
        accounts.filter((account) => account.amount > 0 || account.owes || account.syncing),
        (account) => this.#sync(account),
      );
    }
  }

  #open(namespaceId: string, nowMs: number): SpendingAccount {
    const account = new SpendingAccount(namespaceId, nowMs);
    if (!this.#closing) this.#accounts.set(namespaceId, account);
    return account;
  }

  #admitLater(account: SpendingAccount, nowMs: number, reads: boolean): Promise<Admission> {
    if (this.#closing) return Promise.reject(new AppError("shutting_down"));
    if (account.refusal !== null && nowMs < account.refusal.untilMs) {
      return Promise.reject(new AppError(account.refusal.code));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    account.waiters.push({ resolve, reject, sinceMs: nowMs, reads });
    // A larger block lets more calls run at once, but KV must not be asked for each waiting call.
    const isSpent = account.left <= 0 || nowMs >= account.leaseUntilMs;
    if (isSpent || nowMs - account.syncedMs >= REFUSED_MS) void this.#sync(account);
    return promise;
  }

  async #tick(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const due: SpendingAccount[] = [];
    for (const account of this.#accounts.values()) {
      account.beat(nowMs);
      account.refuse(new AppError("meter_unreachable", { message: WAITED_MESSAGE }), nowMs - MAX_WAIT_MS);
      this.#serve(account, nowMs);
      const isStale = account.amount > 0 && nowMs - account.renewedMs >= this.#ctx.leaseMs / 4;
      if (account.owes || isStale || account.isIdle(nowMs)) due.push(account);
    }
    await inBatches(due, (account) => this.#sync(account));
  }

  /** Synchronises one account, one commit at a time. Never fails. */
  #sync(account: SpendingAccount): Promise<void> {
    account.syncing ??= this.#syncOnce(account);
    return account.syncing;
  }

  async #syncOnce(account: SpendingAccount): Promise<void> {
    // Starts after the caller has put this promise into `syncing`.
    await null;
    let failure: unknown = null;
    const wanted = (nowMs: number) => this.#closing ? account.bookedLater : account.wanted(nowMs);
    try {
      let most = account.share;
      do {
        await syncBlock(this.#ctx, account, { most, wanted });
        most = CHARGED_AT_ONCE;
      } while (account.isBehind(this.#closing ? Infinity : this.clock.monotonicMs()));
    } catch (error) {
      failure = error;
      if (isKvFull(error)) account.notBooked(this.clock.monotonicMs());
      // Not tried again by every call that settles: the next tick tries again.
      account.refillBelow = -Infinity;
    }
    account.syncing = null;
    const nowMs = this.clock.monotonicMs();
    account.syncedMs = nowMs;
    if (this.#closing) this.#afterClosing(account, failure);
    else if (failedWith(failure, "namespace_not_found")) this.#drop(account, failure);
    else this.#answer(account, failure, nowMs);
  }

  /** Admits waiting calls, or refuses them. */
  #answer(account: SpendingAccount, failure: unknown, nowMs: number): void {
    account.serve(nowMs);
    const isSpent = account.left <= 0 || nowMs >= account.leaseUntilMs;
    const mayHaveMore = account.hasNews || (failure === null && account.end === null);
    if (isSpent && mayHaveMore) {
      account.hasNews = false;
      if (account.waiters.length > 0) void this.#sync(account);
    } else if (isSpent) {
      const code = failure === null
        ? account.end ?? "balance_exhausted"
        : isKvFull(failure)
        ? "storage_full"
        : "meter_unreachable";
      account.refusal = { code, untilMs: nowMs + REFUSED_MS };
      account.refuse(failure === null || failure instanceof AppError ? new AppError(code) : failure);
    }
    if (failure === null && account.isIdle(nowMs) && account.amount === 0 && !account.owes) {
      this.#forget(account);
    }
  }

  #serve(account: SpendingAccount, nowMs: number): void {
    account.serve(nowMs);
    // No call is left whose end would admit the others.
    if (account.waiters.length > 0 && account.inFlight === 0) void this.#sync(account);
  }

  /** The namespace was deleted: nobody pays its debt. */
  #drop(account: SpendingAccount, error: unknown): void {
    account.leaseUntilMs = -Infinity;
    account.refillBelow = -Infinity;
    account.refuse(error);
    this.#forget(account);
  }

  #forget(account: SpendingAccount): void {
    if (this.#accounts.get(account.namespaceId) === account) this.#accounts.delete(account.namespaceId);
  }

  #afterClosing(account: SpendingAccount, failure: unknown): void {
    account.leaseUntilMs = -Infinity;
    account.refillBelow = Infinity;
    account.refuse(new AppError("shutting_down"));
    if (failure === null && account.owes) void this.#sync(account);
  }
}

const WAITED_MESSAGE =
  "Try again shortly; the balance is nearly used up and calls wait for one another, nothing ran";

async function inBatches(
  accounts: readonly SpendingAccount[],
  sync: (account: SpendingAccount) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < accounts.length; from += SYNCED_AT_ONCE) {
    await Promise.all(accounts.slice(from, from + SYNCED_AT_ONCE).map(sync));
  }
}
