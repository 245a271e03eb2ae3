// Bounds guesses at the passwords of a users table, wherever they are made: at a log-in, and where a password is changed.
import type { Guess } from "../../control/login_guesses.ts";
import { AppError } from "../../core/errors.ts";
import { foldName } from "../../sql/words/names.ts";
import type { EndpointRecord } from "../../store/records.ts";
import { normalPassword } from "../../access/password_hash.ts";
import { usersTableOf } from "../endpoints/spec/users_table.ts";
import type { SessionUser } from "./issue_session.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { readUsers } from "./read_users.ts";

type Context = Pick<PublishedContext, "guesses" | "hashes" | "passwords" | "query">;

/** One guess on its way. */
export interface Guessing {
  readonly guess: Guess;
  /** Whether the user has logged in from there. */
  readonly isKnown: boolean;
}

/**
 * To be called before anything is looked up. Branches have copies of the same hashes, so guesses at a branch count for
 * the account of the trunk. Errors: `login_locked`.
 */
export async function beginGuess(ctx: Context, call: EndpointCall, email: string): Promise<Guessing> {
  const guess = await guessOf(ctx, call, email);
  const isKnown = await ctx.guesses.isKnownPlace(guess);
  refuseLocked(await ctx.guesses.lockedSec(guess, [guess.spelled], isKnown));
  return { guess, isKnown };
}

/**
 * A guess at the account of an address, from where the call comes. Errors: `meter_unreachable`, those of `readUsers`.
 */
export async function guessOf(
  ctx: Pick<Context, "hashes" | "query">,
  call: EndpointCall,
  email: string,
): Promise<Guess> {
  const { record, client } = call;
  const { databaseId, spec } = record;
  const { ignoresCase } = await readUsers(ctx, call);
  const exact = await ctx.hashes.of(
    "login place",
    databaseId,
    foldName(usersTableOf(spec)),
    // All that mean this account whatever the table holds.
    ignoresCase ? foldName(email) : email,
  );
  return { databaseId, client, exact, spelled: await spelledAccount(ctx, record, email) };
}

/**
 * Whether it is the password of the account; null, for an unknown user, takes as long. Guesses count for the account
 * however its address is spelled. Errors: `login_locked`, `hashing_busy`.
 */
export async function isPassword(
  ctx: Context,
  { call, guessing: { guess, isKnown }, account, password }: {
    readonly call: EndpointCall;
    readonly guessing: Guessing;
    readonly account: SessionUser | null;
    readonly password: string;
  },
): Promise<boolean> {
  const accounts = await accountsOf(ctx, call.record, { spelled: guess.spelled, account });
  const normal = normalPassword(password);
  const right = await ctx.passwords.verify(call.target.namespaceId, normal, account?.hash ?? null);
  // Meanwhile others may have used up the hour's failures: then a right guess is refused too.
  refuseLocked(
    right
      ? await ctx.guesses.lockedSec(guess, accounts, isKnown)
      : await ctx.guesses.add(guess, accounts, isKnown),
  );
  return right;
}

/**
 * The counters of an account, by all that they are counted for: the address as typed, and the user whom it means. An unknown
 * user has as many, so that both take the same time.
 */
export async function accountsOf(
  { hashes }: Pick<Context, "hashes">,
  { databaseId, spec }: EndpointRecord,
  { spelled, account }: Pick<Guess, "spelled"> & { readonly account: SessionUser | null },
): Promise<string[]> {
  // The hash tells this user from a later one with the same key.
  const found = account === null ? ["nobody", spelled] : ["key", JSON.stringify([account.key, account.hash])];
  return [
    spelled,
    await hashes.of("login", databaseId, foldName(usersTableOf(spec)), ...found),
  ];
}

/** By the address as typed: for limits that must not tell whether there is such an account. */
export async function spelledAccount(
  { hashes }: Pick<Context, "hashes">,
  { databaseId, spec }: EndpointRecord,
  email: string,
): Promise<string> {
  const spelling = email.normalize("NFKC").trim().toLowerCase();
  return await hashes.of("login", databaseId, foldName(usersTableOf(spec)), spelling);
}

function refuseLocked(retryAfterSec: number): void {
  if (retryAfterSec > 0) throw new AppError("login_locked", { retryAfterSec });
}
