// What is tried against authorization servers elsewhere (RFC 9700), tried here.
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import * as oauth from "oauth4webapi";
import { oauthLimits } from "../../lib/core/oauth_limits.ts";
import { registerClient } from "../../lib/services/oauth/register_client.ts";
import { openPage, sendForm } from "../console/open_page.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import {
  allow,
  authorizationPath,
  connect,
  type Consent,
  consentPath,
  decide,
  errorOf,
  exchange,
  type OauthWorld,
  oauthWorld,
  type Parameters,
  REDIRECT_URI,
  refresh,
  refusalAtMcp,
  register,
  tokensOf,
} from "./oauth_world.ts";

const { run, test } = oneStore();
Deno.test("attacks", run);

/** A request to the token endpoint as no library would make it. */
async function tokenRequest(
  { app }: OauthWorld,
  fields: Readonly<Record<string, string>> | string[][],
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return await app.app.request("/oauth/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

function codeRequest(world: OauthWorld, { callback, verifier }: Consent): Record<string, string> {
  return {
    grant_type: "authorization_code",
    code: callback.searchParams.get("code") ?? "",
    client_id: world.client.client_id,
    redirect_uri: REDIRECT_URI,
    code_verifier: verifier,
  };
}

/** What the consent page answers to a request in which something is changed. */
async function asked(world: OauthWorld, changed: Parameters) {
  const verifier = oauth.generateRandomCodeVerifier();
  const path = await consentPath(world, await authorizationPath(world, { verifier, changed }));
  return await openPage(world.app, path, world.admin);
}

/** The address to which a person sends a request back that cannot be decided. */
async function sentBack(world: OauthWorld, changed: Parameters): Promise<URL> {
  const verifier = oauth.generateRandomCodeVerifier();
  const path = await consentPath(world, await authorizationPath(world, { verifier, changed }));
  const answer = await sendForm(world.app, { path, fields: {}, person: world.admin });
  assertEquals(answer.status, 303);
  return new URL(answer.headers.get("location") ?? "");
}

async function registered({ app }: OauthWorld, metadata: unknown) {
  const answer = await app.app.request("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof metadata === "string" ? metadata : JSON.stringify(metadata),
  });
  return answer.ok ? `${answer.status}` : await errorOf(answer);
}

testSteps("attacks on OAuth", oauthWorld, {
  "of many who send one code at most one gets tokens, and its connection ends": async (world) => {
    const consent = await allow(world);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(world, consent)));
    const won = answers.filter(({ ok }) => ok);
    assert(won.length <= 1, `${won.length} got tokens`);
    for (const answer of answers) {
      if (!answer.ok) assertEquals(await errorOf(answer), "400 invalid_grant");
    }
    for (const answer of won) {
      const { access, refresh: renewal } = await tokensOf(world, answer);
      assertEquals(await refusalAtMcp(world, access), "invalid_bearer");
      assertEquals(await errorOf(await refresh(world, renewal)), "400 invalid_grant");
    }
  },

  "calls of a client that renew together get the same tokens, which go on": async (world) => {
    const { refresh: renewal } = await connect(world);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(world, renewal)));
    const got = await Promise.all(answers.map((answer) => tokensOf(world, answer)));
    const [first, ...others] = got;
    assert(first !== undefined);
    for (const other of others) assertEquals([other.access, other.refresh], [first.access, first.refresh]);
    const next = await tokensOf(world, await refresh(world, first.refresh));
    for (const { access } of [first, next]) assertEquals(await refusalAtMcp(world, access), "in");
  },

  "a used refresh token ends the connection once the next is used, or another client sends it": async (
    world,
  ) => {
    const other = await register(world.app, world.server);
    const first = await connect(world);
    const second = await tokensOf(world, await refresh(world, first.refresh));
    const third = await tokensOf(world, await refresh(world, second.refresh));
    assertEquals(await errorOf(await refresh(world, first.refresh)), "400 invalid_grant");
    const fourth = await connect(world);
    const fifth = await tokensOf(world, await refresh(world, fourth.refresh));
    const stolen = {
      grant_type: "refresh_token",
      refresh_token: fourth.refresh,
      client_id: other.client_id,
    };
    assertEquals(await errorOf(await tokenRequest(world, stolen)), "400 invalid_grant");
    for (const { access } of [first, second, third, fourth, fifth]) {
      assertEquals(await refusalAtMcp(world, access), "invalid_bearer");
    }
  },

  "an old code ends the connection that it began, after renewals too": async (world) => {
    const consent = await allow(world);
    const first = await tokensOf(world, await exchange(world, consent));
    const second = await tokensOf(world, await refresh(world, first.refresh));
    assertEquals(await refusalAtMcp(world, second.access), "in");
    assertEquals(await errorOf(await exchange(world, consent)), "400 invalid_grant");
    for (const { access } of [first, second]) {
      assertEquals(await refusalAtMcp(world, access), "invalid_bearer");
    }
  },

  "a code with a wrong verifier, client or address gives nothing, and is used up": async (world) => {
    const other = await register(world.app, world.server);
    const wrong = [
      { code_verifier: oauth.generateRandomCodeVerifier() },
      { client_id: other.client_id },
      { redirect_uri: `${REDIRECT_URI}/` },
      { redirect_uri: "https://evil.example/callback" },
    ];
    for (const changed of wrong) {
      const consent = await allow(world);
      const right = codeRequest(world, consent);
      assertEquals(await errorOf(await tokenRequest(world, { ...right, ...changed })), "400 invalid_grant");
      assertEquals(
        await errorOf(await tokenRequest(world, right)),
        "400 invalid_grant",
        JSON.stringify(changed),
      );
    }
    const { refresh: renewal } = await connect(world);
    const stolen = { grant_type: "refresh_token", refresh_token: renewal, client_id: other.client_id };
    assertEquals(await errorOf(await tokenRequest(world, stolen)), "400 invalid_grant");
  },

  "PKCE cannot be left out, weakened or answered with its own challenge": async (world) => {
    const weak: Parameters[] = [
      { code_challenge: null, code_challenge_method: null },
      { code_challenge_method: "plain" },
      { code_challenge_method: null },
      { code_challenge: "short" },
      { code_challenge: `${"a".repeat(43)}=` },
    ];
    for (const changed of weak) {
      const back = await sentBack(world, changed);
      assertEquals(back.origin + back.pathname, REDIRECT_URI);
      assertEquals(back.searchParams.get("error"), "invalid_request");
      assertEquals(back.searchParams.get("iss"), world.app.deps.baseUrl);
    }
    const tooLong = await sentBack(world, { state: "x".repeat(oauthLimits.stateLength + 1) });
    const about = [tooLong.searchParams.get("error"), tooLong.searchParams.has("state")];
    assertEquals(about, ["invalid_request", false]);
    const implicit = await sentBack(world, { resource: "http://localhost/mcp", response_type: "token" });
    const said = implicit.searchParams;
    assertEquals([said.get("error"), said.get("iss")], ["unsupported_response_type", "http://localhost"]);
    const consent = await allow(world);
    const { code_verifier: _, ...without } = codeRequest(world, consent);
    assertEquals(await errorOf(await tokenRequest(world, without)), "400 invalid_request");
    const challenge = await oauth.calculatePKCECodeChallenge(consent.verifier);
    const answer = await tokenRequest(world, { ...without, code_verifier: challenge });
    assertEquals(await errorOf(answer), "400 invalid_grant");
  },

  "a link to this service leads nowhere else without a click, but to a program on this machine": async (
    world,
  ) => {
    const { app, server } = world;
    const wrong = { response_type: "token" };
    for (const redirectUri of [REDIRECT_URI, "desk.agent:/callback"]) {
      const client = await register(app, server, redirectUri);
      const own = { ...world, client };
      const changed = { ...wrong, client_id: client.client_id, redirect_uri: redirectUri };
      const { status, headers, text } = await asked(own, changed);
      assertEquals([status, headers.get("location"), headers.get("refresh")], [400, null, null]);
      assertMatch(text, /response_type/);
      assertMatch(text, redirectUri.startsWith("https:") ? />client\.example</ : />desk\.agent</);
      assert(!/(?:href|src|content)="[^"]*(?:client\.example|desk\.agent)/.test(text));
      const back = await sentBack(own, changed);
      assertEquals(back.searchParams.get("error"), "unsupported_response_type");
      const verifier = oauth.generateRandomCodeVerifier();
      const path = await consentPath(own, await authorizationPath(own, { verifier, changed }));
      const headersOf = { origin: "https://evil.example" };
      const forged = await sendForm(app, { path, fields: {}, person: null, headers: headersOf });
      assertEquals([forged.status, forged.headers.get("location")], [403, null]);
    }
    const client = await register(app, server, "http://127.0.0.1/cb");
    const changed = { ...wrong, client_id: client.client_id, redirect_uri: "http://127.0.0.1:50123/cb" };
    const { status, headers } = await asked({ ...world, client }, changed);
    const back = new URL(headers.get("location") ?? "");
    assertEquals([status, back.host, back.searchParams.get("error")], [
      303,
      "127.0.0.1:50123",
      "unsupported_response_type",
    ]);
  },

  "a code goes to an address that is registered, word for word, and nothing goes anywhere else": async (
    world,
  ) => {
    const tricks = [
      "https://client.example/callback/",
      "https://client.example/callback?x=1",
      "https://client.example/callback#x",
      "https://client.example/Callback",
      "https://client.example/callback/../evil",
      "https://client.example/%63allback",
      "https://client.example:444/callback",
      "https://client.example@evil.example/callback",
      "https://client.example.evil.example/callback",
      "https://evil.example/callback",
      "https://client.example%2f@evil.example/callback",
      "https://client.example\\@evil.example/callback",
      "https:client.example/callback",
      "http://client.example/callback",
      "javascript:alert(1)",
      "data:text/html,x",
      "//client.example/callback",
      " https://client.example/callback",
      "https://client.example/callback\r\nx: y",
    ];
    for (const redirect_uri of tricks) {
      const { status, headers, text } = await asked(world, { redirect_uri });
      assertEquals([status, headers.get("location")], [400, null], redirect_uri);
      assertMatch(text, /exactly as registered/);
      assert(!/(?:href|src|action|content)="[^"/]*\/\/[^"]*evil\.example/.test(text), redirect_uri);
    }
    for (const changed of [{ redirect_uri: null }, { client_id: null }, { client_id: "cli_unknown" }]) {
      const { status, headers } = await asked(world, changed);
      assertEquals([status >= 400, headers.get("location")], [true, null]);
    }
  },

  "a program on this machine may listen on any port, and on nothing else": async (world) => {
    const { app, server } = world;
    const client = await register(app, server, "http://127.0.0.1:33418/cb?a=1");
    const own = { ...world, client };
    const changed = { client_id: client.client_id, redirect_uri: "http://127.0.0.1:50123/cb?a=1" };
    assertEquals((await asked(own, changed)).status, 200);
    const { callback } = await allow(own, { changed });
    assertEquals([callback.host, callback.searchParams.get("a")], ["127.0.0.1:50123", "1"]);
    const others = [
      "http://127.0.0.1:50123/cb",
      "http://127.0.0.1:50123/cb?a=2",
      "http://localhost:50123/cb?a=1",
      "http://127.0.0.2:50123/cb?a=1",
      "http://127.1:50123/cb?a=1",
      "https://127.0.0.1:33418/cb?a=1",
      "http://127.0.0.1:50123@evil.example/cb?a=1",
    ];
    for (const redirect_uri of others) {
      assertEquals((await asked(own, { ...changed, redirect_uri })).status, 400, redirect_uri);
    }
    const sure = { ...world, client: await register(app, server, "https://127.0.0.1/cb") };
    const plain = { client_id: sure.client.client_id, redirect_uri: "http://127.0.0.1:50123/cb" };
    assertEquals((await asked(sure, plain)).status, 400);
  },

  "an answer says who has given it, and the client refuses one of somebody else": async (world) => {
    const { app, server, client } = world;
    const { callback } = await allow(world);
    assertEquals(callback.searchParams.get("iss"), server.issuer);
    const mixed = { ...server, issuer: "https://evil.example" };
    let failure: unknown = null;
    try {
      oauth.validateAuthResponse(mixed, client, callback, "a state of the client");
    } catch (error) {
      failure = error;
    }
    assert(failure instanceof Error);
    assertMatch(failure.message, /iss/);
    // Whoever asked under another name of this machine is answered by it.
    const path = await allow(world, { changed: { resource: "http://localhost/mcp" } });
    assertEquals(path.callback.searchParams.get("iss"), "http://localhost");
    assertEquals(app.deps.baseUrl, "http://127.0.0.1");
  },

  "a token for another resource is not given": async (world) => {
    const { refresh: renewal } = await connect(world);
    for (
      const resource of [
        "https://evil.example/mcp",
        `${world.resource}/x`,
        "mcp",
        `${world.resource}#x`,
        world.resource.replace("://", "://u:p@"),
      ]
    ) {
      assertEquals(await errorOf(await refresh(world, renewal, { resource })), "400 invalid_target");
      const back = await sentBack(world, { resource });
      assertEquals(back.searchParams.get("error"), "invalid_target", resource);
      const consent = await allow(world);
      const request = { ...codeRequest(world, consent), resource };
      assertEquals(await errorOf(await tokenRequest(world, request)), "400 invalid_target");
    }
    const narrowed = await asked(world, { resource: `${world.resource}?database=main&read_only=1` });
    assertEquals(narrowed.status, 200);
    assertEquals((await refresh(world, renewal)).status, 200, "a wrong resource uses nothing up");
  },

  "another site cannot decide, nor frame the page": async (world) => {
    const path = await authorizationPath(world, { verifier: oauth.generateRandomCodeVerifier() });
    const { token } = await world.tenant.mint("read");
    const forged = [
      { headers: { origin: "https://evil.example" } },
      { headers: { origin: "null" } },
      { csrf: "" },
      { csrf: "wrong" },
      { token, headers: { origin: "https://evil.example" } },
    ];
    for (const decision of forged) {
      const answer = await decide(world, path, decision);
      assertEquals([answer.status, answer.headers.get("location")], [403, null], JSON.stringify(decision));
    }
    const { headers } = await openPage(world.app, await consentPath(world, path), world.admin);
    const policy = headers.get("content-security-policy") ?? "";
    assertMatch(policy, /frame-ancestors 'none'/);
    assertMatch(policy, /form-action 'self' https:\/\/client\.example;/);
    assertEquals([headers.get("x-frame-options"), headers.get("cache-control")], ["DENY", "no-store"]);
  },

  "a parameter that stands twice is told to the client, and a resource that does once it is another": async (
    world,
  ) => {
    const verifier = oauth.generateRandomCodeVerifier();
    const path = await authorizationPath(world, { verifier });
    const problems = [
      ["scope=read", "invalid_request"],
      ["code_challenge_method=S256", "invalid_request"],
      [`resource=${encodeURIComponent("https://other.example/mcp")}`, "invalid_request"],
      [`resource=${encodeURIComponent(world.resource)}`, null],
    ] as const;
    for (const [again, error] of problems) {
      const answer = await sendForm(world.app, {
        path: await consentPath(world, `${path}&${again}`),
        fields: error === null ? { decision: "allow", role: "read", database: "*" } : {},
        person: world.admin,
      });
      const { searchParams } = new URL(answer.headers.get("location") ?? "");
      assertEquals([searchParams.get("error"), searchParams.has("code")], [error, error === null], again);
    }
  },

  "what a client calls itself is text, and its address ends no directive": async (world) => {
    const { app } = world;
    const name = `<script>alert(1)</script>${"‮"}\ud800${"x".repeat(300)}`;
    const answer = await app.app.request("/oauth/register", {
      method: "POST",
      body: JSON.stringify({ client_name: name, redirect_uris: [REDIRECT_URI] }),
    });
    const { client_id, client_name } = await answer.json();
    assertEquals([...client_name].length, oauthLimits.nameLength);
    assert(client_name.isWellFormed());
    const { text } = await asked(world, { client_id });
    assert(!text.includes("<script>alert"));
    const odd = [
      "https://a;script-src",
      "https://a,b/cb",
      "https://a_b/cb",
      "https://[::1",
      "http://example.com/cb",
      "http://[::2]/cb",
      "cursor:",
      "javascript:alert(1)",
      "vbscript:x",
      "data:,x",
      "file:///etc/passwd",
      "blob:https://x/y",
      "https://u:p@x/cb",
      "https://:p@x/cb",
      "com.example.app://:p@x/cb",
      "https://x/a b",
      "https://x/ä",
      "https://x/cb?a='b'",
      "https://x/cb?a=`b`",
      "https://x/cb#f",
      `https://x/${"a".repeat(oauthLimits.redirectUriLength)}`,
      `${"a".repeat(65)}:/cb`,
      "",
      "callback",
    ];
    for (const uri of odd) {
      assertEquals(await registered(world, { redirect_uris: [uri] }), "400 invalid_redirect_uri", uri);
    }
    for (
      const uri of [
        "cursor://anysphere.cursor-retrieval/oauth",
        "com.example.app:/cb",
        "http://[::1]:3000/cb",
        "https://client.example:443/cb",
      ]
    ) {
      assertEquals(await registered(world, { redirect_uris: [uri] }), "201", uri);
    }
  },

  "a registration is small, and speaks of codes": async (world) => {
    const refused = [
      [{ redirect_uris: [] }, "400 invalid_redirect_uri"],
      [{ redirect_uris: new Array(11).fill(REDIRECT_URI) }, "400 invalid_redirect_uri"],
      [{}, "400 invalid_redirect_uri"],
      [[], "400 invalid_client_metadata"],
      ["{", "400 invalid_request"],
      [{ redirect_uris: [REDIRECT_URI], client_name: 1 }, "400 invalid_client_metadata"],
      [{ redirect_uris: [REDIRECT_URI], grant_types: ["client_credentials"] }, "400 invalid_client_metadata"],
      [{ redirect_uris: [REDIRECT_URI], logo: "x".repeat(oauthLimits.bodyBytes) }, "413 invalid_request"],
    ] as const;
    for (const [metadata, error] of refused) assertEquals(await registered(world, metadata), error);
    const generous = {
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: "client_secret_post",
      x: 1,
    };
    assertEquals(await registered(world, generous), "201");
  },

  "the token endpoint takes what RFC 6749 says, and says its words": async (world) => {
    const right = codeRequest(world, await allow(world));
    const twice = [...Object.entries(right), ["code", right["code"] ?? ""]];
    const requests: [Record<string, string> | string[][], string][] = [
      [{ ...right, grant_type: "password" }, "400 unsupported_grant_type"],
      [{ ...right, grant_type: "" }, "400 invalid_request"],
      [{ ...right, client_id: "" }, "400 invalid_request"],
      [{ ...right, code: "" }, "400 invalid_request"],
      [twice, "400 invalid_request"],
      [{ ...right, code: "nonsense" }, "400 invalid_grant"],
      [{ ...right, code_verifier: "a".repeat(9000) }, "400 invalid_request"],
    ];
    for (const [fields, error] of requests) {
      assertEquals(await errorOf(await tokenRequest(world, fields)), error);
    }
    const json = await tokenRequest(world, right, { "content-type": "application/json" });
    assertEquals(await errorOf(json), "400 invalid_request");
    const answer = await tokenRequest(world, [...Object.entries(right), ["resource", world.resource], [
      "resource",
      world.resource,
    ]]);
    assertEquals([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
    assertEquals(answer.headers.get("access-control-allow-origin"), "*");
  },

  "no code, token or verifier is stored or logged": async (world) => {
    const consent = await allow(world);
    const { access, refresh: renewal } = await tokensOf(world, await exchange(world, consent));
    const stored: string[] = [];
    for await (const { key, value } of world.app.deps.kv.list({ prefix: [] })) {
      stored.push(JSON.stringify([key, value], (_, one) => typeof one === "bigint" ? String(one) : one));
    }
    const all = [...stored, ...world.app.logLines].join("\n");
    for (
      const secret of [access, renewal, consent.callback.searchParams.get("code") ?? "", consent.verifier]
    ) {
      assert(secret.length > 20 && !all.includes(secret));
    }
  },
}, test);

testSteps("registrations", oauthWorld, {
  "a client that registers again and again is stopped, and what it has goes on working": async (world) => {
    const metadata = { redirect_uris: [REDIRECT_URI] };
    const answers: string[] = [];
    for (let at = 0; at < oauthLimits.registrationsOfAddress + 1; at++) {
      answers.push(await registered(world, metadata));
    }
    assertEquals(answers.at(-1), "429 temporarily_unavailable");
    const answer = await world.app.app.request("/oauth/register", {
      method: "POST",
      body: JSON.stringify(metadata),
    });
    assert(Number(answer.headers.get("retry-after")) > 0);
    await answer.body?.cancel();
    // Who is registered goes on.
    assertEquals((await connect(world)).scope, "write");
    const { oauth: ctx, clock } = world.app.deps;
    const elsewhere = (address: string) => registerClient(ctx, { metadata, address });
    await elsewhere("a");
    // As if the rest of the hour's had come from as many addresses.
    const hour = Math.floor(clock.now() / 3_600_000);
    const endsAtMs = (hour + 1) * 3_600_000;
    const window = { name: "hour", id: `hour${hour}`, limit: oauthLimits.registrations, endsAtMs };
    const subject = { databaseId: "oauth", slug: "register", client: "all" };
    while ((await ctx.rateCounters.take(subject, () => [window])).admitted);
    await assertRejects(() => elsewhere("b"), /too many registrations/);
  },
}, test);
