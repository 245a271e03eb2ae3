// Headers by which a call does less or differently, on calls that would not hear them: a caller who takes them for heard
// is told so before anything happens.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../env.ts";

const belongsTo = {
  "X-Dry-Run": "query and batch, and a merge has dryRun in its body",
  "X-Max-Affected": "query and batch",
  "X-Service-No-Snapshot": "query, batch and apply",
} as const;

/** A GET does nothing that they could bound. Errors: `validation_failed` naming the header. */
export function refuseHeaders(...names: readonly (keyof typeof belongsTo)[]): MiddlewareHandler<Env> {
  return (c, next) => {
    const path = c.req.method === "GET" ? undefined : names.find((name) => c.req.header(name) !== undefined);
    if (path === undefined) return next();
    throw new AppError("validation_failed", {
      issues: [{ path, message: `Leave the header out; it belongs to ${belongsTo[path]}` }],
    });
  };
}
