// Answer of a list: the records, and how to go on beside them.
import type { Context } from "hono";
import type { Env } from "../http/env.ts";

export function sendPage(
  c: Context<Env>,
  page: { readonly items: readonly object[]; readonly nextCursor: string | null },
): Response {
  return c.json({ success: true, data: page.items, meta: { nextCursor: page.nextCursor } });
}
