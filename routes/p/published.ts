// Everything under /p: published endpoints with the challenge of their captcha, and what a database publishes: the
// discovery document, an OpenAPI description and a client.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { MAX_PUBLISHED_BODY_BYTES } from "../../lib/core/limits.ts";
import type { AddressKey } from "../../lib/guard/address_key.ts";
import { type BodyBounds, readBody, readBytes } from "../../lib/guard/read_body.ts";
import { captchaChallenge } from "../../lib/services/published/check_gates.ts";
import type { TargetPath } from "../../lib/access/resolve_target.ts";
import { writeClient } from "../../lib/services/published/client/client_source.ts";
import { writePlainClient } from "../../lib/services/published/client/plain_client.ts";
import { describePublished } from "../../lib/services/published/discovery/describe_published.ts";
import { discoverEndpoints } from "../../lib/services/published/discovery/discover_endpoints.ts";
import type { PublishedAnswer, PublishedRequest } from "../../lib/services/published/published_context.ts";
import { serveEndpoint } from "../../lib/services/published/serve_endpoint.ts";
import { wholeAnswer } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { sendLongAnswer } from "../http/long_answer.ts";
import { requestAddress } from "../middleware/flood_gate.ts";
import { rowFormOf } from "../middleware/header_flag.ts";
import { validate } from "../middleware/validate.ts";

/** Mounted under `/p`. */
export function publishedRoutes({ published, config }: AppDeps): Hono<Env> {
  const requestOf = (c: Context<Env, "/:ns/:db/:slug">): PublishedRequest => {
    const { raw } = c.req;
    const address = requestAddress(c, config.trustProxy);
    return {
      namespaceSlug: c.req.param("ns"),
      databasePath: c.req.param("db"),
      slug: c.req.param("slug"),
      method: raw.method,
      url: raw.url,
      headers: raw.headers,
      body: () => readBody(raw, bounds(c, address)),
      bytes: () => readBytes(raw, bounds(c, address)),
      rowForm: () => rowFormOf(c),
      address,
      signal: () => raw.signal,
    };
  };
  return new Hono<Env>()
    // The steps of the endpoint refuse a method that it does not have, whatever the method.
    .all("/:ns/:db/:slug", async (c) => send(c, await serveEndpoint(published, requestOf(c))))
    .get("/:ns/:db/:slug/captcha", async (c) => send(c, await captchaChallenge(published, requestOf(c))));
}

/** Pictures come from telephones: a body that keeps coming may take longer here. */
function bounds(c: Context<Env>, { high, low }: AddressKey): BodyBounds {
  const { bodyWatch } = c.get("arrival");
  return { maxBytes: MAX_PUBLISHED_BODY_BYTES, watch: bodyWatch, address: `${high}:${low}` };
}

function send(c: Context<Env>, { status, headers, body }: PublishedAnswer): Response {
  return wholeAnswer(c, body, { status, headers: { ...headers } });
}

const address = z.strictObject({ namespace: z.string().max(64), database: z.string().max(128) });

/** Mounted under `/p`. */
export function discoveryRoutes({ control, baseUrl, query }: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get("/:ns/:db/.well-known/endpoints.json", (c) => {
      const address = addressOf(c);
      return sendDocument(c, address, () => discoverEndpoints({ control, baseUrl }, address));
    })
    .get("/:ns/:db/openapi.json", (c) => {
      const address = addressOf(c);
      return sendDocument(c, address, () => describePublished({ control, baseUrl }, address));
    })
    .get("/:ns/:db/client.ts", (c) => {
      const address = addressOf(c);
      const source = () => writeClient({ control, baseUrl, query }, address);
      return sendText(c, address, { type: "text/typescript; charset=utf-8", text: source });
    })
    .get("/:ns/:db/client.js", (c) => {
      const address = addressOf(c);
      const source = () => writePlainClient({ control, baseUrl, query }, address);
      return sendText(c, address, { type: "text/javascript; charset=utf-8", text: source });
    });
}

/** Mounted at the root: the same document, addressed by query parameters. */
export function wellKnownRoutes({ control, baseUrl }: AppDeps): Hono<Env> {
  return new Hono<Env>().get("/.well-known/endpoints.json", validate("query", address), (c) => {
    const { namespace, database } = c.req.valid("query");
    const input = { namespaceSlug: namespace, databasePath: database };
    return sendDocument(c, input, () => discoverEndpoints({ control, baseUrl }, input));
  });
}

/** Nothing here is secret: any page may read it, and any cache may store it for a moment. */
const forAnybody = { "access-control-allow-origin": "*", "cache-control": "public, max-age=30" } as const;

function sendDocument(c: Context<Env>, of: TargetPath, document: () => Promise<object>): Promise<Response> {
  return sendText(c, of, { type: "application/json", text: async () => JSON.stringify(await document()) });
}

function sendText(
  c: Context<Env>,
  { namespaceSlug }: TargetPath,
  { type, text }: { readonly type: string; readonly text: () => Promise<string> },
): Promise<Response> {
  return sendLongAnswer(c, { namespaceSlug, headers: { ...forAnybody, "content-type": type }, text });
}

function addressOf(c: Context<Env, "/:ns/:db/openapi.json">): TargetPath {
  return { namespaceSlug: c.req.param("ns"), databasePath: c.req.param("db") };
}
