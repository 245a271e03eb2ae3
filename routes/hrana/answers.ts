// Answers in the form of libSQL's protocol. Its clients read an error only where the type is exactly `application/json` and the
// body has `message` and `code`.
import type { Context } from "hono";
import type { Env } from "../http/env.ts";
import { forAnyOrigin, wholeAnswer } from "../http/answers.ts";

/** An answer whose body is JSON already. Only browsers want to be told who may read it: each header takes its time. */
export function sendJson(c: Context<Env>, body: string, headers: Record<string, string> = {}): Response {
  const forPages = c.req.header("origin") === undefined ? {} : forAnyOrigin;
  return wholeAnswer(c, body, {
    status: 200,
    headers: { "content-type": "application/json", ...forPages, ...headers },
  });
}

/** The answer to a browser that asks whether a page may call. */
export function sendPreflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...forAnyOrigin,
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers":
        "authorization, content-type, idempotency-key, x-max-affected, x-service-no-snapshot",
      "access-control-max-age": "86400",
    },
  });
}
