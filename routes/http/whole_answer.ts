// An answer made with all of its headers at once: adding one later makes the runtime build the head a second time.
import type { Context } from "hono";
import type { Env } from "./env.ts";

/** Characters of an answer that every client takes in the time that a silent connection has. */
const LARGE = 1024 * 1024;

/** An answer that carries the request id already. `headers`: names in lower case; the id is put into it. */
export function wholeAnswer(
  c: Context<Env>,
  body: BodyInit | null,
  { status, headers }: { readonly status: number; readonly headers: Record<string, string> },
): Response {
  if (typeof body === "string" && body.length > LARGE) c.env?.expectLargeAnswer?.(body.length);
  headers["x-request-id"] = c.get("requestId");
  const answer = new Response(body, { status, headers });
  c.set("wholeAnswer", answer);
  return answer;
}
