// Paths without a handler: 404, or 405 where another method has one.
import type { Context, Hono, MiddlewareHandler, NotFoundHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The handler of last resort. Errors: `not_found`, `method_not_allowed` with `Allow`. */
export function notFound(app: Hono<Env>): NotFoundHandler<Env> {
  return (c) => {
    const allowed = METHODS.filter((method) => hasRoute(app, method, c.req.path));
    if (allowed.length === 0) throw new AppError("not_found");
    if (allowed.includes("GET")) allowed.push("HEAD");
    throw new AppError("method_not_allowed", { headers: { "Allow": allowed.join(", ") } });
  };
}

/** Middleware is mounted for all methods, so only a match with a method of its own is a route. */
function hasRoute(app: Hono<Env>, method: string, path: string): boolean {
  const [matches] = app.router.match(method, path);
  return matches.some(([[, route]]) => route.method === method);
}

/**
 * For a word of the API where other paths have a slug: it allows only POST, and none of the slug's methods. Mounted
 * on the word's own path, whose slug nobody can take. Errors: `method_not_allowed` with `Allow`.
 */
export function onlyPost(): MiddlewareHandler<Env> {
  return (c, next) => {
    if (c.req.method === "POST") return next();
    throw new AppError("method_not_allowed", { headers: { "Allow": "POST" } });
  };
}

/** Whether a request has a handler beside middleware. False where the answer is a 404 or a 405. */
export function hasHandler(c: Context<Env>): boolean {
  return matchedRoutes(c).some(({ method }) => method !== "ALL");
}
