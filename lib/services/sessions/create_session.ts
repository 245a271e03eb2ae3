// A session for an end user whom the caller has authenticated in its own way.
import type { TokenCaller } from "../../access/caller.ts";
import { mintSession } from "../../access/mint_session.ts";
import { resolveTarget } from "../../access/resolve_target.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";

export interface SessionInput {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databaseSlug: string;
  readonly userId: string;
  readonly email?: string | undefined;
  /** Seconds. */
  readonly expiresIn: number;
}

export interface Session {
  /** A JWT for this one database. */
  readonly token: string;
  readonly expiresAt: string;
  readonly expiresIn: number;
}

/** Errors: those of `resolveTarget`; whoever reaches the database may read it, and that is enough. */
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
