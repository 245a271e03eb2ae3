// Whether a JWT is a session of an end user of one database, and whose.
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { SessionDatabase, SessionKeys } from "../control/session_keys.ts";
import type { Clock } from "../core/clock.ts";

/** What a session says about its user. Times are unix seconds. */
export interface SessionClaims {
  readonly userId: string;
  readonly email: string | null;
  readonly issuedSec: number;
  readonly expiresSec: number;
}

/** `wrong_key`: signed by somebody else or for a database that never signed; `revoked`: older than the floor. */
export type SessionCheck =
  | { readonly ok: true; readonly claims: SessionClaims }
  | {
    readonly ok: false;
    readonly reason: "malformed" | "wrong_key" | "wrong_database" | "expired" | "revoked";
  };

/** base64url without padding (RFC 7515, section 2): the library's decoder takes more. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Characters of a JWT: what the longest claims need, and a bound on the work for strangers. */
const MAX_JWT_LENGTH = 8192;

/**
 * Takes HS256 only. A change of the key or of the floor counts at once in the process that made it, within five
 * seconds elsewhere. Errors: `meter_unreachable`.
 */
export async function verifySession(
  ctx: { readonly sessionKeys: SessionKeys; readonly clock: Clock },
  database: SessionDatabase,
  jwt: string,
): Promise<SessionCheck> {
  if (jwt.length > MAX_JWT_LENGTH || !COMPACT.test(jwt)) return refused("malformed");
  const key = await ctx.sessionKeys.current(database);
  if (key === null) return refused("wrong_key");
  try {
    const { payload } = await jwtVerify(jwt, key.secret, {
      algorithms: ["HS256"],
      audience: database.databaseId,
      requiredClaims: ["sub", "iat", "exp"],
      currentDate: new Date(ctx.clock.now()),
    });
    const claims = claimsOf(payload);
    if (claims === null) return refused("malformed");
    return claims.issuedSec < key.minIat ? refused("revoked") : { ok: true, claims };
  } catch (error) {
    return refused(reasonOf(error));
  }
}

function refused(reason: "malformed" | "wrong_key" | "wrong_database" | "expired" | "revoked"): SessionCheck {
  return { ok: false, reason };
}

/** Null for claims of other types than ours: only who has the key can have made them. */
function claimsOf({ sub, email = null, iat, exp }: JWTPayload): SessionClaims | null {
  if (typeof sub !== "string" || sub === "" || !Number.isSafeInteger(iat)) return null;
  if (iat === undefined || exp === undefined || (email !== null && typeof email !== "string")) return null;
  return { userId: sub, email, issuedSec: iat, expiresSec: exp };
}

function reasonOf(error: unknown): "malformed" | "wrong_key" | "wrong_database" | "expired" {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "wrong_key";
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === "aud") return "wrong_database";
  if (error instanceof errors.JOSEError) return "malformed";
  throw error;
}
