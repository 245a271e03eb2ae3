// Steps 3 to 6: published, method, rate limit, captcha. Nothing of the caller's input has been read yet.
import { AppError } from "../../core/errors.ts";
import { checkRate } from "../../guard/rate_limit.ts";
import type { PublishedContext, PublishedRequest, ResolvedEndpoint } from "./published_context.ts";

/** Step 3. Errors: `endpoint_paused`. Drafts do not come that far. */
export function checkStatus({ record }: ResolvedEndpoint): void {
  if (record.status !== "published") throw new AppError("endpoint_paused");
}

/** Step 4. Errors: `method_not_allowed` with `Allow`. HEAD is GET without the body. */
export function checkMethod({ record }: ResolvedEndpoint, method: string): void {
  const wanted = record.spec.method;
  if (method === wanted || (method === "HEAD" && wanted === "GET")) return;
  throw new AppError("method_not_allowed", {
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
  // Of the trunk: a branch of the database brings nobody a second allowance.
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
      message: "Solve the captcha and send its token as X-Captcha-Token",
    });
  }
  const scope = { databaseId: record.databaseId, slug: record.spec.slug };
  if (!await captcha.verify(scope, token)) throw new AppError("captcha_failed");
}
