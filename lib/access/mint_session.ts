// A session of an end user: a JWT that only its database's published endpoints take. Nothing is kept about it.
import { SignJWT } from "jose";
import type { SessionDatabase, SessionKeys } from "../control/session_keys.ts";

/** The column with the address, where a session does not name it. */
export const EMAIL_COLUMN = "email";

export interface SessionContext {
  readonly sessionKeys: SessionKeys;
}

export interface NewSession {
  readonly userId: string;
  readonly email?: string | undefined;
  /** Seconds. */
  readonly lifetimeSec: number;
  /** Of a sign-up or log-in: claims `ut` and, where it is not `email`, `ue`. */
  readonly users?: SessionUsers | undefined;
}

/** Where the user of a session stands: it is live only while the row of its key has its address there. */
export interface SessionUsers {
  readonly table: string;
  readonly emailColumn: string;
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
  const { email, users } = session;
  const jwt = await new SignJWT({ ...(email === undefined ? {} : { email }), ...usersClaims(users) })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(session.userId).setAudience(database.databaseId)
    .setIssuedAt(issuedSec).setExpirationTime(expiresSec)
    .sign(key.secret);
  return { jwt, expiresAtMs: expiresSec * 1000 };
}

function usersClaims(users: SessionUsers | undefined): Record<string, string> {
  if (users === undefined) return {};
  return { ut: users.table, ...(users.emailColumn === EMAIL_COLUMN ? {} : { ue: users.emailColumn }) };
}
