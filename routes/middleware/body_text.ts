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
