// The MCP SDK's own client, which knows nothing but the address of /mcp, over HTTP.
import { assert, assertEquals } from "@std/assert";
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { type ConsoleWorld, openConsole } from "../browser/console_world.ts";
import { eras } from "../mcp/mcp_client.ts";
import { signIn, type TestPerson } from "../testing/person.ts";

const REDIRECT_URI = "http://localhost/callback";

/** What a program stores between its starts. */
class Store implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URI;
  readonly clientMetadata = { client_name: "SDK client", redirect_uris: [REDIRECT_URI] };
  authorizationUrl: URL | null = null;
  saved: OAuthTokens | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }
  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }
  tokens(): OAuthTokens | undefined {
    return this.saved;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }
}

/** The person's part, as a browser without script does it. */
async function allow({ url }: ConsoleWorld, asked: URL, person: TestPerson): Promise<URLSearchParams> {
  const page = await fetch(asked, { headers: { cookie: person.cookie } });
  assertEquals(page.status, 200);
  await page.body?.cancel();
  const answer = await fetch(page.url, {
    method: "POST",
    headers: { cookie: person.cookie, origin: url },
    body: new URLSearchParams({ csrf: person.csrfToken, role: "write", database: "main", decision: "allow" }),
    redirect: "manual",
  });
  await answer.body?.cancel();
  return new URL(answer.headers.get("location") ?? "").searchParams;
}

Deno.test("the SDK's client gets in by the address of /mcp alone, and renews its tokens by itself", async () => {
  const world = await openConsole();
  try {
    await world.app.namespace("acme");
    const person = await signIn(world.app, { role: "admin" });
    const address = new URL(`${world.url}/mcp`);
    for (const era of eras) {
      const store = new Store();
      const connect = async (transport: StreamableHTTPClientTransport) => {
        const mode = era === "current" ? "auto" : "legacy";
        const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
        await client.connect(transport);
        const { tools } = await client.listTools();
        await client.close();
        return tools.map(({ name }) => name);
      };
      const first = new StreamableHTTPClientTransport(address, { authProvider: store });
      const refused: unknown = await connect(first).then(() => null, (error: unknown) => error);
      assert(refused instanceof UnauthorizedError && store.authorizationUrl !== null, `${era}: ${refused}`);
      await first.finishAuth(await allow(world, store.authorizationUrl, person));
      const again = new StreamableHTTPClientTransport(address, { authProvider: store });
      const tools = await connect(again);
      assert(tools.includes("write") && !tools.includes("create_branch"), tools.join());
      // Its access token has ended: it comes with another one without asking anybody.
      const { refresh_token } = store.saved ?? {};
      store.saved = { ...store.saved, access_token: "cub_live_ended", token_type: "Bearer" };
      store.authorizationUrl = null;
      assertEquals(
        await connect(new StreamableHTTPClientTransport(address, { authProvider: store })),
        tools,
      );
      assertEquals(store.authorizationUrl, null);
      assert(store.saved?.refresh_token !== refresh_token);
    }
  } finally {
    await world.stop();
  }
});
