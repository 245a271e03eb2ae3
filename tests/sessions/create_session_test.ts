// POST /v1/sessions: who may mint what, and what is in it.
import { assert, assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { check, contentOf, databaseOf, mint, minted, verdict } from "./session_app.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("POST /v1/sessions", run);

test("a session is an HS256 JWT with sub, iat, exp and the database as aud, and email when it is given", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  const beforeSec = Math.floor(Date.now() / 1000);
  const answer = await mint(app, token, { email: "ada@example.com" });
  assertEquals(answer.status, 201);
  const { expiresIn, expiresAt, ...rest } = answer.body.data as Record<string, unknown>;
  assertEquals([Object.keys(rest), expiresIn], [["token"], 3600]);
  const { header, claims } = contentOf(member(answer, "token"));
  assertEquals(header, { alg: "HS256", typ: "JWT" });
  const { iat, exp, ...named } = claims;
  assertEquals(named, { sub: "7", email: "ada@example.com", aud: database.id });
  assert(Number(iat) >= beforeSec && Number(iat) <= Date.now() / 1000);
  assertEquals([exp, Number(exp) * 1000], [Number(iat) + 3600, Date.parse(String(expiresAt))]);
  const plain = contentOf(await minted(app, token));
  assertEquals(Object.keys(plain.claims).sort(), ["aud", "exp", "iat", "sub"]);
});

test("expiresIn is 3600 unless given, from 60 to 86400", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  for (const expiresIn of [60, 86_400]) {
    const answer = await mint(app, token, { expiresIn });
    const { claims } = contentOf(member(answer, "token"));
    assertEquals(Number(claims["exp"]) - Number(claims["iat"]), expiresIn);
    assertEquals((answer.body.data as { expiresIn: number }).expiresIn, expiresIn);
  }
  for (const expiresIn of [59, 86_401, 0, -60, 60.5, "60", null]) {
    const answer = await mint(app, token, { expiresIn });
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "expiresIn"], `${expiresIn}`);
  }
});

test("lengths count characters, not their halves, and claims that no endpoint can bind are refused", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  for (const body of [{ userId: "😀".repeat(256) }, { email: "é".repeat(320) }]) {
    const jwt = await minted(app, token, body);
    assertEquals(await verdict(app, await databaseOf(app), jwt), "ok");
  }
  const refused = [
    ...["x".repeat(257), "😀".repeat(257), "", "a\u0000b", "\ud800", 7, null, undefined].map((
      userId,
    ) => [{ userId }, "userId"]),
    ...["x".repeat(321), "a\u0000b", "\udfff", 7, null].map((email) => [{ email }, "email"]),
    [{ namespaceSlug: undefined }, "namespaceSlug"],
    [{ databaseSlug: undefined }, "databaseSlug"],
    [{ role: "admin" }, "role"],
  ] as const;
  for (const [body, path] of refused) {
    const answer = await mint(app, token, body as object);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], JSON.stringify(body));
  }
});

test("the namespace must be the token's, the database must exist, a scoped token must list it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const other = await app.namespace("other");
  const stock = await tenant.createDatabase("stock");
  const scope = (role: "read" | "admin") => ({
    scopes: [{ databaseId: stock.id, branchRef: "main", role }],
  });
  const reader = await tenant.mint("read");
  const stockReader = await tenant.mint("read", scope("read"));
  const cases = [
    [tenant.token, {}, 201, undefined],
    [reader.token, {}, 201, undefined],
    [stockReader.token, { databaseSlug: "stock" }, 201, undefined],
    [stockReader.token, { databaseSlug: "stock@main" }, 201, undefined],
    [stockReader.token, {}, 403, "out_of_scope"],
    [other.token, {}, 403, "namespace_mismatch"],
    [tenant.token, { namespaceSlug: "other" }, 403, "namespace_mismatch"],
    [tenant.token, { namespaceSlug: "nowhere", databaseSlug: "nowhere" }, 403, "namespace_mismatch"],
    [tenant.token, { databaseSlug: "nowhere" }, 404, "database_not_found"],
    [tenant.token, { databaseSlug: "" }, 404, "database_not_found"],
    [tenant.token, { databaseSlug: "../main" }, 404, "database_not_found"],
    [app.operatorKey, {}, 401, "invalid_bearer"],
  ] as const;
  for (const [token, body, status, code] of cases) {
    const answer = await mint(app, token, body);
    assertEquals([answer.status, answer.body.code], [status, code], JSON.stringify(body));
    if (code === "namespace_mismatch") assertEquals(answer.body.error, "Token namespace mismatch");
  }
  assertEquals((await app.request("POST", "/v1/sessions", { body: {} })).status, 401);
});

test("a session opens its own database only", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.createDatabase("stock");
  const [main, stock] = [await databaseOf(app), await databaseOf(app, "stock")];
  const jwt = await minted(app, tenant.token, { email: "ada@example.com" });
  const checked = await check(app, main, jwt);
  assert(checked.ok);
  const { issuedSec, expiresSec, userId, email, users } = checked.claims;
  assertEquals([userId, email, users, expiresSec - issuedSec], ["7", "ada@example.com", null, 3600]);
  assertEquals(await verdict(app, stock, jwt), "wrong_key");
  await minted(app, tenant.token, { databaseSlug: "stock" });
  assertEquals(await verdict(app, stock, jwt), "wrong_key");
});

test("a session ends with the second of its exp", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { token } = await app.namespace();
  const jwt = await minted(app, token, { expiresIn: 60 });
  const database = await databaseOf(app);
  assertEquals(await verdict(app, database, jwt), "ok");
  clock.turn(60_000);
  assertEquals(await verdict(app, database, jwt), "expired");
});

test("a session is no API token, and neither it nor its key is logged", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const jwt = await minted(app, token);
  assertEquals((await app.request("GET", "/v1/me", { token: jwt })).body.code, "invalid_bearer");
  assertEquals(app.logLines.filter((line) => line.includes(jwt)), []);
});
