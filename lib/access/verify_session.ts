// Verifies that a JWT is a session of an end user of one database, and reads its claims.
import { hash } from "node:crypto";
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { SessionStand } from "../control/session_ends.ts";
import { isRevoked, type SessionDatabase, type SessionKeys } from "../control/session_keys.ts";
import { EMAIL_COLUMN, type SessionUsers } from "./mint_session.ts";
import type { Clock } from "../core/clock.ts";
import { base64url } from "../core/base64url.ts";

/** What a session says about its user. Times are unix seconds. */
export interface SessionClaims extends SessionStand {
  readonly userId: string;
  readonly email: string | null;
  readonly issuedSec: number;
  /** How often all sessions of the database had been ended when it was made. */
  readonly generation: number;
  readonly expiresSec: number;
  /** For a session of a sign-up or log-in: the table in which its user must still exist. */
  readonly users: SessionUsers | null;
  /** What the hash of the user's password must still contain; null: nothing. */
  readonly passwordMark: string | null;
  /** When its user logged in: before it was refreshed. */
  readonly beganSec: number;
}

/** `wrong_key`: signed with another key, or for a database that never signed. `revoked`: made before all were ended. */
export type SessionCheck =
  | { readonly ok: true; readonly claims: SessionClaims }
  | {
    readonly ok: false;
    readonly reason: "malformed" | "wrong_key" | "wrong_database" | "expired" | "revoked";
  };

/** base64url without padding (RFC 7515, section 2); the library's decoder accepts more. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
/** Characters of a JWT: enough for the longest claims, and a bound on the work for strangers. */
const MAX_JWT_LENGTH = 8192;

/**
 * Accepts only HS256. A change of the key or the floor counts at once in the process that made it, and within five
 * seconds in others. Errors: `meter_unreachable`.
 */
export async function verifySession(
  ctx: { readonly sessionKeys: SessionKeys; readonly clock: Clock },
  database: SessionDatabase,
  jwt: string,
): Promise<SessionCheck> {
  if (jwt.length > MAX_JWT_LENGTH || !isCanonical(jwt)) return refused("malformed");
  const key = await ctx.sessionKeys.current(database);
  if (key === null) return refused("wrong_key");
  try {
    const { payload } = await jwtVerify(jwt, key.secret, {
      algorithms: ["HS256"],
      audience: database.databaseId,
      requiredClaims: ["sub", "iat", "exp"],
      currentDate: new Date(ctx.clock.now()),
    });
    const claims = claimsOf(payload, jwt);
    if (claims === null) return refused("malformed");
    return isRevoked(claims, key) ? refused("revoked") : { ok: true, claims };
  } catch (error) {
    return refused(reasonOf(error));
  }
}

/** Whether the text is exactly as the service writes it: no session has a second valid text. */
function isCanonical(jwt: string): boolean {
  const parts = COMPACT.exec(jwt)?.slice(1).map(decoded) ?? [];
  const [header, payload, signature] = parts;
  return header !== undefined && payload !== undefined && signature !== undefined &&
    isHeader(asWritten(header)) && asWritten(payload) !== null;
}

/** Undefined where the last character has unused bits set, or is too few for a byte. */
function decoded(part: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(part, { alphabet: "base64url" });
    return base64url(bytes) === part ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Null where the text is no JSON object, or is not written exactly as its value: of two members with the same name
 * one would be lost.
 */
function asWritten(bytes: Uint8Array): object | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && JSON.stringify(value) === text ? value : null;
  } catch {
    return null;
  }
}

/**
 * Whether the header has only known members: none that changes how the rest is read (`crit`, `b64`, `zip`) or says
 * where a key is.
 */
function isHeader(header: object | null): boolean {
  return header !== null &&
    Object.entries(header).every(([name, value]) =>
      name === "alg" ? value === "HS256" : name === "typ" && value === "JWT"
    );
}

function refused(reason: "malformed" | "wrong_key" | "wrong_database" | "expired" | "revoked"): SessionCheck {
  return { ok: false, reason };
}

/** Null for claims of other types than ours, which only a holder of the key can have made. */
function claimsOf(payload: JWTPayload, jwt: string): SessionClaims | null {
  const { sub, email = null, iat, exp, ut, ue = EMAIL_COLUMN, gen = 0 } = payload;
  if (typeof sub !== "string" || sub === "" || !Number.isSafeInteger(iat)) return null;
  if (iat === undefined || exp === undefined || (email !== null && typeof email !== "string")) return null;
  if ((ut !== undefined && typeof ut !== "string") || typeof ue !== "string") return null;
  if (typeof gen !== "number") return null;
  const users = ut === undefined ? null : { table: ut, emailColumn: ue };
  const stand = standOf(payload, { jwt, iat });
  return stand && { userId: sub, email, issuedSec: iat, generation: gen, expiresSec: exp, users, ...stand };
}

/** Sessions of `POST /v1/sessions`, and those that an older version has signed, have no id: their text stands for it. */
function standOf(
  { sid, ep = 0, pv = null, auth_time: authTime }: JWTPayload,
  { jwt, iat }: { readonly jwt: string; readonly iat: number },
): Pick<SessionClaims, "sessionId" | "epochMs" | "passwordMark" | "beganSec"> | null {
  const beganSec = authTime ?? iat;
  if ((sid !== undefined && typeof sid !== "string") || (pv !== null && typeof pv !== "string")) return null;
  if (typeof ep !== "number" || typeof beganSec !== "number") return null;
  return { sessionId: sid ?? hash("sha256", jwt, "hex"), epochMs: ep, passwordMark: pv, beganSec };
}

function reasonOf(error: unknown): "malformed" | "wrong_key" | "wrong_database" | "expired" {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "wrong_key";
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === "aud") return "wrong_database";
  if (error instanceof errors.JOSEError) return "malformed";
  throw error;
}
