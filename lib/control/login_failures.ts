// Failed logins by account and hour. Every guess is settled by one read or one commit here, whatever runs beside it: so
// of any number of guesses at once only the first ten failures tell the guesser something.
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { LoginFailuresRecord } from "../store/records.ts";

/** Contract 8. */
const MAX_FAILURES = 10;
const HOUR_MS = 3_600_000;
/** Attempts against others that fail at the same moment, and milliseconds between them at most. */
const MAX_ATTEMPTS = 64;
const PAUSE_MS = 20;

/**
 * One guess counts for all of its `accounts` (keyed hashes: the address as it was typed, the user whom it means). Every
 * method answers the seconds that one of them stays locked, 0 when none is. Errors: `meter_unreachable`.
 */
export class LoginFailures {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  async lockedSec(databaseId: string, accounts: readonly string[]): Promise<number> {
    return this.#longestSec(await this.#read(databaseId, accounts));
  }

  /** Counts a failure for each. Locked: it was one too many for one of them and was not counted for any. */
  async add(databaseId: string, accounts: readonly string[]): Promise<number> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const entries = await this.#read(databaseId, accounts);
      const lockedSec = this.#longestSec(entries);
      if (lockedSec > 0) return lockedSec;
      const atomic = this.kv.atomic().check(...entries);
      for (const { key, value } of entries) {
        const { count, untilMs } = this.#current(value);
        const expireIn = Math.max(1, untilMs - this.clock.now());
        atomic.set(key, { count: count + 1, untilMs }, { expireIn });
      }
      if (await kvCommit(atomic)) return 0;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
    }
    throw new AppError("meter_unreachable");
  }

  #read(databaseId: string, accounts: readonly string[]): Promise<Deno.KvEntryMaybe<LoginFailuresRecord>[]> {
    return Promise.all(accounts.map((account) => kvGet(this.kv, keys.loginFailures(databaseId, account))));
  }

  #longestSec(entries: readonly Deno.KvEntryMaybe<LoginFailuresRecord>[]): number {
    return Math.max(0, ...entries.map(({ value }) => this.#lockedSec(this.#current(value))));
  }

  #current(record: LoginFailuresRecord | null): LoginFailuresRecord {
    const nowMs = this.clock.now();
    return record !== null && record.untilMs > nowMs ? record : { count: 0, untilMs: nowMs + HOUR_MS };
  }

  #lockedSec({ count, untilMs }: LoginFailuresRecord): number {
    return count < MAX_FAILURES ? 0 : Math.max(1, Math.ceil((untilMs - this.clock.now()) / 1000));
  }
}
