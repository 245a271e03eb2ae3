// Headers that every answer carries, whoever made it: the request id, no caching or type guessing of API data, and what
// a HEAD tells of the body.
import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { Env } from "../env.ts";
import { peerOf } from "../peer.ts";
import type { RoomyHeads } from "./roomy_head.ts";

export interface AnswerHeadersOptions {
  readonly clock: Clock;
  readonly bodyWatch: BodyWatch;
  /** Null where somebody else's server speaks to the client. */
  readonly roomyHeads: RoomyHeads | null;
}

/**
 * Gives the request its id and adds the headers to the finished answer. What other methods than GET answer is
 * neither cached nor loadable as a script, so only a GET says so; a route's own `Cache-Control` stays.
 */
export function answerHeaders(
  { clock, bodyWatch, roomyHeads }: AnswerHeadersOptions,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const requestId = newId("req", clock.now());
    const peer = peerOf(c.env);
    c.set("requestId", requestId);
    c.set("bodyWatch", bodyWatch);
    c.set("peer", peer);
    await next();
    if (c.res !== c.get("wholeAnswer")) c.res.headers.append("X-Request-Id", requestId);
    const padding = peer === null ? null : roomyHeads?.padding(peer.port) ?? null;
    // What a cache keeps for others is not this connection's alone.
    if (padding !== null && !isPublic(c.res.headers)) c.res.headers.append("X-Padding", padding);
    const { method } = c.req;
    if (method === "GET" || method === "HEAD") await headersOfGet(c, method);
  };
}

function isPublic(headers: Headers): boolean {
  return headers.get("Cache-Control")?.startsWith("public") ?? false;
}

async function headersOfGet(c: Context<Env>, method: "GET" | "HEAD"): Promise<void> {
  const { headers } = c.res;
  headers.append("X-Content-Type-Options", "nosniff");
  // The body is dropped behind us; without its length the answer would claim that a GET has none.
  if (method === "HEAD" && c.res.body !== null) {
    headers.set("Content-Length", String((await c.res.clone().bytes()).length));
  }
  if (!headers.has("Cache-Control")) headers.append("Cache-Control", "no-store");
}
