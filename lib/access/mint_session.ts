// A session of an end user: a JWT that only its database's published endpoints take. Nothing is kept about it.
import { SignJWT } from "jose";
import type { SessionDatabase, SessionKeys } from "../control/session_keys.ts";

export interface SessionContext {
  readonly sessionKeys: SessionKeys;
}

export interface NewSession {
  readonly userId: string;
  readonly email?: string | undefined;
  /** Seconds. */
  readonly lifetimeSec: number;
}

export interface MintedSession {
  readonly jwt: string;
  readonly expiresAtMs: number;
}

/**
 * Signs with HS256 and the database's own key, which the first session makes. `iat` is at least the database's floor:
 * within the second of a `revoke_all` it takes until the next one. Null when the database is gone. Errors:
 * `meter_unreachable`.
 */
export async function mintSession(
  { sessionKeys }: SessionContext,
  database: SessionDatabase,
  session: NewSession,
): Promise<MintedSession | null> {
  const key = await sessionKeys.demand(database);
  if (key === null) return null;
  const issuedSec = await sessionKeys.issueSec(key.minIat);
  const expiresSec = issuedSec + session.lifetimeSec;
  const jwt = await new SignJWT(session.email === undefined ? {} : { email: session.email })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(session.userId).setAudience(database.databaseId)
    .setIssuedAt(issuedSec).setExpirationTime(expiresSec)
    .sign(key.secret);
  return { jwt, expiresAtMs: expiresSec * 1000 };
}
