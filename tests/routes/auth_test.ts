// Who gets in: bearers of every wrong kind, expiry, revocation, and which database a path means.
import { assertEquals, assertMatch } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { sendSlowly } from "../testing/send_slowly.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("who gets in", run);

const PATHS = [
  ["POST", "/v1/db/acme/main/query"],
  ["GET", "/v1/db/acme/main/tables"],
  ["GET", "/v1/me"],
  ["GET", "/api/namespaces/acme"],
] as const;

test("a request without a bearer is 401 missing_bearer with WWW-Authenticate", async () => {
  await using app = await startApp();
  await app.namespace();
  for (const authorization of [undefined, "", "Basic YTpi", "Bearer", "cub_live_x"]) {
    for (const [method, path] of PATHS) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await app.request(method, path, { headers });
      assertEquals([answer.status, answer.body.code], [401, "missing_bearer"], `${authorization} ${path}`);
      assertMatch(answer.headers.get("www-authenticate") ?? "", /^Bearer/);
    }
  }
});

test("a token that is revoked while a body comes in does nothing with it, at any door", async () => {
  await using app = await startApp();
  const { mint, query, setup } = await app.namespace();
  await setup("CREATE TABLE t (v)");
  const { control } = app.deps;
  const { id: namespaceId = "" } = await control.namespaces.bySlug("acme") ?? {};
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  const execute = { type: "execute", stmt: { sql: "INSERT INTO t VALUES (3)" } };
  const doors = [
    ["/api/namespaces/acme/tokens", { name: "stays", role: "admin" }],
    ["/v1/db/acme/main/query", { sql: "INSERT INTO t VALUES (1)" }],
    ["/v1/sessions", { namespaceSlug: "acme", databaseSlug: "main", userId: "1" }],
    [
      "/mcp",
      {
        ...message,
        params: { name: "write", arguments: { statements: [{ sql: "INSERT INTO t VALUES (2)" }] } },
      },
    ],
    ["/hrana/acme/main/v2/pipeline", { baton: null, requests: [execute] }],
  ] as const;
  for (const [path, sent] of doors) {
    const { id, token } = await mint("admin");
    const headers = {
      "authorization": `Bearer ${token}`,
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
    };
    const answer = await sendSlowly(app, { path, headers, text: JSON.stringify(sent) }, async () => {
      assertEquals(await control.tokens.remove(namespaceId, id), true);
    });
    const { code } = await answer.json();
    assertEquals([answer.status, String(code).toLowerCase()], [401, "invalid_bearer"], path);
  }
  assertEquals(rowsOf(await query("SELECT * FROM t")), []);
});

test("an unknown, mistyped, foreign or malformed bearer is 401 invalid_bearer", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const typo = token.slice(0, -8) + (token.at(-8) === "a" ? "b" : "a") + token.slice(-7);
  const wrong = [
    newToken("cub_live_"),
    typo,
    token.toUpperCase(),
    `${token}x`,
    token.slice(0, -1),
    newToken("phand_"),
    "x",
    "a b",
    "x".repeat(5000),
  ];
  for (const bearer of wrong) {
    for (const [method, path] of PATHS) {
      const answer = await app.request(method, path, { token: bearer });
      assertEquals([answer.status, answer.body.code], [401, "invalid_bearer"], `${bearer} ${path}`);
      assertMatch(answer.headers.get("www-authenticate") ?? "", /^Bearer.*error="invalid_token"/);
      assertEquals(answer.text.includes(bearer.slice(0, 20)) && bearer.length > 3, false);
    }
  }
});

test("the scheme of a bearer is read in any case", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    const answer = await app.request("GET", "/v1/me", { headers: { authorization: `${scheme} ${token}` } });
    assertEquals(answer.status, 200);
  }
});

test("an expired token is 401 from its last millisecond on, also while its record is kept", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const { token } = await tenant.mint("read", { expiresInSec: 60 });
  assertEquals((await tenant.query("SELECT 1", [], { token })).status, 200);
  clock.turn(60_000);
  const answer = await tenant.query("SELECT 1", [], { token });
  assertEquals([answer.status, answer.body.code], [401, "invalid_bearer"]);
  assertEquals((await tenant.query("SELECT 1")).status, 200);
});

