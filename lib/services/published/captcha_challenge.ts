// What a page needs to solve the captcha of an endpoint.
import { AppError } from "../../core/errors.ts";
import { checkStatus } from "./check_gates.ts";
import { corsHeaders } from "./cors_headers.ts";
import type { PublishedAnswer, PublishedContext, PublishedRequest } from "./published_context.ts";
import { resolveEndpoint } from "./resolve_endpoint.ts";

/**
 * The embedded provider's challenge, or the provider's name and site key. Errors: `endpoint_not_found` (also where the
 * endpoint asks for no captcha), `endpoint_paused`, `meter_unreachable`.
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
