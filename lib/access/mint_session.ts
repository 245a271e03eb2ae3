// A session of an end user: a JWT that only the published endpoints of its database accept. Nothing is stored about
// it.
import { SignJWT } from "jose";
import type { SessionDatabase, SessionKeys } from "../control/session_keys.ts";

/** The column with the address, where a session does not name another. */
export const EMAIL_COLUMN = "email";

/** What it needs of the process. */
export interface SessionContext {
  readonly sessionKeys: SessionKeys;
}

/** A session to mint. */
export interface NewSession {
  readonly userId: string;
  readonly email?: string | undefined;
  /** Seconds. */
  readonly lifetimeSec: number;
  /** For a sign-up or log-in: becomes the claims `ut` and, where it is not `email`, `ue`. */
  readonly users?: SessionUsers | undefined;
}

/** The users table of a session: the session is live only while the row with its key has its address. */
export interface SessionUsers {
  readonly table: string;
  readonly emailColumn: string;
}

/** A minted session. */
export interface MintedSession {
  readonly jwt: string;
  readonly expiresAtMs: number;
}

/**
 * Signs with HS256 and the database's own key, which the first session makes. `iat` is at least the database's floor:
 * within the second of a `revoke_all` it waits for the next one. Null when the database is gone. Errors:
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
