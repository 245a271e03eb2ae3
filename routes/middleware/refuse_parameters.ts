// Calls that do more than read take their options in the body or in headers, never in the address.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";
import { hasHandler } from "./not_found.ts";

const METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * Refuses parameters in the address of such calls: they would be ignored, and a misspelt safety option must not count as
 * absent. A GET checks its own; a call that takes some beside a body is mounted in front of this. Errors:
 * `validation_failed` naming each.
 */
export function refuseParameters(): MiddlewareHandler<Env> {
  return (c, next) => {
    if (!c.req.url.includes("?") || !METHODS.has(c.req.method) || !hasHandler(c)) return next();
    const issues = [...new Set(new URL(c.req.url).searchParams.keys())].map((path) => ({
      path,
      message: "Leave this out, or send it in the body; the call has no parameters in its address",
    }));
    if (issues.length === 0) return next();
    throw new AppError("validation_failed", { issues });
  };
}
