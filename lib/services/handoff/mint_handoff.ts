// A handoff token: passes on what the caller may do with one branch of one database, or less, to somebody else.
import { requireRole } from "../../access/caller.ts";
import type { Target } from "../../access/resolve_target.ts";
import { newToken, tokenHash } from "../../access/token_format.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { type Clock, isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Role } from "../../core/role.ts";

/** What handing off a token needs of a request. */
export interface HandoffContext {
  readonly control: ControlPlane;
  readonly clock: Clock;
  readonly target: Target;
  readonly tokenId: string;
}

/** A handoff token as the API shows it. */
export interface Handoff {
  /** `phand_…`, shown once. */
  readonly token: string;
  readonly expiresAt: string;
}

/**
 * It expires with the caller's token at the latest. Errors: `role_too_low` (above the caller's effective role),
 * `handoff_too_deep`, `too_many_requests` (of this token and all that come of it), `invalid_bearer` (revoked meanwhile),
 * `meter_unreachable`.
 */
export async function mintHandoff(
  ctx: HandoffContext,
  input: { readonly role: Role; readonly ttlSec: number },
): Promise<Handoff> {
  requireRole(ctx.target, input.role);
  const { namespaceId, databaseId, branchRef } = ctx.target;
  const token = newToken("phand_");
  const outcome = await ctx.control.handoffs.add(tokenHash(token), {
    namespaceId,
    parentId: ctx.tokenId,
    databaseId,
    branchRef,
    role: input.role,
    untilMs: ctx.clock.now() + input.ttlSec * 1000,
  });
  if (outcome.ok) return { token, expiresAt: isoTime(outcome.untilMs) };
  if (outcome.reason === "too_many") {
    throw new AppError("too_many_requests", {
      message:
        "Wait until tomorrow, or use a token that has handed off less; this one and those that come of it have many",
      retryAfterSec: Math.ceil((outcome.untilMs - ctx.clock.now()) / 1000),
    });
  }
  throw new AppError(outcome.reason === "too_deep" ? "handoff_too_deep" : "invalid_bearer");
}
