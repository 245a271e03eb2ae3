// A client connects, works, renews its tokens and leaves; what a person allows is what it gets.
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import * as oauth from "oauth4webapi";
import { sessionHash } from "../../lib/access/authenticate_session.ts";
import { LOOPBACK_NAMES } from "../../lib/core/loopback.ts";
import { issuerOfResource } from "../../lib/services/oauth/issuer.ts";
import { keys } from "../../lib/store/keys.ts";
import { openPage, sendForm } from "../console/open_page.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { testSteps } from "../testing/cases.ts";
import { signIn } from "../testing/person.ts";
import {
  allow,
  authorizationPath,
  callerAtMcp,
  connect,
  consentPath,
  decide,
  discover,
  errorOf,
  exchange,
  type OauthWorld,
  oauthWorld,
  options,
  refresh,
  refusalAtMcp,
  tokensOf,
} from "./oauth_world.ts";

async function auditOf({ app, tenant }: OauthWorld): Promise<Record<string, unknown>[]> {
  const answer = await app.request("GET", `/api/namespaces/${tenant.slug}/audit`, { token: tenant.token });
  assert(Array.isArray(answer.body.data));
  return answer.body.data;
}

async function tokenRows({ app, tenant }: OauthWorld): Promise<Record<string, unknown>[]> {
  const answer = await app.request("GET", `/api/namespaces/${tenant.slug}/tokens`, { token: tenant.token });
  assert(Array.isArray(answer.body.data));
  return answer.body.data;
}

