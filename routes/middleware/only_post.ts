// A word of the API that stands where other paths have a slug: it has its own method and none of the slug's.
import type { MiddlewareHandler } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";

/** Mounted on the word's own path, whose slug nobody can take. Errors: `method_not_allowed` with `Allow`. */
export function onlyPost(): MiddlewareHandler<Env> {
  return (c, next) => {
    if (c.req.method === "POST") return next();
    throw new AppError("method_not_allowed", { headers: { "Allow": "POST" } });
  };
}
