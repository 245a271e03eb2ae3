// Whether a JWT is a session of an end user of one database, and whose.
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { SessionDatabase, SessionKeys } from "../control/session_keys.ts";
import { EMAIL_COLUMN, type SessionUsers } from "./mint_session.ts";
import type { Clock } from "../core/clock.ts";

/** What a session says about its user. Times are unix seconds. */
export interface SessionClaims {
  readonly userId: string;
  readonly email: string | null;
  readonly issuedSec: number;
  readonly expiresSec: number;
  /** Of a sign-up or log-in: where its user has to be still. */
  readonly users: SessionUsers | null;
}

/** `wrong_key`: signed by somebody else or for a database that never signed; `revoked`: older than the floor. */
export type SessionCheck =
  | { readonly ok: true; readonly claims: SessionClaims }
  | {
    readonly ok: false;
    readonly reason: "malformed" | "wrong_key" | "wrong_database" | "expired" | "revoked";
  };

/** base64url without padding (RFC 7515, section 2): the library's decoder takes more. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
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
    const claims = claimsOf(payload);
    if (claims === null) return refused("malformed");
    return claims.issuedSec < key.minIat ? refused("revoked") : { ok: true, claims };
  } catch (error) {
    return refused(reasonOf(error));
  }
}

/** As the service writes it, to the letter: nobody makes a second text of a session that is taken as well. */
function isCanonical(jwt: string): boolean {
  const parts = COMPACT.exec(jwt)?.slice(1).map(decoded) ?? [];
  const [header, payload, signature] = parts;
  return header !== undefined && payload !== undefined && signature !== undefined &&
    isHeader(asWritten(header)) && asWritten(payload) !== null;
}

/** Undefined where the last character holds bits that nobody reads, or where it is too few for a byte. */
function decoded(part: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(part, { alphabet: "base64url" });
    return bytes.toBase64({ alphabet: "base64url", omitPadding: true }) === part ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Null where the text is no JSON object, or another one than its value is written as: of two members of a name one is lost. */
function asWritten(bytes: Uint8Array): object | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && JSON.stringify(value) === text ? value : null;
  } catch {
    return null;
  }
}

/** No member that says how else to read the rest (`crit`, `b64`, `zip`) or where a key would be. */
function isHeader(header: object | null): boolean {
  return header !== null &&
    Object.entries(header).every(([name, value]) =>
      name === "alg" ? value === "HS256" : name === "typ" && value === "JWT"
    );
}

function refused(reason: "malformed" | "wrong_key" | "wrong_database" | "expired" | "revoked"): SessionCheck {
  return { ok: false, reason };
}

/** Null for claims of other types than ours: only who has the key can have made them. */
function claimsOf({ sub, email = null, iat, exp, ut, ue = EMAIL_COLUMN }: JWTPayload): SessionClaims | null {
  if (typeof sub !== "string" || sub === "" || !Number.isSafeInteger(iat)) return null;
  if (iat === undefined || exp === undefined || (email !== null && typeof email !== "string")) return null;
  if ((ut !== undefined && typeof ut !== "string") || typeof ue !== "string") return null;
  const users = ut === undefined ? null : { table: ut, emailColumn: ue };
  return { userId: sub, email, issuedSec: iat, expiresSec: exp, users };
}

function reasonOf(error: unknown): "malformed" | "wrong_key" | "wrong_database" | "expired" {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "wrong_key";
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === "aud") return "wrong_database";
  if (error instanceof errors.JOSEError) return "malformed";
  throw error;
}