test("a revoked token is refused by the next request, however often it was used before", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { id, token } = await tenant.mint("write");
  for (let n = 0; n < 3; n++) assertEquals((await tenant.query("SELECT 1", [], { token })).status, 200);
  const revoked = await app.request("DELETE", `/api/namespaces/acme/tokens/${id}`, { token: tenant.token });
  assertEquals([revoked.status, revoked.body.data], [200, { id }]);
  const answer = await tenant.query("SELECT 1", [], { token });
  assertEquals([answer.status, answer.body.code], [401, "invalid_bearer"]);
});

test("a token of another namespace is 403 with exactly the specification's message", async () => {
  await using app = await startApp();
  await app.namespace("acme");
  const other = await app.namespace("other");
  for (const [method, path] of PATHS.filter(([, path]) => path !== "/v1/me")) {
    const answer = await app.request(method, path, {
      token: other.token,
      body: method === "POST" ? {} : undefined,
    });
    assertEquals([answer.status, answer.body.code], [403, "namespace_mismatch"], path);
    assertEquals(answer.body.error, "Token namespace mismatch");
  }
});

test("an unknown namespace looks the same as a foreign one to a token", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const unknown = await app.request("GET", "/v1/db/nowhere/main/tables", { token });
  assertEquals([unknown.status, unknown.body.error], [403, "Token namespace mismatch"]);
});

test("the operator key is no bearer under /v1", async () => {
  await using app = await startApp();
  await app.namespace();
  for (const [method, path] of PATHS.filter(([, path]) => path.startsWith("/v1"))) {
    const answer = await app.request(method, path, { token: app.operatorKey });
    assertEquals([answer.status, answer.body.code], [401, "invalid_bearer"], path);
  }
});

test("/v1/me says what the bearer is", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const scopes = [{ databaseId: tenant.database.id, branchRef: "main", role: "read" as const }];
  const { id, token } = await tenant.mint("write", { scopes, expiresInSec: 3600 });
  const answer = await app.request("GET", "/v1/me", { token });
  assertEquals(answer.status, 200);
  const { expiresAt, ...data } = answer.body.data as { expiresAt: string };
  assertEquals(data, { namespace: "acme", tokenId: id, name: "test", role: "write", scopes } as object);
  assertMatch(expiresAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assertEquals(answer.text.includes(token), false);
  const plain = await app.request("GET", "/v1/me", { token: tenant.token });
  assertEquals((plain.body.data as { expiresAt: unknown }).expiresAt, null);
});

test("db@main and db%40main address the trunk", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query("CREATE TABLE t (a)");
  for (const database of ["main", "main@main", "main%40main"]) {
    const answer = await app.request("POST", `/v1/db/acme/${database}/query`, {
      token: tenant.token,
      body: { sql: "SELECT name FROM sqlite_schema WHERE name = 't'" },
    });
    assertEquals([answer.status, rowsOf(answer)], [200, [["t"]]], database);
  }
});

test("an unknown database, and what cannot be one, is 404 database_not_found; an unknown branch is branch_not_found", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const paths = [
    "nowhere",
    "main@",
    "@main",
    "MAIN",
    "main%00",
    "..%2fmain",
    "main%2f",
    "a".repeat(300),
  ];
  for (const database of paths) {
    const answer = await app.request("GET", `/v1/db/acme/${database}/tables`, { token });
    assertEquals([answer.status, answer.body.code], [404, "database_not_found"], database);
  }
  const branch = await app.request("GET", "/v1/db/acme/main@other/tables", { token });
  assertEquals([branch.status, branch.body.code], [404, "branch_not_found"]);
});

test("a database of another namespace is not reached by its slug or id", async () => {
  await using app = await startApp();
  const tenant = await app.namespace("acme");
  const other = await app.namespace("other");
  await other.createDatabase("secret");
  const { id } = other.database;
  for (const database of ["secret", id, id.toLowerCase()]) {
    const answer = await app.request("GET", `/v1/db/acme/${database}/tables`, { token: tenant.token });
    assertEquals(answer.status, 404, database);
  }
});
