// Which database is meant: the path `/v1/db/:ns/:db/…` becomes `c.get("target")`. Mounted on a path with both names.
import type { MiddlewareHandler } from "hono";
import { resolveTarget, type Target } from "../../lib/access/resolve_target.ts";
import type { ControlPlane } from "../../lib/control/control_plane.ts";
import type { Env } from "../http/env.ts";

/** Errors: `invalid_bearer`, `namespace_mismatch`, `database_not_found`, `out_of_scope`, `meter_unreachable`. */
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
