// Guesses at the passwords of end users: ten failures an hour close an account to one address; what comes from many
// addresses slows the account down, but not for an address from which its user has logged in.
import { type Clock, DAY_MS } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { isKvFull, kvCommit, kvGet } from "../store/kv_call.ts";
import { type Counted, LoginFailures } from "./login_failures.ts";
import { type Also, nothingElse } from "../store/until_committed.ts";

/** Milliseconds for which such an address is remembered after a log-in. */
const PLACE_MS = 30 * DAY_MS;

/** One guess: at whose password, and from where. All are keyed hashes. */
export interface Guess {
  /** The trunk. */
  readonly databaseId: string;
  /** The address as typed, in whatever form: guesses at one that looks the same count for it too. */
  readonly spelled: string;
  /** The address as typed, but for what the users table ignores: it means one account, and who has logged in to another that looks the same is nobody here. */
  readonly exact: string;
  readonly client: string;
}

/** Every method's errors: `meter_unreachable`. */
export class LoginGuesses {
  readonly #failures: LoginFailures;

  constructor(private readonly kv: Deno.Kv, clock: Clock) {
    this.#failures = new LoginFailures(kv, clock);
  }

  /** Whether the user of the address as typed has logged in from there. */
  async isKnownPlace({ databaseId, exact, client }: Guess): Promise<boolean> {
    return (await kvGet(this.kv, keys.loginPlace(databaseId, exact, client))).value === true;
  }

  /** The seconds for which one of the accounts is closed to this guess; 0 when none is. Errors: also `storage_full`. */
  async lockedSec(guess: Guess, accounts: readonly string[], isKnown: boolean): Promise<number> {
    return await this.#failures.lockedSec(guess.databaseId, countedFor(guess, accounts, isKnown));
  }

  /** Counts a failure for each account. As `lockedSec`: above 0 this one was too many, and tells nothing. */
  async add(guess: Guess, accounts: readonly string[], isKnown: boolean): Promise<number> {
    return await this.#failures.add(guess.databaseId, countedFor(guess, accounts, isKnown));
  }

  /** Remembers an address, from which its user has just proved who it is. Without room in KV it stays unknown. */
  async remember({ databaseId, exact, client }: Guess): Promise<void> {
    try {
      const key = keys.loginPlace(databaseId, exact, client);
      await kvCommit(this.kv.atomic().set(key, true, { expireIn: PLACE_MS }));
    } catch (error) {
      if (!isKvFull(error)) throw error;
    }
  }

  /** Opens accounts again, wherever the failures came from. `also` is written with the first of them. */
  async unlock(databaseId: string, accounts: readonly string[], also: Also = nothingElse): Promise<void> {
    await this.#failures.forget(databaseId, accounts, also);
  }
}

function countedFor({ client }: Guess, accounts: readonly string[], isKnown: boolean): Counted[] {
  return accounts.flatMap((account) => [
    { account, client },
    // Where its user is known, what others fail elsewhere counts for nothing.
    ...(isKnown ? [] : [{ account, slows: true }]),
  ]);
}
