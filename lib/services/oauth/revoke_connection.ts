// A client gives back what it was given (RFC 7009): its connection ends, whichever of its tokens it sends.
import { isToken, tokenHash } from "../../access/token_format.ts";
import type { TokenRecord } from "../../store/records.ts";
import { withConnection } from "./issue_tokens.ts";
import type { OauthContext } from "./oauth_context.ts";

/**
 * Ends the connection of a token of this client. A token that is unknown, of another client or not made by OAuth stays
 * as it is, and the caller learns nothing about it. Errors: `meter_unreachable`.
 */
export async function revokeConnection(
  ctx: OauthContext,
  input: { readonly token: string; readonly clientId: string },
): Promise<void> {
  const token = await connectionOf(ctx, input.token);
  if (token?.client === undefined || token.client.id !== input.clientId) return;
  const act = withConnection(ctx, "client.ended", () => ({ reason: "revoked by the client" }));
  await ctx.control.tokens.remove(token.namespaceId, token.id, act);
}

async function connectionOf({ control }: OauthContext, secret: string): Promise<TokenRecord | null> {
  if (isToken("cub_live_", secret)) return (await control.tokens.byHash(tokenHash(secret)))?.token ?? null;
  if (!isToken("prefr_", secret)) return null;
  // A client whose answer was lost has only the one before.
  const connection = await control.oauthGrants.findConnection(tokenHash(secret));
  return connection && await control.tokens.byId(connection.namespaceId, connection.tokenId);
}
