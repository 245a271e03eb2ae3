// /p/:ns/:db/:slug: published endpoints, whatever the method, and the challenge of their captcha.
import { type Context, Hono } from "hono";
import { MAX_PUBLISHED_BODY_BYTES } from "../../lib/core/limits.ts";
import { clientAddress } from "../../lib/guard/client_address.ts";
import { readBody } from "../../lib/guard/read_body.ts";
import { captchaChallenge } from "../../lib/services/published/check_gates.ts";
import type { PublishedAnswer, PublishedRequest } from "../../lib/services/published/published_context.ts";
import { serveEndpoint } from "../../lib/services/published/serve_endpoint.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { rowFormOf } from "../middleware/header_flag.ts";
import { wholeAnswer } from "../http/answers.ts";

/** Mounted under `/p`. */
export function publishedRoutes({ published, config }: AppDeps): Hono<Env> {
  const requestOf = (c: Context<Env, "/:ns/:db/:slug">): PublishedRequest => {
    const { raw } = c.req;
    return {
      namespaceSlug: c.req.param("ns"),
      databasePath: c.req.param("db"),
      slug: c.req.param("slug"),
      method: raw.method,
      url: raw.url,
      headers: raw.headers,
      body: () => readBody(raw, { maxBytes: MAX_PUBLISHED_BODY_BYTES, watch: c.get("bodyWatch") }),
      rowForm: () => rowFormOf(c),
      address: clientAddress({
        socketAddress: c.get("peer")?.hostname ?? null,
        forwardedFor: config.trustProxy > 0 ? raw.headers.get("x-forwarded-for") : null,
        trustedHops: config.trustProxy,
      }),
      signal: () => raw.signal,
    };
  };
  return new Hono<Env>()
    // The steps of the endpoint refuse a method that it does not have, whatever the method.
    .all("/:ns/:db/:slug", async (c) => send(c, await serveEndpoint(published, requestOf(c))))
    .get("/:ns/:db/:slug/captcha", async (c) => send(c, await captchaChallenge(published, requestOf(c))));
}

function send(c: Context<Env>, { status, headers, body }: PublishedAnswer): Response {
  return wholeAnswer(c, body, { status, headers: { ...headers } });
}
