// Bounds guesses at what only one person knows: ten failures an account and hour, and of whoever is not signed in thirty
// an address. Where somebody has signed in before, what others fail at elsewhere does not lock them out.
import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { PeopleContext } from "./people_context.ts";

/** Who is guessed at, and from where. */
export interface Guessed {
  /** Names the account for the count; it need not exist. */
  readonly account: readonly string[];
  /** Null for whoever is signed in: what strangers have failed at beside them counts for nothing. */
  readonly address: string | null;
  /** Whether an address from which it was right within 30 days has a count of its own. */
  readonly knowsPlaces?: boolean;
  /** What a failure is called; `sign_in_failed` unless given. */
  readonly failure?: ErrorCode;
}

/** The counters of the console; those of published endpoints have the id of a database here. */
const PLACE = "console";

/**
 * Returns what `check` finds. Null is a failure and counts. Of guesses at the same time, only as many as may fail learn
 * whether they were right. Errors: the failure, `sign_in_locked`, those of `check`, `meter_unreachable`.
 */
export async function guess<Value>(
  ctx: Pick<PeopleContext, "hashes" | "failures" | "places">,
  { account, address, knowsPlaces = false, failure = "sign_in_failed" }: Guessed,
  check: () => Promise<Value | null>,
): Promise<Value> {
  const { ofAccount, ofAddress } = ctx.failures;
  const ofWhom = await ctx.hashes.of("sign-in", ...account);
  const client = address === null ? null : await ctx.hashes.of("sign-in from", address);
  const place = client === null || !knowsPlaces
    ? null
    : { databaseId: PLACE, exact: ofWhom, spelled: ofWhom, client };
  const isKnown = place !== null && await ctx.places.isKnownPlace(place);
  const counted = [{ account: ofWhom, ...(isKnown ? { client: place.client } : {}) }];
  const from = client === null ? [] : [{ account: client }];
  const refuseLocked = async () => {
    refuse(Math.max(await ofAccount.lockedSec(PLACE, counted), await ofAddress.lockedSec(PLACE, from)));
  };
  await refuseLocked();
  const found = await check();
  if (found === null) {
    if (from.length > 0) refuse(await ofAddress.add(PLACE, from));
    refuse(await ofAccount.add(PLACE, counted));
    throw new AppError(failure);
  }
  // Meanwhile others may have used up the hour's failures: then a right guess is refused too.
  await refuseLocked();
  if (place !== null) await ctx.places.remember(place);
  return found;
}

function refuse(retryAfterSec: number): void {
  if (retryAfterSec > 0) throw new AppError("sign_in_locked", { retryAfterSec });
}
