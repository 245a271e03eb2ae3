// A ticket for a page: it cannot send a bearer with its stream of changes, and a token has no place in an address.
import { type AuthContext, authenticateId } from "../../access/authenticate.ts";
import type { TokenCaller } from "../../access/caller.ts";
import { resolveTarget, type Target } from "../../access/resolve_target.ts";
import { isToken, newToken, tokenHash } from "../../access/token_format.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { TICKET_SEC } from "../../core/limits_of_changes.ts";

/** A ticket as the API shows it. */
export interface ChangeTicket {
  /** `pchg_…`, shown once. */
  readonly ticket: string;
  /** Where an `EventSource` connects to. */
  readonly url: string;
  readonly expiresAt: string;
}

/** For the caller's rights at the database addressed. Errors: `meter_unreachable`. */
export async function issueTicket(
  ctx: AuthContext & { readonly baseUrl: string; readonly target: Target; readonly token: TokenCaller },
): Promise<ChangeTicket> {
  const { namespaceId, tokenId } = ctx.token;
  const ticket = newToken("pchg_");
  const untilMs = ctx.clock.now() + TICKET_SEC * 1000;
  const { databaseSlug: databasePath, databaseId } = ctx.target;
  const record = { namespaceId, tokenId, databasePath, databaseId, untilMs };
  await ctx.control.changeTickets.add(tokenHash(ticket), record);
  return { ticket, url: `${ctx.baseUrl}/v1/changes/${ticket}`, expiresAt: isoTime(untilMs) };
}

/** What a ticket opens. */
export interface Admitted {
  readonly target: Target;
  /** Finds the database once more, as it is now. Errors: as `resolveTarget`, `invalid_bearer`. */
  readonly again: () => Promise<Target>;
}

/** Consumes a ticket. Errors: `ticket_not_found`, `invalid_bearer`, those of `resolveTarget`. */
export async function redeemTicket(ctx: AuthContext, ticket: string): Promise<Admitted> {
  // Anybody may ask, and a junk address shall cost no look-up.
  if (!isToken("pchg_", ticket)) throw new AppError("ticket_not_found");
  const record = await ctx.control.changeTickets.take(tokenHash(ticket));
  if (record === null) throw new AppError("ticket_not_found");
  const { databasePath } = record;
  const again = async () => {
    const caller = await authenticateId(ctx, record);
    return await resolveTarget(ctx, caller, { namespaceSlug: caller.namespaceSlug, databasePath });
  };
  const target = await again();
  // Another database that has the address by now is not what the page was let in to.
  if (target.databaseId !== record.databaseId) throw new AppError("ticket_not_found");
  return { target, again };
}
