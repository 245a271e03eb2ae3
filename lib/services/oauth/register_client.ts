// A client registers itself (RFC 7591). Anybody may, so that little is kept, for as long as it is used, and few times an
// hour.
import { HOUR_MS } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";
import type { RateWindow } from "../../control/rate_counters.ts";
import { readClientMetadata } from "./client_metadata.ts";
import type { OauthContext } from "./oauth_context.ts";

/**
 * The registration, as RFC 7591 (3.2.1) answers it. `address` is what counts as one. Errors: `invalid_redirect_uri`,
 * `invalid_client_metadata`, `too_many_registrations`, `meter_unreachable`.
 */
export async function registerClient(
  ctx: OauthContext,
  { metadata, address }: { readonly metadata: unknown; readonly address: string },
): Promise<object> {
  const client = readClientMetadata(metadata);
  await requireRoom(
    ctx,
    await ctx.hashes.of("oauth registrations of an address", address),
    oauthLimits.registrationsOfAddress,
  );
  await requireRoom(ctx, "all", oauthLimits.registrations);
  const now = ctx.clock.now();
  const { id, name, redirectUris } = await ctx.control.oauthClients.add({ id: newId("cli", now), ...client });
  return {
    client_id: id,
    client_id_issued_at: Math.floor(now / 1000),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

async function requireRoom(
  { rateCounters, clock }: OauthContext,
  client: string,
  limit: number,
): Promise<void> {
  const windowsAt = (nowMs: number): RateWindow[] => {
    const hour = Math.floor(nowMs / HOUR_MS);
    return [{ name: "hour", id: `hour${hour}`, limit, endsAtMs: (hour + 1) * HOUR_MS }];
  };
  const { admitted, states } = await rateCounters.take(
    { databaseId: "oauth", slug: "register", client },
    windowsAt,
  );
  if (admitted) return;
  const endsAtMs = states[0]?.window.endsAtMs ?? 0;
  throw new AppError("too_many_registrations", {
    retryAfterSec: Math.max(1, Math.ceil((endsAtMs - clock.now()) / 1000)),
  });
}
