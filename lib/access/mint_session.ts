// A session of an end user: a JWT that only the published endpoints of its database accept. Nothing is stored about
// it until it ends early.
import { SignJWT } from "jose";
import type { SessionEnds, SessionOwner, SessionStand } from "../control/session_ends.ts";
import { isRevoked, type SessionDatabase, type SessionKeys } from "../control/session_keys.ts";
import { foldName } from "../sql/words/names.ts";
import { randomBase64url } from "../core/base64url.ts";

/** The column with the address, where a session does not name another. */
export const EMAIL_COLUMN = "email";

/** What it needs of the process. */
export interface SessionContext {
  readonly sessionKeys: SessionKeys;
  readonly sessionEnds: SessionEnds;
}

/** A session to mint. */
export interface NewSession {
  readonly userId: string;
  readonly email?: string | undefined;
  /** Seconds. */
  readonly lifetimeSec: number;
  /** For a sign-up or log-in: becomes the claims `ut` and, where it is not `email`, `ue`. */
  readonly users?: SessionUsers | undefined;
  /** Becomes the claim `pv`: the session is live only while the row's hash has this mark. */
  readonly passwordMark?: string | undefined;
  /** The session that it takes further; absent: it begins one. */
  readonly continues?: ContinuedSession | undefined;
}

/** A session that goes on, no longer than until `untilSec`. Times are unix seconds. */
export interface ContinuedSession extends SessionStand {
  readonly issuedSec: number;
  readonly generation: number;
  readonly beganSec: number;
  readonly untilSec: number;
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

const ID_BYTES = 16;

/**
 * Signs with HS256 and the database's own key, which the first session makes. `iat` is at least the database's floor:
 * within the second of a `revoke_all` it waits for the next one. Null when the database is gone, or when the session
 * that it would take further has been revoked. Errors: `meter_unreachable`.
 */
export async function mintSession(
  { sessionKeys, sessionEnds }: SessionContext,
  database: SessionDatabase,
  session: NewSession,
): Promise<MintedSession | null> {
  const { userId, email, users, passwordMark, continues } = session;
  const key = await sessionKeys.demand(database);
  // The key as it is now: another process may have ended the session after it was verified here.
  if (key === null || (continues !== undefined && isRevoked(continues, key))) return null;
  const { sessionId, epochMs } = continues ?? {
    // What is never refreshed is told by its text.
    sessionId: users === undefined ? undefined : randomBase64url(ID_BYTES),
    epochMs: await sessionEnds.epochMs(sessionOwner(database, { userId, users: users ?? null })),
  };
  const issuedSec = await sessionKeys.issueSec(key.minIat);
  const expiresSec = Math.min(issuedSec + session.lifetimeSec, continues?.untilSec ?? Infinity);
  const claims = {
    ...(email === undefined ? {} : { email }),
    ...usersClaims(users),
    ...(passwordMark === undefined ? {} : { pv: passwordMark }),
    ...(sessionId === undefined ? {} : { sid: sessionId }),
    ...(epochMs === 0 ? {} : { ep: epochMs }),
    ...(key.generation === 0 ? {} : { gen: key.generation }),
    ...(continues === undefined ? {} : { auth_time: continues.beganSec }),
  };
  const jwt = await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(userId).setAudience(database.databaseId)
    .setIssuedAt(issuedSec).setExpirationTime(expiresSec)
    .sign(key.secret);
  return { jwt, expiresAtMs: expiresSec * 1000 };
}

/** Whose sessions end together. */
export function sessionOwner(
  { databaseId }: Pick<SessionDatabase, "databaseId">,
  { userId, users }: { readonly userId: string; readonly users: SessionUsers | null },
): SessionOwner {
  return { databaseId, userId, table: users === null ? "" : foldName(users.table) };
}

function usersClaims(users: SessionUsers | undefined): Record<string, string> {
  if (users === undefined) return {};
  return { ut: users.table, ...(users.emailColumn === EMAIL_COLUMN ? {} : { ue: users.emailColumn }) };
}
