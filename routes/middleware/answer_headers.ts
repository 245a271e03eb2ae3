// Headers that every answer carries, whoever made it: the request id, no caching or type guessing of API data, and what
// a HEAD tells of the body.
import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";
import { type Env, peerOf } from "../http/env.ts";

export interface AnswerHeadersOptions {
  readonly clock: Clock;
  readonly bodyWatch: BodyWatch;
  /** Null where somebody else's server speaks to the client. */
  readonly responsePadding: ResponsePadding | null;
}

/**
 * Gives the request its id and adds the headers to the finished answer; a route's own `Cache-Control` stays. Answers
 * that are made whole (rows of SQL calls, and of endpoints, which say it themselves) are no place for a secret, and
 * what other methods than GET answer is neither cached nor loadable as a script: of those only a GET says so.
 */
export function answerHeaders(
  { clock, bodyWatch, responsePadding }: AnswerHeadersOptions,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const requestId = newId("req", clock.now());
    const peer = peerOf(c.env);
    c.set("requestId", requestId);
    c.set("bodyWatch", bodyWatch);
    c.set("peer", peer);
    await next();
    const { method } = c.req;
    const isWhole = c.res === c.get("wholeAnswer");
    if (!isWhole) c.res.headers.append("X-Request-Id", requestId);
    if (!isWhole || method === "GET" || method === "HEAD") keepPrivate(c.res.headers);
    const padding = peer === null ? null : responsePadding?.padding(peer.port) ?? null;
    // What a cache keeps for others is not this connection's alone.
    if (padding !== null && !isPublic(c.res.headers)) c.res.headers.append("X-Padding", padding);
    if (method === "HEAD") await tellLength(c);
  };
}

function isPublic(headers: Headers): boolean {
  return headers.get("Cache-Control")?.startsWith("public") ?? false;
}

function keepPrivate(headers: Headers): void {
  headers.append("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.append("Cache-Control", "no-store");
}

/** The body is dropped behind us; without its length the answer would claim that a GET has none. */
async function tellLength(c: Context<Env>): Promise<void> {
  if (c.res.body === null) return;
  c.res.headers.set("Content-Length", String((await c.res.clone().bytes()).length));
}

/**
 * Deno's server (2.9) sends head and body together where both fit the connection's write buffer: 512 bytes, that grow
 * when a head is longer and never shrink. Two packets cost the service, the kernel and the client about 7 µs an answer,
 * a sixth of a point read.
 */
const PADDING = "-".repeat(1000);
/** Seconds after which a port may be another connection's, and gets its long head again. */
const AGAIN_SEC = 60;
const PORTS = 1 << 16;

export class ResponsePadding {
  /** When the connection from a port last had its long head, in seconds; connections that share a number share an entry. */
  readonly #sinceSec = new Int32Array(PORTS).fill(-AGAIN_SEC);

  constructor(private readonly clock: Clock) {}

  /** The value of `X-Padding` for this answer, or null where the connection has had it. */
  padding(port: number): string | null {
    const nowSec = Math.floor(this.clock.monotonicMs() / 1000);
    const index = port % PORTS;
    if (nowSec - (this.#sinceSec[index] ?? 0) < AGAIN_SEC) return null;
    this.#sinceSec[index] = nowSec;
    return PADDING;
  }
}
