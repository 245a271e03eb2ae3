// Failed logins by account and hour. Each guess is settled by one read or one commit here, whatever runs at the same
// time: of any number of concurrent guesses only the first ten failures tell the guesser something.
import { type Clock, HOUR_MS, isOfClockPutBack } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { keys } from "../store/keys.ts";
import { isKvFull, kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { LoginFailuresRecord } from "../store/account_records.ts";
import { type Also, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";

/** Failures of one account in one hour, unless told otherwise. */
const MAX_FAILURES = 10;
/** Accounts counted in memory; with more, a log-in is refused. */
const MAX_UNWRITTEN = 10_000;

/** The first delay of an account that only slows down, and the longest: each failure doubles it. Milliseconds. */
const FIRST_DELAY_MS = 30_000;
const MAX_DELAY_MS = 900_000;

/** What a guess counts for. */
export interface Counted {
  /** A keyed hash: of the address as typed, or of the user whom it means. */
  readonly account: string;
  /** Counts only what comes from there (a hashed address). */
  readonly client?: string;
  /**
   * Ten failures begin a delay in front of each further one instead of closing the account for the rest of the hour: nobody
   * can lock out somebody else.
   */
  readonly slows?: boolean;
}

interface Count extends Counted {
  readonly entry: Deno.KvEntryMaybe<LoginFailuresRecord>;
}

/**
 * One guess counts for all that is `counted`. Every method answers the seconds for which one of them stays locked, 0
 * when none is. Errors: `meter_unreachable`.
 */
export class LoginFailures {
  /** Counts for which KV had no room, by key. */
  readonly #unwritten = new Map<string, LoginFailuresRecord>();

  /** `maxFailures` in one hour. */
  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly maxFailures = MAX_FAILURES,
  ) {}

  /** Reads whether one is locked. Errors: also `storage_full`, while nothing can count a failure. */
  async lockedSec(databaseId: string, counted: readonly Counted[]): Promise<number> {
    this.#forgetOver();
    if (this.#unwritten.size + counted.length > MAX_UNWRITTEN) throw new AppError("storage_full");
    return this.#longestSec(await this.#read(databaseId, counted));
  }

  /** Counts a failure for each. When one is locked, this failure was too many for it and was counted for none. */
  async add(databaseId: string, counted: readonly Counted[]): Promise<number> {
    return await untilCommitted(async () => {
      const counts = await this.#read(databaseId, counted);
      const lockedSec = this.#longestSec(counts);
      if (lockedSec > 0) return lockedSec;
      const entries = counts.map(({ entry }) => entry);
      const atomic = this.kv.atomic().check(...entries);
      for (const entry of entries) {
        const next = this.#next(entry);
        atomic.set(entry.key, next, { expireIn: Math.max(1, next.untilMs - this.clock.now()) });
      }
      return await this.#counted(entries, atomic) ? 0 : FASTER;
    });
  }

  /** Forgets the failures of accounts, wherever they came from. `also` is written with the first thing that goes. */
  async forget(databaseId: string, accounts: readonly string[], also: Also = nothingElse): Promise<void> {
    let first = also;
    for (const account of accounts) {
      const key = keys.loginFailures(databaseId, account);
      const from = await Array.fromAsync(kvEntries(this.kv, key));
      for (const gone of [key, ...from.map((entry) => entry.key)]) {
        await kvCommit(first(this.kv.atomic().delete(gone)));
        first = nothingElse;
      }
      this.#forgetUnwritten(key.join("/"));
    }
  }

  /** Without room in KV the count goes on here: a full disk must not make guessing free. */
  async #counted(
    entries: readonly Deno.KvEntryMaybe<LoginFailuresRecord>[],
    atomic: Deno.AtomicOperation,
  ): Promise<boolean> {
    try {
      return await kvCommit(atomic);
    } catch (error) {
      if (!isKvFull(error) || this.#unwritten.size + entries.length > MAX_UNWRITTEN) throw error;
      for (const entry of entries) this.#unwritten.set(entry.key.join("/"), this.#next(entry));
      return true;
    }
  }

  #read(databaseId: string, counted: readonly Counted[]): Promise<Count[]> {
    return Promise.all(counted.map(async (one) => {
      const { account, client } = one;
      const key = client === undefined
        ? keys.loginFailures(databaseId, account)
        : keys.loginFailuresFrom(databaseId, account, client);
      return { ...one, entry: await kvGet(this.kv, key) };
    }));
  }

  #longestSec(counts: readonly Count[]): number {
    return Math.max(0, ...counts.map((count) => this.#lockedSec(count)));
  }

  #next(entry: Deno.KvEntryMaybe<LoginFailuresRecord>): LoginFailuresRecord {
    const { count, untilMs } = this.#current(entry);
    return { count: count + 1, untilMs, lastMs: this.clock.now() };
  }

  #current({ key, value }: Deno.KvEntryMaybe<LoginFailuresRecord>): LoginFailuresRecord {
    const nowMs = this.clock.now();
    const live = [value, this.#unwritten.get(key.join("/")) ?? null].filter((one) =>
      one !== null && counts(one, nowMs)
    );
    return live.toSorted((a, b) => (b?.count ?? 0) - (a?.count ?? 0))[0] ??
      { count: 0, untilMs: nowMs + HOUR_MS };
  }

  /** Of those from one address KV may know nothing. */
  #forgetUnwritten(account: string): void {
    for (const name of this.#unwritten.keys()) {
      if (name === account || name.startsWith(`${account}/`)) this.#unwritten.delete(name);
    }
  }

  #forgetOver(): void {
    const nowMs = this.clock.now();
    for (const [key, { untilMs }] of this.#unwritten) {
      // In the order of their ends, because all last an hour.
      if (counts({ untilMs }, nowMs)) return;
      this.#unwritten.delete(key);
    }
  }

  #lockedSec({ entry, slows = false }: Count): number {
    const { count, untilMs, lastMs = 0 } = this.#current(entry);
    const over = count - this.maxFailures;
    if (over < 0) return 0;
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(over, 20));
    const leftMs = (slows ? Math.min(untilMs, lastMs + delayMs) : untilMs) - this.clock.now();
    return slows && leftMs <= 0 ? 0 : Math.max(1, Math.ceil(leftMs / 1000));
  }
}

/** Failures of a clock that has been put back since would close accounts for as long as that clock was ahead. */
function counts({ untilMs }: Pick<LoginFailuresRecord, "untilMs">, nowMs: number): boolean {
  return untilMs > nowMs && !isOfClockPutBack(untilMs - HOUR_MS, nowMs);
}
