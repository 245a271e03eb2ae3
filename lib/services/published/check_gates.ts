// Steps 2 to 6: CORS, published, method, rate limit, captcha. Nothing of the caller's input has been read yet.
import { AppError } from "../../core/errors.ts";
import { checkRate } from "../../guard/rate_limit.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";
import { resolveEndpoint } from "./public_address.ts";
import type {
  PublishedAnswer,
  PublishedContext,
  PublishedRequest,
  ResolvedEndpoint,
} from "./published_context.ts";

/** Headers that scripts of the page may read. */
const EXPOSED = "ETag, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
const ALLOWED = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Captcha-Token, X-Integers";
/** Seconds that a browser may keep the answer to a preflight. */
const MAX_AGE_SEC = "600";

type Asked = Pick<PublishedRequest, "headers">;

/**
 * CORS headers of every answer of the endpoint: only listed origins, word for word; without a list none at all.
 * `Vary` is always set, so that no cache mixes up origins.
 */
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

/** Step 2: the answer to OPTIONS. */
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

/** Step 3. Errors: `endpoint_paused`. A draft is not found at all, in step 1. */
export function checkStatus({ record }: ResolvedEndpoint): void {
  if (record.status !== "published") throw new AppError("endpoint_paused");
}

/** Step 4. Errors: `method_not_allowed` with `Allow`. HEAD is GET without the body. */
export function checkMethod({ record }: ResolvedEndpoint, method: string): void {
  const wanted = record.spec.method;
  if (method === wanted || (method === "HEAD" && wanted === "GET")) return;
  throw new AppError("method_not_allowed", {
    message: `Use ${wanted} at this address`,
    headers: { "Allow": wanted === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS" },
  });
}

/**
 * Step 5. Counts the call for the client of that (hashed) address and answers the headers that tell about it. Errors:
 * `rate_limited` with `Retry-After`, `meter_unreachable`.
 */
export async function takeRate(
  { rateCounters, clock }: Pick<PublishedContext, "rateCounters" | "clock">,
  { record }: ResolvedEndpoint,
  client: string,
): Promise<Readonly<Record<string, string>>> {
  const limit = record.spec.rateLimit;
  if (limit === undefined || (limit.perMin === undefined && limit.perDay === undefined)) return {};
  // The trunk's counters count: a branch gives nobody a second allowance.
  const subject = { databaseId: record.databaseId, slug: record.spec.slug, client };
  const checked = checkRate(rateCounters, subject, { limit, nowMs: () => clock.now() });
  const { admitted, retryAfterSec, headers } = checked instanceof Promise ? await checked : checked;
  if (!admitted) throw new AppError("rate_limited", { retryAfterSec, headers });
  return headers;
}

/** Step 6. Errors: `captcha_failed`, `captcha_unavailable`, `meter_unreachable`. */
export async function checkCaptcha(
  { captcha }: Pick<PublishedContext, "captcha">,
  { record }: ResolvedEndpoint,
  headers: PublishedRequest["headers"],
): Promise<void> {
  if (record.spec.captcha !== true) return;
  const token = headers.get("x-captcha-token");
  if (token === null || token === "") {
    throw new AppError("captcha_failed", {
      message: `Solve what GET ${record.spec.slug}/captcha gives, and send the token as X-Captcha-Token`,
    });
  }
  const scope = { databaseId: record.databaseId, slug: record.spec.slug };
  if (!await captcha.verify(scope, token)) throw new AppError("captcha_failed");
}

/**
 * What a page needs to solve the captcha of an endpoint: the embedded provider's challenge, or the provider's name
 * and site key. Errors: `endpoint_not_found` (also where the endpoint asks for no captcha), `endpoint_paused`,
 * `meter_unreachable`.
 */
export async function captchaChallenge(
  ctx: Pick<PublishedContext, "control" | "captcha">,
  request: Pick<PublishedRequest, "namespaceSlug" | "databasePath" | "slug" | "headers">,
): Promise<PublishedAnswer> {
  const resolved = await resolveEndpoint(ctx, request);
  checkStatus(resolved);
  const { spec, databaseId } = resolved.record;
  if (spec.captcha !== true) {
    throw new AppError("endpoint_not_found", { message: "This endpoint asks for no captcha" });
  }
  const challenge = await ctx.captcha.challenge({ databaseId, slug: spec.slug });
  const headers = { ...corsHeaders(resolved, request), "content-type": "application/json" };
  return { status: 200, headers, body: JSON.stringify(challenge) };
}
