// From the Authorization header to the caller. On the hot path: it answers at once while the token's record is
// cached.
import type { ControlPlane } from "../control/control_plane.ts";
import type { KnownToken } from "../control/tokens.ts";
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { TokenAudience } from "../store/records.ts";
import type { Caller, TokenCaller } from "./caller.ts";
import { equalBytes, isToken, tokenHash } from "./token_format.ts";

/** What it needs of the process. */
export interface AuthContext {
  readonly control: ControlPlane;
  readonly clock: Clock;
  /** SHA-256 of the operator key, hex. */
  readonly operatorKeyHash: string;
}

const SCHEME = /^Bearer +([!-~]{1,512}) *$/i;

/**
 * The caller of an `/api` request: an API token or the operator key. `authorization` is the header's value.
 * Errors: `missing_bearer`, `invalid_bearer`, `wrong_audience`, all with `WWW-Authenticate`; `meter_unreachable`.
 */
export function authenticate(ctx: AuthContext, authorization: string | undefined): Caller | Promise<Caller> {
  const secret = bearer(authorization);
  if (isOperatorKey(ctx, secret)) return { kind: "operator" };
  return tokenCaller(ctx, secret);
}

/**
 * The caller of any other door: an API token only. `audience` is the door's own, so that tokens count there that count
 * nowhere else. Errors as `authenticate`.
 */
export function authenticateToken(
  ctx: AuthContext,
  authorization: string | undefined,
  audience?: TokenAudience,
): TokenCaller | Promise<TokenCaller> {
  return authenticateSecret(ctx, bearer(authorization), audience);
}

/** The same by the token itself. Errors as `authenticate`, without `missing_bearer`. */
export function authenticateSecret(
  ctx: AuthContext,
  secret: string,
  audience?: TokenAudience,
): TokenCaller | Promise<TokenCaller> {
  if (secret.startsWith("cub_op_")) {
    throw invalidBearer(
      "Send an API token; operator keys count under /api, where they make namespaces and tokens",
    );
  }
  return tokenCaller(ctx, secret, audience);
}

/** The token of an id, as it counts now. Errors: `invalid_bearer`, `wrong_audience`, `meter_unreachable`. */
export async function authenticateId(
  ctx: Pick<AuthContext, "control" | "clock">,
  { namespaceId, tokenId }: { readonly namespaceId: string; readonly tokenId: string },
  audience?: TokenAudience,
): Promise<TokenCaller> {
  const record = await ctx.control.tokens.byId(namespaceId, tokenId);
  const known = record === null ? null : await ctx.control.tokens.byHash(record.hash);
  return toCaller(ctx, known, audience);
}

/** The secret of an Authorization header. Errors: `missing_bearer`, `invalid_bearer`. */
export function bearer(authorization: string | undefined): string {
  const secret = authorization === undefined ? undefined : SCHEME.exec(authorization)?.[1];
  if (secret !== undefined) return secret;
  // A header with the scheme but without a usable secret was meant as a bearer.
  if (authorization !== undefined && /^Bearer /i.test(authorization)) throw invalidBearer();
  throw new AppError("missing_bearer", { headers: { "www-authenticate": 'Bearer realm="cubby"' } });
}

/** Hashes of tokens in use: hashing each time would cost more than the look-up. Emptied when full. */
const hashes = new Map<string, string>();
const MAX_HASHES = 1000;

/** Null for text that cannot be a token. */
function hashOf(secret: string): string | null {
  let hash = hashes.get(secret);
  if (hash === undefined) {
    if (!isToken("cub_live_", secret)) return null;
    hash = tokenHash(secret);
    if (hashes.size >= MAX_HASHES) hashes.clear();
    hashes.set(secret, hash);
  }
  return hash;
}

/** Whether a text is the operator key. */
export function isOperatorKey(ctx: Pick<AuthContext, "operatorKeyHash">, secret: string): boolean {
  return hasHash(secret, ctx.operatorKeyHash);
}

/**
 * Lets the operator key and that token pass; null: there is none. Errors: `missing_bearer`, `invalid_bearer`, whoever else it
 * is, because nobody can be given the right.
 */
export function requireScraper(
  ctx: Pick<AuthContext, "operatorKeyHash">,
  metricsToken: string | null,
  authorization: string | undefined,
): void {
  const secret = bearer(authorization);
  const isScraper = metricsToken !== null && hasHash(secret, tokenHash(metricsToken));
  if (!isScraper && !isOperatorKey(ctx, secret)) {
    throw invalidBearer(
      "Send the operator's key or METRICS_TOKEN; no other bearer reads the figures of the service",
    );
  }
}

function hasHash(secret: string, hash: string): boolean {
  // Comparing hashes reveals nothing about the key by its time, not even the length.
  const encoder = new TextEncoder();
  return equalBytes(encoder.encode(tokenHash(secret)), encoder.encode(hash));
}

function tokenCaller(
  ctx: AuthContext,
  secret: string,
  audience?: TokenAudience,
): TokenCaller | Promise<TokenCaller> {
  const hash = hashOf(secret);
  if (hash === null) throw invalidBearer();
  const known = ctx.control.tokens.byHash(hash);
  return known instanceof Promise
    ? known.then((value) => toCaller(ctx, value, audience))
    : toCaller(ctx, known, audience);
}

function toCaller(
  ctx: Pick<AuthContext, "control" | "clock">,
  known: KnownToken | null,
  audience?: TokenAudience,
): TokenCaller {
  if (known === null) throw invalidBearer();
  const { token, namespaceSlug, secretUntilMs } = known;
  const expiresAt = secretUntilMs ?? token.expiresAt;
  if (expiresAt !== null && expiresAt <= ctx.clock.now()) throw invalidBearer();
  if (token.audience !== undefined && token.audience !== audience) {
    throw new AppError("wrong_audience", { headers: INVALID_TOKEN });
  }
  ctx.control.tokenUses.note(token);
  return {
    kind: "token",
    tokenId: token.id,
    name: token.name,
    namespaceId: token.namespaceId,
    namespaceSlug,
    role: token.role,
    scopes: token.scopes,
    expiresAt,
  };
}

const INVALID_TOKEN = { "www-authenticate": 'Bearer realm="cubby", error="invalid_token"' };

function invalidBearer(message?: string): AppError {
  return new AppError("invalid_bearer", { headers: INVALID_TOKEN, ...(message ? { message } : {}) });
}
