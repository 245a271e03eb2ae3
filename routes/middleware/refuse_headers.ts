// Headers by which a call does less or differently, on calls that would not hear them: a caller who takes them for heard
// is told so before anything happens.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";
import { hasHandler } from "./has_handler.ts";

const belongsTo = [
  ["X-Dry-Run", "query and batch, and a merge has dryRun in its body"],
  ["X-Max-Affected", "query and batch"],
] as const;

/** What only reads does nothing that they could bound. Errors: `validation_failed` naming the header. */
export function refuseHeaders(): MiddlewareHandler<Env> {
  return (c, next) => {
    const reads = ["GET", "HEAD"].includes(c.req.method);
    const header = reads ? undefined : belongsTo.find(([name]) => c.req.header(name) !== undefined);
    if (header === undefined || !hasHandler(c)) return next();
    const [path, operations] = header;
    throw new AppError("validation_failed", {
      issues: [{ path, message: `Leave the header out; it belongs to ${operations}` }],
    });
  };
}
