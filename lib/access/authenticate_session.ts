// From the cookie of a browser to the person who has signed in there.
import { createHmac, hash } from "node:crypto";
import type { ControlPlane } from "../control/control_plane.ts";
import type { LiveSession } from "../control/console_sessions.ts";
import { isLoopback } from "../core/loopback.ts";
import type { PersonCaller } from "./caller.ts";
import { equalBytes } from "./token_format.ts";
import { randomBase64url } from "../core/base64url.ts";

/** What it needs of the process. */
export interface SessionAuthContext {
  readonly control: ControlPlane;
  /** SHA-256 of the operator key, hex. */
  readonly operatorKeyHash: string;
}

/** A person who has signed in, and the word by which their own pages are known. */
export interface SignedIn {
  readonly caller: PersonCaller;
  /** Goes into every form, and into `X-CSRF-Token`. */
  readonly csrfToken: string;
}

const SECRET_BYTES = 32;
/** base64url of as many bytes. */
const SECRET = /^[\w-]{43}$/;

/** The value of a new session's cookie: 32 random bytes. */
export function newSessionSecret(): string {
  return randomBase64url(SECRET_BYTES);
}

/** What is stored of a cookie's value: SHA-256, hex. */
export function sessionHash(secret: string): string {
  return hash("sha256", secret, "hex");
}

/**
 * The person behind the value of a cookie; null when there is no such session or it has ended. Cached for a few seconds;
 * `now: true` looks at the record itself: for every request that changes something. Errors: `meter_unreachable`.
 */
export async function authenticateSession(
  { control, operatorKeyHash }: SessionAuthContext,
  secret: string,
  { now }: { readonly now: boolean },
): Promise<SignedIn | null> {
  if (!SECRET.test(secret)) return null;
  const found = await control.consoleSessions.find(sessionHash(secret), { operatorKeyHash, now });
  return found === null ? null : { caller: personOf(found), csrfToken: csrfTokenOf(secret) };
}

function personOf({ session: { id: sessionId, signedInAt }, member }: LiveSession): PersonCaller {
  if (member === null) return { kind: "operator", session: { sessionId, signedInAt } };
  const { id: memberId, email, namespaceId, role, epoch } = member.record;
  const { namespaceSlug } = member;
  return { kind: "member", memberId, email, namespaceId, namespaceSlug, role, epoch, sessionId, signedInAt };
}

/** The word of a session, which only who knows the cookie can make: another site makes the browser send, not read it. */
export function csrfTokenOf(secret: string): string {
  return createHmac("sha256", secret).update("csrf token").digest("base64url");
}

/** Compares in time that does not depend on how much is right. */
export function isCsrfToken(
  { csrfToken }: Pick<SignedIn, "csrfToken">,
  sent: string | null | undefined,
): boolean {
  const encoder = new TextEncoder();
  return equalBytes(encoder.encode(sent ?? ""), encoder.encode(csrfToken));
}

/**
 * Whether a request's `Origin` is one of this service's own: that of `BASE_URL`, or the very host that was asked where
 * that is this machine. None counts as foreign: browsers send one with everything that changes something. `host` is that
 * of the request, with its port.
 */
export function isOwnOrigin(
  origin: string | undefined,
  { baseUrl, host }: { readonly baseUrl: string; readonly host: string },
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (origin === new URL(baseUrl).origin) return true;
  const { protocol, host: from, hostname } = new URL(origin);
  return protocol === "http:" && from === host && isLoopback(hostname);
}
