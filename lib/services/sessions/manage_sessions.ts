// Sessions of a database's end users, made and ended by whoever reaches or manages the database.
import { requireFresh } from "../../access/caller.ts";
import type { TokenCaller } from "../../access/caller.ts";
import { mintSession } from "../../access/mint_session.ts";
import { resolveTarget } from "../../access/resolve_target.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { withAct } from "../note_act.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";

/** Whose session it is to be, and for which database. */
export interface SessionInput {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databaseSlug: string;
  readonly userId: string;
  readonly email?: string | undefined;
  /** Seconds. */
  readonly expiresIn: number;
}

/** A session as the API shows it. */
export interface Session {
  /** A JWT for this one database. */
  readonly token: string;
  readonly expiresAt: string;
  readonly expiresIn: number;
}

/**
 * Makes a session for an end user whom the caller has authenticated in its own way. Errors: those of `resolveTarget`;
 * whoever reaches the database may read it, and that is enough.
 */
export async function createSession(
  ctx: { readonly control: ControlPlane; readonly caller: TokenCaller },
  input: SessionInput,
): Promise<Session> {
  const { namespaceSlug, databaseSlug: databasePath, userId, email, expiresIn } = input;
  const target = await resolveTarget(ctx, ctx.caller, { namespaceSlug, databasePath });
  const session = await mintSession(ctx.control, target, { userId, email, lifetimeSec: expiresIn });
  if (session === null) throw new AppError("database_not_found");
  return { token: session.jwt, expiresAt: isoTime(session.expiresAtMs), expiresIn };
}

/**
 * Ends every session of a database's end users. Answers the new floor under `iat`, unix seconds. Errors:
 * `sign_in_again`, those of `requireDatabase`.
 */
export async function revokeSessions(
  ctx: ManageContext,
  address: DatabaseAddress,
): Promise<{ tokensMinIat: number }> {
  const { id: databaseId, namespaceId, slug } = await requireDatabase(ctx, address);
  requireFresh(ctx.caller, ctx.clock.now());
  const act = withAct(ctx, "sessions.revoked", { namespaceId, database: slug });
  const tokensMinIat = await ctx.control.sessionKeys.revokeAll({ namespaceId, databaseId }, act);
  if (tokensMinIat === null) throw new AppError("database_not_found");
  return { tokensMinIat };
}
