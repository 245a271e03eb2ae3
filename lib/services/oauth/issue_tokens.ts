// A code becomes the tokens of a connection, and a refresh token its next ones (RFC 6749, 4.1.3 and 6).
import { hash } from "node:crypto";
import {
  derivedToken,
  equalBytes,
  isToken,
  newToken,
  tokenHash,
  type TokenPrefix,
} from "../../access/token_format.ts";
import { actRecord } from "../../control/audit.ts";
import type { SpendOutcome } from "../../control/oauth_grants.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";
import { roles } from "../../core/role.ts";
import type { AuditAction, AuditFacts } from "../../store/audit_records.ts";
import type { TokenRecord } from "../../store/records.ts";
import type { Also } from "../../store/until_committed.ts";
import { isDocumentAddress } from "./client_documents.ts";
import { issuerOfResource } from "./issuer.ts";
import type { OauthContext } from "./oauth_context.ts";

/** What a client gets (RFC 6749, 5.1). */
export interface IssuedTokens {
  /** `cub_live_…`. */
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  /** `prefr_…`. */
  readonly refresh_token: string;
  /** The role. */
  readonly scope: string;
}

/** What both requests have in common. */
interface Asked {
  readonly clientId: string;
  readonly resource: string | null;
}

/**
 * Exchanges a code, once. A code that comes with anything wrong is used up. Errors: `invalid_grant`, `invalid_client`,
 * `invalid_target`, `meter_unreachable`.
 */
export async function exchangeCode(
  ctx: OauthContext,
  input: Asked & {
    readonly code: string;
    readonly verifier: string;
    /** Null: not sent, as OAuth 2.1 has it. */
    readonly redirectUri: string | null;
  },
): Promise<IssuedTokens> {
  issuerOfResource(ctx.baseUrl, input.resource);
  const secrets = secretsOf(newToken("cub_live_"), newToken("prefr_"));
  const challenge = hash("sha256", input.verifier, "base64url");
  const outcome = await ctx.control.oauthGrants.redeemCode(requireHash("pcode_", input.code), {
    fits: (code) =>
      code.grant.client.id === input.clientId && isEqual(code.codeChallenge, challenge) &&
      (input.redirectUri === null || input.redirectUri === code.redirectUri),
    tokenId: newId("tok", ctx.clock.now()),
    secrets: secrets.hashes,
    also: {
      connected: withConnection(ctx, "client.connected", ({ role, scopes, parentId, member }) => ({
        role,
        scopes: scopes.length,
        allowedBy: parentId ?? member?.id ?? null,
      })),
      ended: sentTwice(ctx),
    },
  });
  return issued(ctx, await requireSpent(ctx, { outcome, clientId: input.clientId }), secrets);
}

/**
 * Exchanges a refresh token, once; sent again at once by its client it is answered the same. Errors: `invalid_grant`,
 * `invalid_client`, `invalid_scope`, `invalid_target`, `meter_unreachable`.
 */
export async function refreshTokens(
  ctx: OauthContext,
  input: Asked & { readonly refreshToken: string; readonly scope: string | null },
): Promise<IssuedTokens> {
  issuerOfResource(ctx.baseUrl, input.resource);
  const hashed = requireHash("prefr_", input.refreshToken);
  await requireWithin(ctx, hashed, input.scope);
  const secrets = await nextSecrets(ctx, input.refreshToken);
  const { clientId } = input;
  const outcome = await ctx.control.oauthGrants.rotate(hashed, {
    clientId,
    secrets: secrets.hashes,
    also: { ended: sentTwice(ctx) },
  });
  return issued(ctx, await requireSpent(ctx, { outcome, clientId }), secrets);
}

/** Notes what becomes of a connection in the commit that does it, by the name of its client. */
export function withConnection(
  { control, clock }: OauthContext,
  action: Extract<AuditAction, `client.${string}`>,
  factsOf: (token: TokenRecord) => AuditFacts,
): Also<[TokenRecord]> {
  return (commit, token) => {
    const { id, name, namespaceId, client } = token;
    const by = { namespaceId, actor: id, actorName: name };
    const about = { target: id, facts: { client: client?.host ?? null, ...factsOf(token) } };
    return control.audit.addTo(commit, actRecord(clock.now(), { ...by, action, ...about }));
  };
}

function sentTwice(ctx: OauthContext): Also<[TokenRecord]> {
  return withConnection(ctx, "client.ended", () => ({ reason: "sent twice" }));
}

interface Secrets {
  readonly access: string;
  readonly refresh: string;
  readonly hashes: { readonly accessHash: string; readonly refreshHash: string };
}

/** Those that follow a refresh token. Nothing of them is stored, and only this service can make them again. */
async function nextSecrets({ hashes }: OauthContext, refreshToken: string): Promise<Secrets> {
  return secretsOf(
    derivedToken("cub_live_", await hashes.of("oauth access", refreshToken)),
    derivedToken("prefr_", await hashes.of("oauth refresh", refreshToken)),
  );
}

function secretsOf(access: string, refresh: string): Secrets {
  return { access, refresh, hashes: { accessHash: tokenHash(access), refreshHash: tokenHash(refresh) } };
}

function requireHash(prefix: TokenPrefix, secret: string): string {
  if (!isToken(prefix, secret)) throw new AppError("invalid_grant");
  return tokenHash(secret);
}

function isEqual(one: string, other: string): boolean {
  const encoder = new TextEncoder();
  return equalBytes(encoder.encode(one), encoder.encode(other));
}

/** A narrower token would be one of another connection: here the scope only may not grow. Uses nothing up. */
async function requireWithin(
  { control }: OauthContext,
  refreshHash: string,
  scope: string | null,
): Promise<void> {
  if (scope === null) return;
  const refresh = await control.oauthGrants.findRefresh(refreshHash);
  const token = refresh && await control.tokens.byId(refresh.namespaceId, refresh.tokenId);
  if (token === null) return;
  const asked = new Set(scope.split(" "));
  if (roles.slice(roles.indexOf(token.role) + 1).some((role) => asked.has(role))) {
    throw new AppError("invalid_scope");
  }
}

async function requireSpent(
  ctx: OauthContext,
  { outcome, clientId }: { readonly outcome: SpendOutcome; readonly clientId: string },
): Promise<TokenRecord> {
  if (outcome.ok) return outcome.token;
  // A client whose registration is over registers again at this word only, and never asks with the old id again.
  const isKnown = isDocumentAddress(clientId) || await ctx.control.oauthClients.find(clientId) !== null;
  throw new AppError(isKnown ? "invalid_grant" : "invalid_client");
}

function issued(ctx: OauthContext, token: TokenRecord, secrets: Secrets): IssuedTokens {
  const untilMs = token.secretUntilMs ?? ctx.clock.now() + oauthLimits.accessMs;
  return {
    access_token: secrets.access,
    token_type: "Bearer",
    expires_in: Math.max(1, Math.floor((untilMs - ctx.clock.now()) / 1000)),
    refresh_token: secrets.refresh,
    scope: token.role,
  };
}
