// Headers that every answer carries: the request id, no caching and no guessing of types for API data, the length for
// HEAD, and padding that makes later answers faster. Every request is counted here too, because all pass.
import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { RequestCounts } from "../../lib/services/metrics/request_counts.ts";
import { arrivalOf, type Env, peerOf } from "../http/env.ts";
import { codeOf } from "./error_boundary.ts";

/** What this needs of the process. */
export interface AnswerHeadersOptions {
  readonly clock: Clock;
  readonly bodyWatch: BodyWatch;
  readonly requests: RequestCounts;
  /** Null where another server talks to the client. */
  readonly responsePadding: ResponsePadding | null;
}

/**
 * Gives the request its id and adds the headers to the finished answer; a route's own `Cache-Control` stays. An
 * answer that is made whole has the id already. A GET says that it must not be cached; other methods are never
 * cached.
 */
export function answerHeaders(
  { clock, bodyWatch, requests, responsePadding }: AnswerHeadersOptions,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    listHeaders(c.req.raw.headers);
    const nowMs = clock.now();
    requests.begin();
    const requestId = newId("req", nowMs);
    const peer = peerOf(c.env);
    const arrival = arrivalOf({ requestId, peer, bodyWatch });
    c.set("arrival", arrival);
    await next();
    const { method } = c.req;
    const isWhole = c.res === arrival.wholeAnswer;
    if (!isWhole) c.res.headers.append("X-Request-Id", requestId);
    if (!isWhole || method === "GET" || method === "HEAD") keepPrivate(c.res.headers);
    const padding = peer === null ? null : responsePadding?.padding(peer.port, nowMs) ?? null;
    // A cache would give the padding to other connections.
    if (padding !== null && !isPublic(c.res.headers)) c.res.headers.append("X-Padding", padding);
    if (method === "HEAD") await tellLength(c);
    if (c.error !== undefined) requests.failed(codeOf(c.error));
    requests.end(c.req.path, c.res.status, clock.now() - nowMs);
  };
}

/**
 * The runtime (2.9) asks the server for each header by its name, until it has made a list of them all. It makes that list
 * at the latest when the answer leaves, if anybody has asked for a header, so it had better be there before the first is asked for.
 */
function listHeaders(headers: Headers): void {
  headers.has("host");
}

function isPublic(headers: Headers): boolean {
  return headers.get("Cache-Control")?.startsWith("public") ?? false;
}

function keepPrivate(headers: Headers): void {
  headers.append("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.append("Cache-Control", "no-store");
}

/** The server drops the body later. Without its length the answer would claim that a GET has none. */
async function tellLength(c: Context<Env>): Promise<void> {
  if (c.res.body === null) return;
  c.res.headers.set("Content-Length", String((await c.res.clone().bytes()).length));
}

/**
 * Deno's server (2.9) sends head and body in one piece when both fit the connection's write buffer: 512 bytes, which
 * grow with a longer head and never shrink. Two packets cost the service, the kernel and the client about 7 µs for
 * each answer, a sixth of a point read.
 */
const PADDING = "-".repeat(1000);
/** Seconds after which a port may belong to another connection, which gets the padding again. */
const AGAIN_SEC = 60;
const PORTS = 1 << 16;

/** Gives the first answer of each connection a long head. */
export class ResponsePadding {
  /**
   * When the connection from a port last got the padding, in seconds. Ports with the same remainder share an entry.
   */
  readonly #sinceSec = new Uint32Array(PORTS);

  /**
   * The value of `X-Padding` for this answer; null where the connection has had it. `nowMs`: unix milliseconds. A clock
   * that is put back gives the padding once more.
   */
  padding(port: number, nowMs: number): string | null {
    const nowSec = Math.floor(nowMs / 1000);
    const index = port % PORTS;
    if (Math.abs(nowSec - (this.#sinceSec[index] ?? 0)) < AGAIN_SEC) return null;
    this.#sinceSec[index] = nowSec;
    return PADDING;
  }
}
