// Who asks, and for which database: the Authorization header becomes `c.get("caller")` under `/api` and
// `c.get("token")` under `/v1`; the path becomes `c.get("target")`.
import type { MiddlewareHandler } from "hono";
import { type AuthContext, authenticate, authenticateToken } from "../../lib/access/authenticate.ts";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { resolveTarget, type Target } from "../../lib/access/resolve_target.ts";
import type { ControlPlane } from "../../lib/control/control_plane.ts";
import type { Env } from "../http/env.ts";

/** Requires an API token or the operator key. Errors: `missing_bearer`, `invalid_bearer`, `meter_unreachable`. */
export function bearer(ctx: AuthContext): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set("caller", await authenticate(ctx, c.req.header("authorization")));
    await next();
  };
}

/** Requires an API token. Errors: as `bearer`. */
export function tokenBearer(ctx: AuthContext): MiddlewareHandler<Env> {
  return (c, next) => {
    const enter = (token: TokenCaller) => {
      c.set("token", token);
      return next();
    };
    const token = authenticateToken(ctx, c.req.header("authorization"));
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
