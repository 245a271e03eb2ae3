// Whether anything but middleware is mounted for a request's method and path.
import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { Env } from "../http/env.ts";

/** False where the answer is a 404 or a 405, whatever the request's headers say. */
export function hasHandler(c: Context<Env>): boolean {
  return matchedRoutes(c).some(({ method }) => method !== "ALL");
}
