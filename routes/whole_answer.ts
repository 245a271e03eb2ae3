// An answer made with all of its headers at once: adding one later makes the runtime build the head a second time.
import type { Context } from "hono";
import type { Env } from "./env.ts";

/** An answer that carries the request id already. `headers`: names in lower case; the id is put into it. */
export function wholeAnswer(
  c: Context<Env>,
  body: BodyInit | null,
  { status, headers }: { readonly status: number; readonly headers: Record<string, string> },
): Response {
  headers["x-request-id"] = c.get("requestId");
  const answer = new Response(body, { status, headers });
  c.set("wholeAnswer", answer);
  return answer;
}
