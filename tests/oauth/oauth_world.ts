// An MCP client as `oauth4webapi` plays it, and the person who decides about it, as a browser without script does.
import { assert, assertEquals, assertMatch } from "@std/assert";
import * as oauth from "oauth4webapi";
import { authenticateToken } from "../../lib/access/authenticate.ts";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { sendForm } from "../console/open_page.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export const REDIRECT_URI = "https://client.example/callback";

/** A registered client, a namespace, and its admin. */
export interface OauthWorld {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  readonly admin: TestPerson;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  /** `BASE/mcp`. */
  readonly resource: string;
}

/** What a request for consent is made of; each may be replaced, null leaves it out. */
export type Parameters = Readonly<Record<string, string | null>>;

/** Who allows, and what. */
export interface Decision {
  /** A session; absent: the admin's. */
  readonly person?: TestPerson | null;
  /** Instead of a session. */
  readonly token?: string;
  readonly role?: string;
  /** Absent: all that there is. */
  readonly database?: string;
  readonly decision?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly csrf?: string;
}

/** What went out with a request, and what came back. */
export interface Consent {
  readonly callback: URL;
  readonly verifier: string;
  readonly redirectUri: string;
}

const STATE = "a state of the client";

export async function oauthWorld(app: StartedApp, slug: string): Promise<OauthWorld> {
  const tenant = await app.namespace(slug);
  const admin = await signIn(app, { role: "admin", namespace: slug });
  const resource = `${app.deps.baseUrl}/mcp`;
  const server = await discover(app, resource);
  return { app, tenant, admin, server, resource, client: await register(app, server) };
}

/** Requests of the client library to the app in this process. */
export function options(app: StartedApp): {
  [oauth.allowInsecureRequests]: true;
  [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<string, unknown>) => Promise<Response>;
} {
  return {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (url: string, init: oauth.CustomFetchOptions<string, unknown>) =>
      await app.app.request(url, { ...init, body: init.body?.toString() ?? null, signal: null }),
  };
}

/** From the address of the resource to the server that issues tokens for it. */
export async function discover(app: StartedApp, resource: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(resource);
  const about = await oauth.processResourceDiscoveryResponse(
    url,
    await oauth.resourceDiscoveryRequest(url, options(app)),
  );
  const issuer = new URL(about.authorization_servers?.[0] ?? "");
  const asked = await oauth.discoveryRequest(issuer, { ...options(app), algorithm: "oauth2" });
  return await oauth.processDiscoveryResponse(issuer, asked);
}

export async function register(
  app: StartedApp,
  server: oauth.AuthorizationServer,
  redirectUri = REDIRECT_URI,
): Promise<oauth.Client> {
  const metadata = {
    client_name: "Test client",
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "none",
  };
  const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, options(app));
  return await oauth.processDynamicClientRegistrationResponse(answer);
}

/** The address at which the client asks for consent. */
export async function authorizationPath(
  { client, resource }: Pick<OauthWorld, "client" | "resource">,
  { verifier, changed = {} }: { readonly verifier: string; readonly changed?: Parameters },
): Promise<string> {
  const parameters: Parameters = {
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    state: STATE,
    scope: "write",
    resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...changed,
  };
  const sent = Object.entries(parameters).flatMap(([name, value]) => value === null ? [] : [[name, value]]);
  return `/oauth/authorize?${new URLSearchParams(sent)}`;
}

/** The page to which that address leads. */
export async function consentPath(world: Pick<OauthWorld, "app">, path: string): Promise<string> {
  const { status, headers } = await world.app.request("GET", path);
  assertEquals(status, 302);
  return headers.get("location") ?? "";
}

/** The answer to the form of the consent page. */
export async function decide(world: OauthWorld, path: string, decision: Decision = {}): Promise<ApiAnswer> {
  const { token, role = "write", database, person = token === undefined ? world.admin : null } = decision;
  return await sendForm(world.app, {
    path: await consentPath(world, path),
    fields: {
      decision: decision.decision ?? "allow",
      role,
      ...(token === undefined ? {} : { token }),
      ...(token === undefined ? { database: database ?? "*" } : database === undefined ? {} : { database }),
    },
    person,
    ...(decision.headers === undefined ? {} : { headers: decision.headers }),
    ...(decision.csrf === undefined ? {} : { csrf: decision.csrf }),
  });
}

/** Consent from the first request to the address to which the browser goes back. */
export async function allow(
  world: OauthWorld,
  { changed = {}, ...decision }: Decision & { readonly changed?: Parameters } = {},
): Promise<Consent> {
  const verifier = oauth.generateRandomCodeVerifier();
  const answer = await decide(world, await authorizationPath(world, { verifier, changed }), decision);
  assertEquals(answer.status, 303, answer.text.slice(-600));
  const callback = new URL(answer.headers.get("location") ?? "");
  return { callback, verifier, redirectUri: changed["redirect_uri"] ?? REDIRECT_URI };
}

/** What the token endpoint answers to the code of a consent. */
export async function exchange(
  { app, server, client, resource }: OauthWorld,
  { callback, verifier, redirectUri }: Consent,
): Promise<Response> {
  const parameters = oauth.validateAuthResponse(server, client, callback, STATE);
  return await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
    { ...options(app), additionalParameters: { resource } },
  );
}

/** The tokens of a connection. */
export interface Connected {
  readonly access: string;
  readonly refresh: string;
  readonly scope: string | undefined;
  readonly expiresIn: number | undefined;
}

export async function connect(
  world: OauthWorld,
  decision: Decision & { readonly changed?: Parameters } = {},
): Promise<Connected> {
  return await tokensOf(world, await exchange(world, await allow(world, decision)));
}

export async function tokensOf({ server, client }: OauthWorld, answer: Response): Promise<Connected> {
  const { access_token, refresh_token, scope, expires_in } = await oauth
    .processAuthorizationCodeResponse(server, client, answer);
  assert(refresh_token !== undefined);
  return { access: access_token, refresh: refresh_token, scope, expiresIn: expires_in };
}

export async function refresh(
  { app, server, client }: OauthWorld,
  token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, {
    ...options(app),
    additionalParameters: more,
  });
}

/** `error` of an answer, with its status. */
export async function errorOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json();
  assert(typeof body === "object" && body !== null && "error" in body, `${answer.status} without an error`);
  return `${answer.status} ${body.error}`;
}

/** Whom `/mcp` sees behind a token. */
export async function callerAtMcp({ app }: Pick<OauthWorld, "app">, token: string): Promise<TokenCaller> {
  return await authenticateToken(app.deps, `Bearer ${token}`, "mcp");
}

/** The code of the failure with which `/mcp` refuses it; `in` where it does not. */
export async function refusalAtMcp({ app }: Pick<OauthWorld, "app">, token: string): Promise<string> {
  const { status, body, text } = await app.request("POST", "/mcp", {
    token,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_databases", arguments: {} } },
  });
  if (status === 200) {
    assertMatch(text, /databases/);
    return "in";
  }
  assertEquals(status, 401);
  return body.code ?? "";
}
