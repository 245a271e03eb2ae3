// Who asks, and for which database: the Authorization header, or under `/api` the cookie of the console, becomes
// `c.get("caller")` under `/api` and `c.get("token")` under `/v1`; the path becomes `c.get("target")`.
import type { Context, MiddlewareHandler } from "hono";
import { type AuthContext, authenticate, authenticateToken } from "../../lib/access/authenticate.ts";
import {
  authenticateSession,
  isCsrfToken,
  isOwnOrigin,
  type SignedIn,
} from "../../lib/access/authenticate_session.ts";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { resolveTarget, type Target, TRUNK } from "../../lib/access/resolve_target.ts";
import type { ControlPlane } from "../../lib/control/control_plane.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { TokenAudience } from "../../lib/store/records.ts";
import type { Env } from "../http/env.ts";
import { sessionCookie } from "../http/session_cookie.ts";

/** What a cookie is checked against. */
interface CookieContext extends AuthContext {
  readonly baseUrl: string;
}

/**
 * Requires an API token, the operator key, or a session of the console. Where there is an Authorization header it alone
 * counts. Errors: `missing_bearer`, `invalid_bearer`, `session_ended`, `csrf_refused`, `meter_unreachable`.
 */
export function bearerOrSession(ctx: CookieContext): MiddlewareHandler<Env> {
  const admit = async (c: Context<Env>) => {
    const authorization = c.req.header("authorization");
    const cookie = authorization === undefined ? sessionCookie(c, ctx.baseUrl) : undefined;
    return cookie === undefined
      ? await authenticate(ctx, authorization)
      : (await requireSession(ctx, c, cookie)).caller;
  };
  return async (c, next) => {
    c.get("arrival").admit = admit;
    c.set("caller", await admit(c));
    await next();
  };
}

/**
 * The session of a cookie. A request that changes something has to come from a page of this service and to say the
 * session's own word, and the session's record is read for it. Errors: `session_ended`, `csrf_refused`.
 */
async function requireSession(ctx: CookieContext, c: Context<Env>, cookie: string): Promise<SignedIn> {
  const changes = !isSafeMethod(c.req.method);
  const signedIn = await authenticateSession(ctx, cookie, { now: changes });
  if (signedIn === null) throw new AppError("session_ended");
  if (!changes) return signedIn;
  const own = isOwnOrigin(c.req.header("origin"), { baseUrl: ctx.baseUrl, host: new URL(c.req.url).host });
  if (!own || !isCsrfToken(signedIn, c.req.header("x-csrf-token"))) throw new AppError("csrf_refused");
  return signedIn;
}

function isSafeMethod(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Requires an API token; `audience` lets in those that count at this door only. Errors: as `authenticate`. */
export function tokenBearer(ctx: AuthContext, audience?: TokenAudience): MiddlewareHandler<Env> {
  const admit = (c: Context<Env>) => authenticateToken(ctx, c.req.header("authorization"), audience);
  return (c, next) => {
    c.get("arrival").admit = admit;
    const enter = (token: TokenCaller) => {
      c.set("token", token);
      return next();
    };
    const token = admit(c);
    // A cached token costs no turn of the event loop.
    return token instanceof Promise ? token.then(enter) : enter(token);
  };
}

/**
 * Resolves `/v1/db/:ns/:db/…`; mounted on a path with both names. Errors: `invalid_bearer`, `namespace_mismatch`,
 * `database_not_found`, `out_of_scope`, `meter_unreachable`.
 */
export function target(ctx: { readonly control: ControlPlane }): MiddlewareHandler<Env, "/:ns/:db/*"> {
  return (c, next) => {
    const enter = (target: Target) => {
      c.set("target", target);
      return next();
    };
    const path = { namespaceSlug: c.req.param("ns"), databasePath: c.req.param("db") };
    const target = resolveTarget(ctx, c.get("token"), path);
    return target instanceof Promise ? target.then(enter) : enter(target);
  };
}

/**
 * The same database once more, for work that goes on long after its request was let in: a bearer that was revoked since does
 * nothing further. Errors: those of `tokenBearer` and `target`; `database_not_found` or `branch_not_found` where another one
 * has the name by now.
 */
export async function targetNow(ctx: AuthContext, c: Context<Env>): Promise<Target> {
  const { databaseId, namespaceSlug, databaseSlug: databasePath, branchRef } = c.get("target");
  const token = await authenticateToken(ctx, c.req.header("authorization"));
  const target = await resolveTarget(ctx, token, { namespaceSlug, databasePath });
  if (target.databaseId === databaseId) return target;
  throw new AppError(branchRef === TRUNK ? "database_not_found" : "branch_not_found");
}
