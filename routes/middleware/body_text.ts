// The body of a request as text, read once for all who need it, and what a repeated call must have in common with the
// first.
import type { Context, MiddlewareHandler } from "hono";
import { MAX_BODY_BYTES } from "../../lib/core/limits.ts";
import { readBody } from "../../lib/guard/read_body.ts";
import type { Env } from "../http/env.ts";

/**
 * The body. Of one that has taken long the caller is let in once more: with a revoked token it could otherwise still make
 * another one. Errors: `payload_too_large`, `request_timeout`, `invalid_json` (not UTF-8), those of letting in.
 */
export function bodyText(c: Context<Env>, maxBytes = MAX_BODY_BYTES): Promise<string> {
  const arrival = c.get("arrival");
  return arrival.bodyText ??= readBody(c.req.raw, {
    maxBytes,
    watch: arrival.bodyWatch,
    late: () => arrival.admit?.(c),
  });
}

/** For a call that has less to say than others: to read megabytes of JSON and to check them takes seconds. Errors: those of `bodyText`. */
export function bodyUpTo(maxBytes: number): MiddlewareHandler<Env> {
  return async (c, next) => {
    await bodyText(c, maxBytes);
    await next();
  };
}

/** Headers that change what a call does or answers, so they are part of its content like the body. */
const SHAPING = ["X-Integers", "X-Max-Affected", "X-Service-No-Snapshot"];

/**
 * The content of a call, which a repetition must repeat. `line` distinguishes the call from others of its scope. A
 * call without these headers has the same content as before they counted, because answers are stored for a day.
 * Errors: those of `bodyText`.
 */
export async function requestContent(c: Context<Env>, line = ""): Promise<string> {
  let shape = "";
  for (const name of SHAPING) {
    const value = c.req.header(name);
    if (value !== undefined) shape += `${name}: ${value.trim().toLowerCase()}\n`;
  }
  return `${shape}${line}${await bodyText(c)}`;
}
