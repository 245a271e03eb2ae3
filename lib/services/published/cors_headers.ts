// Step 2, and what every answer tells browsers: only listed origins, word for word; without a list no CORS at all.
import type { PublishedAnswer, PublishedRequest, ResolvedEndpoint } from "./published_context.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";

/** Headers that scripts of the page may read. */
const EXPOSED = "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
const ALLOWED = "Authorization, Content-Type, If-None-Match, X-Captcha-Token, X-Integers";
/** Seconds that a browser may keep the answer to a preflight. */
const MAX_AGE_SEC = "600";

type Asked = Pick<PublishedRequest, "headers">;

/** CORS headers of every answer of the endpoint. `Vary` is always set, so that no cache mixes up origins. */
export function corsHeaders({ record }: ResolvedEndpoint, { headers }: Asked): Record<string, string> {
  const { origins } = prepareSpec(record.spec);
  if (origins === null) return {};
  const origin = headers.get("origin");
  if (origin === null || !origins.has(origin)) return { "vary": "Origin" };
  return {
    "vary": "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
  };
}

/** The answer to OPTIONS. */
export function preflight(resolved: ResolvedEndpoint, request: Asked): PublishedAnswer {
  const { method } = resolved.record.spec;
  const { "access-control-expose-headers": _, ...headers } = corsHeaders(resolved, request);
  const allow = { "allow": method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS" };
  if (headers["access-control-allow-origin"] === undefined) {
    return { status: 204, headers: { ...headers, ...allow }, body: null };
  }
  return {
    status: 204,
    headers: {
      ...headers,
      ...allow,
      "vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
      "access-control-allow-methods": method,
      "access-control-allow-headers": ALLOWED,
      "access-control-max-age": MAX_AGE_SEC,
    },
    body: null,
  };
}
