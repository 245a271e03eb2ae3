// Failed logins by account and hour. Each guess is settled by one read or one commit here, whatever runs at the same
// time: of any number of concurrent guesses only the first ten failures tell the guesser something.
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { keys } from "../store/keys.ts";
import { isKvFull, kvCommit, kvGet } from "../store/kv_call.ts";
import type { LoginFailuresRecord } from "../store/records.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";

/** Failures of one account in one hour, unless told otherwise. */
const MAX_FAILURES = 10;
const HOUR_MS = 3_600_000;
/** Accounts counted in memory; with more, a log-in is refused. */
const MAX_UNWRITTEN = 10_000;

/**
 * One guess counts for all of its `accounts` (keyed hashes: the address as typed, and the user whom it means). Every
 * method answers the seconds for which one of them stays locked, 0 when none is. Errors: `meter_unreachable`.
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
  async lockedSec(databaseId: string, accounts: readonly string[]): Promise<number> {
    this.#forgetOver();
    if (this.#unwritten.size + accounts.length > MAX_UNWRITTEN) throw new AppError("storage_full");
    return this.#longestSec(await this.#read(databaseId, accounts));
  }

  /** Counts a failure for each. When one is locked, this failure was too many for it and was counted for none. */
  async add(databaseId: string, accounts: readonly string[]): Promise<number> {
    return await untilCommitted(async () => {
      const entries = await this.#read(databaseId, accounts);
      const lockedSec = this.#longestSec(entries);
      if (lockedSec > 0) return lockedSec;
      const atomic = this.kv.atomic().check(...entries);
      for (const { key, value } of entries) {
        const { count, untilMs } = this.#current(key, value);
        const expireIn = Math.max(1, untilMs - this.clock.now());
        atomic.set(key, { count: count + 1, untilMs }, { expireIn });
      }
      if (await this.#counted(entries, atomic)) return 0;
      return FASTER;
    });
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
      for (const { key, value } of entries) {
        const { count, untilMs } = this.#current(key, value);
        this.#unwritten.set(key.join("/"), { count: count + 1, untilMs });
      }
      return true;
    }
  }

  #read(databaseId: string, accounts: readonly string[]): Promise<Deno.KvEntryMaybe<LoginFailuresRecord>[]> {
    return Promise.all(accounts.map((account) => kvGet(this.kv, keys.loginFailures(databaseId, account))));
  }

  #longestSec(entries: readonly Deno.KvEntryMaybe<LoginFailuresRecord>[]): number {
    return Math.max(0, ...entries.map(({ key, value }) => this.#lockedSec(this.#current(key, value))));
  }

  #current(key: Deno.KvKey, record: LoginFailuresRecord | null): LoginFailuresRecord {
    const nowMs = this.clock.now();
    const live = [record, this.#unwritten.get(key.join("/")) ?? null].filter((one) =>
      one !== null && one.untilMs > nowMs
    );
    return live.toSorted((a, b) => (b?.count ?? 0) - (a?.count ?? 0))[0] ??
      { count: 0, untilMs: nowMs + HOUR_MS };
  }

  #forgetOver(): void {
    const nowMs = this.clock.now();
    for (const [key, { untilMs }] of this.#unwritten) {
      // In the order of their ends, because all last an hour.
      if (untilMs > nowMs) return;
      this.#unwritten.delete(key);
    }
  }

  #lockedSec({ count, untilMs }: LoginFailuresRecord): number {
    return count < this.maxFailures ? 0 : Math.max(1, Math.ceil((untilMs - this.clock.now()) / 1000));
  }
}
