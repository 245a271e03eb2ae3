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

/** Every method answers the seconds that the account stays locked, 0 when it is not. Errors: `meter_unreachable`. */
export class LoginFailures {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** `account` is a keyed hash. */
  async lockedSec(databaseId: string, account: string): Promise<number> {
    const { value } = await kvGet(this.kv, keys.loginFailures(databaseId, account));
    return this.#lockedSec(this.#current(value));
  }

  /** Counts a failure. Locked: it was one too many and was not counted. */
  async add(databaseId: string, account: string): Promise<number> {
    const key = keys.loginFailures(databaseId, account);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const entry = await kvGet(this.kv, key);
      const current = this.#current(entry.value);
      const lockedSec = this.#lockedSec(current);
      if (lockedSec > 0) return lockedSec;
      const next = { ...current, count: current.count + 1 };
      const expireIn = Math.max(1, current.untilMs - this.clock.now());
      if (await kvCommit(this.kv.atomic().check(entry).set(key, next, { expireIn }))) return 0;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
    }
    throw new AppError("meter_unreachable");
  }

  #current(record: LoginFailuresRecord | null): LoginFailuresRecord {
    const nowMs = this.clock.now();
    return record !== null && record.untilMs > nowMs ? record : { count: 0, untilMs: nowMs + HOUR_MS };
  }

  #lockedSec({ count, untilMs }: LoginFailuresRecord): number {
    return count < MAX_FAILURES ? 0 : Math.max(1, Math.ceil((untilMs - this.clock.now()) / 1000));
  }
}
