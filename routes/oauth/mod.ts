// OAuth 2.1 for MCP clients: what they read first, and the endpoints that programs call. The page on which a person
// decides is one of the console.
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import { oauthLimits } from "../../lib/core/oauth_limits.ts";
import { parseJson } from "../../lib/guard/parse_json.ts";
import { readBody } from "../../lib/guard/read_body.ts";
import { exchangeCode, type IssuedTokens, refreshTokens } from "../../lib/services/oauth/issue_tokens.ts";
import { resourceMetadata, serverMetadata } from "../../lib/services/oauth/metadata.ts";
import { registerClient } from "../../lib/services/oauth/register_client.ts";
import { revokeConnection } from "../../lib/services/oauth/revoke_connection.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { requestAddress } from "../middleware/flood_gate.ts";
import { oauthBoundary } from "./oauth_boundary.ts";
import { type Parameters, readParameters } from "./read_parameters.ts";

/** Where a person decides: authorization requests go on there as they are. */
const CONSENT_PAGE = "/console/-/connect";

/** Mounted at the root. */
export function oauthRoutes(deps: AppDeps): Hono<Env> {
  const { oauth, baseUrl, config, log } = deps;
  const forAnybody = { "Cache-Control": "public, max-age=30", "Vary": "Host" } as const;
  const about = (c: Context<Env>) => ({ baseUrl, host: c.req.header("host") ?? new URL(c.req.url).host });
  const resource = (c: Context<Env>) => c.json(resourceMetadata(about(c)), 200, forAnybody);
  const server = (c: Context<Env>) => c.json(serverMetadata(about(c)), 200, forAnybody);
  const app = new Hono<Env>();
  app.onError(oauthBoundary(log));
  app.use("/.well-known/oauth-protected-resource/*", anyOrigin);
  app.use("/.well-known/oauth-authorization-server/*", anyOrigin);
  app.use("/oauth/*", anyOrigin);
  return app
    .get("/.well-known/oauth-protected-resource", resource)
    .get("/.well-known/oauth-protected-resource/mcp", resource)
    .get("/.well-known/oauth-authorization-server", server)
    .get("/.well-known/oauth-authorization-server/mcp", server)
    .get("/oauth/authorize", (c) => c.redirect(CONSENT_PAGE + new URL(c.req.url).search, 302))
    .post("/oauth/register", async (c) => {
      const { high, low } = requestAddress(c, config.trustProxy);
      const metadata = parseJson(await smallBody(c));
      return c.json(await registerClient(oauth, { metadata, address: `${high}:${low}` }), 201);
    })
    .post("/oauth/token", async (c) => {
      const parameters = readParameters(c.req.header("content-type"), await smallBody(c));
      return c.json(await grantOf(parameters), 200, { "Cache-Control": "no-store", "Pragma": "no-cache" });
    })
    .post("/oauth/revoke", async (c) => {
      const parameters = readParameters(c.req.header("content-type"), await smallBody(c));
      await revokeConnection(oauth, {
        token: parameters.required("token"),
        clientId: parameters.required("client_id"),
      });
      return c.body(null, 200);
    });

  async function grantOf(parameters: Parameters): Promise<IssuedTokens> {
    const grantType = parameters.required("grant_type");
    const asked = {
      clientId: parameters.required("client_id"),
      resource: parameters.optional("resource"),
    };
    if (grantType === "authorization_code") {
      return await exchangeCode(oauth, {
        ...asked,
        code: parameters.required("code"),
        verifier: parameters.required("code_verifier"),
        redirectUri: parameters.optional("redirect_uri"),
      });
    }
    if (grantType !== "refresh_token") throw new AppError("unsupported_grant_type");
    return await refreshTokens(oauth, {
      ...asked,
      refreshToken: parameters.required("refresh_token"),
      scope: parameters.optional("scope"),
    });
  }
}

function smallBody(c: Context<Env>): Promise<string> {
  return readBody(c.req.raw, { maxBytes: oauthLimits.bodyBytes, watch: c.get("arrival").bodyWatch });
}

/** Clients that run in a browser call from everywhere; no cookie counts here. */
const anyOrigin: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method === "OPTIONS" && c.req.header("origin") !== undefined) {
    return c.body(null, 204, {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": "GET, POST",
      "Access-Control-Allow-Headers": "content-type, authorization, mcp-protocol-version",
      "Access-Control-Max-Age": "86400",
    });
  }
  await next();
  c.res.headers.set("Access-Control-Allow-Origin", "*");
  return;
};