testSteps("OAuth", oauthWorld, {
  "a client finds its way from the address of /mcp, under every name of this machine": async (
    { app, resource },
  ) => {
    for (const asked of [resource, "http://localhost/mcp", "http://[::1]/mcp"]) {
      const { issuer, token_endpoint } = await discover(app, asked);
      assertEquals([`${issuer}/mcp`, token_endpoint], [asked, `${issuer}/oauth/token`]);
    }
    const elsewhere = await app.app.request("http://evil.example/.well-known/oauth-authorization-server");
    assertEquals((await elsewhere.json()).issuer, app.deps.baseUrl);
    const path = await app.request("GET", "/.well-known/oauth-authorization-server/mcp");
    assertEquals(path.status, 200);
    // Without these a client would send a secret that it does not have, and a challenge that nobody takes.
    const { token_endpoint_auth_methods_supported: proofs, code_challenge_methods_supported: challenges } =
      JSON.parse(path.text);
    assertEquals([proofs, challenges], [["none"], ["S256"]]);
    assertEquals(path.headers.get("access-control-allow-origin"), "*");
    // Who keeps it for others keeps it for that name of this machine.
    assertEquals(path.headers.get("vary"), "Host");
    const question = { origin: "https://client.example", "access-control-request-method": "POST" };
    for (const asked of ["/oauth/token", "/oauth/register", "/.well-known/oauth-authorization-server"]) {
      const { status, headers } = await app.request("OPTIONS", asked, { headers: question });
      assertEquals([status, headers.get("access-control-allow-origin")], [204, "*"]);
    }
  },

  "a member allows a part of what it may, and the client gets just that": async (world) => {
    const shop = await world.tenant.createDatabase("shop");
    const { access, scope, expiresIn } = await connect(world, { role: "write", database: "shop" });
    assertEquals(scope, "write");
    assert(expiresIn !== undefined && expiresIn > 3500 && expiresIn <= 3600, `${expiresIn} s`);
    const caller = await callerAtMcp(world, access);
    assertEquals(caller.role, "write");
    assertEquals(caller.scopes, [{ databaseId: shop.id, branchRef: "main", role: "write" }]);
    assertEquals(caller.name, "Test client");
  },

  "a pasted token allows what it may, and no more": async (world) => {
    const { database, mint } = world.tenant;
    const scopes = [{ databaseId: database.id, branchRef: "main", role: "write" as const }];
    const scoped = await mint("admin", { scopes });
    const { access } = await connect(world, { token: scoped.token, role: "admin" });
    assertEquals((await callerAtMcp(world, access)).scopes, scopes);
    const named = await connect(world, { token: scoped.token, role: "admin", database: "main" });
    assertEquals((await callerAtMcp(world, named.access)).scopes, scopes);
    const reader = await mint("read");
    const path = await authorizationPath(world, { verifier: oauth.generateRandomCodeVerifier() });
    const refused = [
      { token: reader.token, role: "write" },
      { token: scoped.token, database: "elsewhere" },
      { token: (await mint("admin")).token, database: "main@nowhere" },
      { token: "cub_live_wrong" },
      { token: access },
      { token: world.app.operatorKey },
    ];
    const said = [
      /Choose read or less/,
      /Name databases of/,
      /Name databases of/,
      ...new Array(3).fill(/Paste an API token of your own/),
    ];
    for (const [at, decision] of refused.entries()) {
      const answer = await decide(world, path, decision);
      assertEquals(answer.status, 400);
      assertMatch(answer.text, said[at] ?? /never/);
      assert(!answer.text.includes(decision.token), "the page repeats the token");
    }
  },

  "a decision that waits for another click leads to the client, and one by a token never becomes one by the session":
    async (world) => {
      const { app, admin, tenant } = world;
      const path = await authorizationPath(world, { verifier: oauth.generateRandomCodeVerifier() });
      const consent = await consentPath(world, path);
      const policyOf = ({ headers }: ApiAnswer) => headers.get("content-security-policy") ?? "";
      const leadsOut = /form-action 'self' https:\/\/client\.example;/;
      const old = { person: admin, csrf: "of a session before" };
      const asked = await decide(world, path, old);
      assertEquals(asked.status, 403);
      assertMatch(policyOf(asked), leadsOut);
      const signedIn = await sendForm(app, {
        path: "/console/-/sign-in/key",
        fields: { operatorKey: app.operatorKey, to: consent, typed: "role=read" },
        person: null,
      });
      assertEquals(signedIn.status, 200);
      assertMatch(policyOf(signedIn), leadsOut);
      const { token } = await tenant.mint("read");
      const again = await decide(world, path, { ...old, token, role: "read", database: "main" });
      assert(!again.text.includes(token), "the page repeats the token");
      const kept = Object.fromEntries(
        again.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g).map(([, name, value]) => [
          name,
          value,
        ]),
      );
      assertEquals([kept["role"], kept["database"], kept["decision"]], ["read", "main", "allow"]);
      const { csrf, ...fields } = kept;
      assertEquals(csrf, admin.csrfToken);
      const sent = await sendForm(app, { path: consent, fields, person: admin });
      assertEquals([sent.status, sent.headers.get("location")], [400, null]);
      assertMatch(sent.text, /Paste an API token of your own/);
    },

  "whoever comes to /mcp without a token is told where to get one": async ({ app }) => {
    const metadata = 'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"';
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const answer = await app.app.request("http://127.0.0.1/mcp", { method: "POST", headers, body: "{}" });
      await answer.body?.cancel();
      return [answer.status, answer.headers.get("www-authenticate")];
    };
    assertEquals(await ask({}), [401, `Bearer ${metadata}, scope="read"`]);
    const wrong = { authorization: "Bearer cub_live_wrong" };
    assertEquals(await ask(wrong), [401, `Bearer error="invalid_token", ${metadata}, scope="read"`]);
  },

  "its token counts at /mcp and nowhere else": async (world) => {
    const { app, tenant } = world;
    const { access } = await connect(world, { role: "admin" });
    assertEquals(await refusalAtMcp(world, access), "in");
    const calls = [
      ["GET", "/v1/me"],
      ["POST", `${tenant.database.path}/query`],
      ["GET", `/api/namespaces/${tenant.slug}`],
      ["POST", `/api/namespaces/${tenant.slug}/tokens`],
    ] as const;
    for (const [method, path] of calls) {
      const answer = await app.request(method, path, {
        token: access,
        ...(method === "POST" ? { body: {} } : {}),
      });
      assertEquals([answer.status, answer.body.code], [401, "wrong_audience"], path);
      assertMatch(answer.headers.get("www-authenticate") ?? "", /invalid_token/);
    }
  },

  "what is handed on by such a token counts at /mcp only too": async (world) => {
    const { app, tenant } = world;
    const { access } = await connect(world, { role: "write" });
    const { tokenId, namespaceId } = await callerAtMcp(world, access);
    const { mintHandoff } = await import("../../lib/services/handoff/mint_handoff.ts");
    const target = {
      ...{ namespaceId, namespaceSlug: tenant.slug, databaseId: tenant.database.id },
      ...{ databaseSlug: "main", branchRef: "main", role: "write" as const },
    };
    const { token } = await mintHandoff({ ...app.deps, target, tokenId }, { role: "read", ttlSec: 60 });
    const redeemed = await app.request("POST", "/v1/handoff/redeem", { body: { token, name: "other" } });
    assert(
      typeof redeemed.body.data === "object" && redeemed.body.data !== null && "token" in redeemed.body.data,
    );
    const passed = String(redeemed.body.data.token);
    assertEquals(await refusalAtMcp(world, passed), "in");
    assertEquals((await app.request("GET", "/v1/me", { token: passed })).body.code, "wrong_audience");
  },

  "renewing changes the secrets, and the connection stays the same one": async (world) => {
    const first = await connect(world);
    const before = await callerAtMcp(world, first.access);
    const answer = await refresh(world, first.refresh, { resource: world.resource });
    const second = await tokensOf(world, answer);
    const after = await callerAtMcp(world, second.access);
    assertEquals([after.tokenId, after.role], [before.tokenId, before.role]);
    assert(second.refresh !== first.refresh && second.access !== first.access);
    assertEquals(await refusalAtMcp(world, first.access), "in", "a call under way does not fail");
    assertEquals(
      await errorOf(await refresh(world, second.refresh, { scope: "admin" })),
      "400 invalid_scope",
    );
    const third = await refresh(world, second.refresh, { scope: "read offline_access" });
    assertEquals((await third.json()).scope, "write");
  },

  "it stands among the tokens, and revoking it there ends it at once": async (world) => {
    const { app, tenant } = world;
    const first = await connect(world);
    const second = await tokensOf(world, await refresh(world, first.refresh));
    for (const { access } of [first, second]) assertEquals(await refusalAtMcp(world, access), "in");
    const row = (await tokenRows(world)).find(({ name }) => name === "Test client");
    assertEquals([row?.["audience"], row?.["client"]], ["mcp", "client.example"]);
    const page = await openPage(app, `/console/${tenant.slug}/tokens`, world.admin);
    assertMatch(page.text, /client\.example/);
    const { status } = await app.request("DELETE", `/api/namespaces/${tenant.slug}/tokens/${row?.["id"]}`, {
      token: tenant.token,
    });
    assertEquals(status, 200);
    for (const { access } of [first, second]) {
      assertEquals(await refusalAtMcp(world, access), "invalid_bearer");
    }
    assertEquals(await errorOf(await refresh(world, second.refresh)), "400 invalid_grant");
  },

  "it ends with the token that allowed it": async (world) => {
    const { app, tenant } = world;
    const parent = await tenant.mint("write");
    const { access, refresh: renewal } = await connect(world, { token: parent.token });
    assertEquals(await refusalAtMcp(world, access), "in");
    await app.request("DELETE", `/api/namespaces/${tenant.slug}/tokens/${parent.id}`, {
      token: tenant.token,
    });
    assertEquals(await refusalAtMcp(world, access), "invalid_bearer");
    assertEquals(await errorOf(await refresh(world, renewal)), "400 invalid_grant");
  },

  "it ends when the member who allowed it gets another role or goes": async (world) => {
    const { app, tenant } = world;
    for (const act of ["PATCH", "DELETE"]) {
      const person = await signIn(app, {
        role: "editor",
        namespace: tenant.slug,
        email: `${act}@example.com`,
      });
      const waiting = await allow(world, { person });
      const { access, refresh: renewal } = await connect(world, { person });
      assertEquals(await refusalAtMcp(world, access), "in");
      const change = async (method: string, body?: object) => {
        const path = `/api/namespaces/${tenant.slug}/members/${person.id}`;
        const { status } = await app.request(method, path, {
          token: app.operatorKey,
          ...(body ? { body } : {}),
        });
        assertEquals(status, 200);
      };
      await change("PATCH", { name: "Another" });
      assertEquals(await refusalAtMcp(world, access), "in", "by another name it is the same member");
      await change(act, act === "PATCH" ? { role: "viewer" } : undefined);
      assertEquals(await refusalAtMcp(world, access), "invalid_bearer", act);
      assertEquals(await errorOf(await refresh(world, renewal)), "400 invalid_grant");
      assertEquals(await errorOf(await exchange(world, waiting)), "400 invalid_grant");
    }
    assert(
      !(await tokenRows(world)).some(({ name }) => name === "Test client"),
      "what has ended stays in the list",
    );
  },

  "a client gives back what it has, and what others have stays": async (world) => {
    const { app, server, client, tenant } = world;
    const one = await connect(world);
    const other = await connect(world);
    const give = async (token: string, by = client) => {
      const answer = await oauth.revocationRequest(server, by, oauth.None(), token, options(app));
      assertEquals(answer.status, 200);
      await answer.body?.cancel();
    };
    await give(one.access, { client_id: "cli_another" });
    await give(tenant.token);
    await give("nothing of ours");
    assertEquals(await refusalAtMcp(world, one.access), "in");
    assertEquals((await app.request("GET", "/v1/me", { token: tenant.token })).status, 200);
    await give(one.refresh);
    assertEquals(await refusalAtMcp(world, one.access), "invalid_bearer");
    await give(other.access);
    assertEquals(await errorOf(await refresh(world, other.refresh)), "400 invalid_grant");
    const lost = await connect(world);
    const renewed = await tokensOf(world, await refresh(world, lost.refresh));
    await give(lost.refresh, { client_id: "cli_another" });
    assertEquals(await refusalAtMcp(world, renewed.access), "in");
    await give(lost.refresh);
    assertEquals(await refusalAtMcp(world, renewed.access), "invalid_bearer");
  },

  "the audit tells who allowed what, which client has connected, and how it ended": async (world) => {
    const { refresh: renewal } = await connect(world, { role: "read", database: "main" });
    const next = await tokensOf(world, await refresh(world, renewal));
    await tokensOf(world, await refresh(world, next.refresh));
    await errorOf(await refresh(world, renewal));
    const rows = (await auditOf(world)).filter(({ action }) => String(action).startsWith("client."));
    assertEquals(rows.map(({ action, actorName }) => [action, actorName]).toReversed(), [
      ["client.allowed", world.admin.email],
      ["client.connected", "Test client"],
      ["client.ended", "Test client"],
    ]);
    assertEquals(rows.at(-1)?.["facts"], { client: "Test client", role: "read", databases: 1 });
    const [ended, connected] = rows;
    assertMatch(String(connected?.["actor"]), /^tok_/);
    for (const row of [ended, connected]) {
      assertEquals([row?.["actor"], row?.["target"]], [connected?.["actor"], connected?.["actor"]]);
    }
    assertEquals(Object(connected?.["facts"]).allowedBy, world.admin.id);
  },

  "saying no tells the client, and nothing else happens": async (world) => {
    const { callback } = await allow(world, { decision: "deny" });
    assertEquals(callback.searchParams.get("error"), "access_denied");
    assertEquals(callback.searchParams.get("iss"), world.app.deps.baseUrl);
    assertEquals(callback.searchParams.get("code"), null);
    const byNobody = await allow(world, { decision: "deny", person: null });
    assertEquals(byNobody.callback.searchParams.get("error"), "access_denied");
  },

  "the page offers a member its databases, and everybody else a sign-in and a token": async (world) => {
    const { app, tenant, admin } = world;
    const verifier = oauth.generateRandomCodeVerifier();
    const path = await consentPath(world, await authorizationPath(world, { verifier }));
    const own = (await openPage(app, path, admin)).text;
    assertMatch(own, /Connect Test client\?/);
    assertMatch(own, /client\.example/);
    assertMatch(own, /name="database" value="main" checked/);
    assertMatch(own, new RegExp(`admin of <code>${tenant.slug}</code>`));
    const viewer = await signIn(app, { role: "viewer", namespace: tenant.slug });
    const seen = (await openPage(app, path, viewer)).text;
    assert(!/value="write"/.test(seen.slice(0, seen.indexOf("by a token"))), "a viewer is offered to write");
    const nobody = (await openPage(app, path, null)).text;
    assertMatch(nobody, /href="\/console\/-\/sign-in\?next=%2Fconsole%2F-%2Fconnect/);
    assertMatch(nobody, /type="password"/);
    const nothing = await decide(world, path.replace("/console/-/connect", "/oauth/authorize"), {
      database: "",
    });
    assertEquals(nothing.status, 400);
    assertMatch(nothing.text, /Name databases of|Choose what it may reach/);
  },

  "of many databases a member names those that a client may reach": async (world) => {
    const { app, tenant, admin } = world;
    for (let n = 0; n < 31; n++) await tenant.createDatabase(`of-many-${n}`);
    const verifier = oauth.generateRandomCodeVerifier();
    const path = await consentPath(world, await authorizationPath(world, { verifier }));
    const page = (await openPage(app, path, admin)).text;
    assertMatch(page, /name="others"/);
    assert(!page.includes('value="of-many-1"'), "databases are offered one by one");
    const send = (others: string) =>
      sendForm(app, { path, fields: { decision: "allow", role: "read", others }, person: admin });
    const wrong = await send("of-many-7, nobody");
    assertEquals(wrong.status, 400);
    assertMatch(wrong.text, /Name databases of/);
    // No database is not every database.
    for (const nothing of ["", " , "]) {
      const { status, text } = await send(nothing);
      assertEquals(status, 400);
      assertMatch(text, /Choose what it may reach/);
    }
    assertEquals((await send("of-many-7, of-many-8")).status, 303);
    const [allowed] = (await auditOf(world)).filter(({ action }) => action === "client.allowed");
    assertEquals(allowed?.["facts"], { client: "Test client", role: "read", databases: 2 });
  },

  "a session that has ended, or is stale, is asked for again": async (world) => {
    const path = await authorizationPath(world, { verifier: oauth.generateRandomCodeVerifier() });
    const ended = await decide(world, path, { person: null });
    assertEquals(ended.status, 401);
    assertMatch(ended.text, /Your session has ended/);
    const person = await signIn(world.app, { role: "admin", namespace: world.tenant.slug });
    const { kv, clock } = world.app.deps;
    const { key, value } = await kv.get(keys.consoleSession(sessionHash(person.secret)));
    assert(value !== null);
    await kv.set(key, { ...value, signedInAt: clock.now() - 16 * 60_000 });
    const stale = await decide(world, path, { person });
    assertEquals(stale.status, 403);
    assertMatch(stale.text, /Confirm that it is you/);
  },
});

Deno.test("a service at a public address has one door, and one on this machine a door by each of its names", () => {
  const here = LOOPBACK_NAMES.map((name) => `http://${name}:8000`);
  for (const issuer of here) {
    assertEquals(issuerOfResource("http://localhost:8000", `${issuer}/mcp?db=main`), issuer);
    for (const baseUrl of ["https://db.example", "http://db.example:8000", "https://localhost:8000"]) {
      assertEquals(issuerOfResource(baseUrl, `${baseUrl}/mcp`), baseUrl);
      assertThrows(() => issuerOfResource(baseUrl, `${issuer}/mcp`), /resource names something else/);
    }
  }
});
