// Headers that every answer carries, whoever made it: the request id, no caching or type guessing of API data, and what
// a HEAD tells of the body.
import type { MiddlewareHandler } from "hono";
import type { Clock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { Env } from "../env.ts";

/**
 * Gives the request its id and adds the headers to the finished answer. What other methods than GET answer is
 * neither cached nor loadable as a script, so only a GET says so; a route's own `Cache-Control` stays.
 */
export function answerHeaders(clock: Clock, bodyWatch: BodyWatch): MiddlewareHandler<Env> {
  return async (c, next) => {
    const requestId = newId("req", clock.now());
    c.set("requestId", requestId);
    c.set("bodyWatch", bodyWatch);
    await next();
    const headers = c.res.headers;
    headers.append("X-Request-Id", requestId);
    if (c.req.method !== "GET" && c.req.method !== "HEAD") return;
    headers.append("X-Content-Type-Options", "nosniff");
    // The body is dropped behind us; without its length the answer would claim that a GET has none.
    if (c.req.method === "HEAD" && c.res.body !== null) {
      headers.set("Content-Length", String((await c.res.clone().bytes()).length));
    }
    if (!headers.has("Cache-Control")) headers.append("Cache-Control", "no-store");
  };
}
