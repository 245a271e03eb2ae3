// The body of a request as text, read once however many look at it.
import type { Context } from "hono";
import { MAX_BODY_BYTES } from "../../lib/core/limits.ts";
import { readBody } from "../../lib/guard/read_body.ts";
import type { Env } from "../http/env.ts";

/** Errors: `payload_too_large`, `request_timeout`, `invalid_json` (not UTF-8). */
export async function bodyText(c: Context<Env>): Promise<string> {
  const known = c.get("bodyText");
  if (known !== undefined) return known;
  const text = await readBody(c.req.raw, { maxBytes: MAX_BODY_BYTES, watch: c.get("bodyWatch") });
  c.set("bodyText", text);
  return text;
}

/** They shape what a call does or answers, so they are a part of it as its body is. */
const SHAPING = ["X-Integers", "X-Max-Affected", "X-Service-No-Snapshot"];

/**
 * What a repetition of a call must have in common with the first one. `line` tells the call from others of its scope.
 * A call without shaping headers has the content that it had before they counted: answers are kept for a day. Errors:
 * those of `bodyText`.
 */
export async function requestContent(c: Context<Env>, line = ""): Promise<string> {
  let shape = "";
  for (const name of SHAPING) {
    const value = c.req.header(name);
    if (value !== undefined) shape += `${name}: ${value.trim().toLowerCase()}\n`;
  }
  return `${shape}${line}${await bodyText(c)}`;
}
