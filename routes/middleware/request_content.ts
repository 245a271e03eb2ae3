// What a repetition of a call must have in common with the first one.
import type { Context } from "hono";
import type { Env } from "../http/env.ts";
import { bodyText } from "./body_text.ts";

/** They shape what a call does or answers, so they are a part of it as its body is. */
const SHAPING = ["X-Integers", "X-Max-Affected", "X-Service-No-Snapshot"];

/**
 * `line` tells the call from others of its scope. A call without shaping headers has the content that it had before
 * they counted: answers are kept for a day. Errors: those of `bodyText`.
 */
export async function requestContent(c: Context<Env>, line = ""): Promise<string> {
  let shape = "";
  for (const name of SHAPING) {
    const value = c.req.header(name);
    if (value !== undefined) shape += `${name}: ${value.trim().toLowerCase()}\n`;
  }
  return `${shape}${line}${await bodyText(c)}`;
}
