// /api/namespaces/:slug/tokens: the secret is shown once, and only hashes are kept.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { keys } from "../../lib/store/keys.ts";
import { startApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("tokens of a namespace", run);

const PATH = "/api/namespaces/acme/tokens";

test("creating a token answers 201 with its record and, once, its secret", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const answer = await app.request("POST", PATH, { token, body: { name: "ci", role: "write" } });
  assertEquals(answer.status, 201);
  const data = answer.body.data as Record<string, unknown>;
  assertEquals(Object.keys(data).sort(), [
    "audience",
    "client",
    "createdAt",
    "expiresAt",
    "id",
    "name",
    "role",
    "scopes",
    "token",
  ]);
  assertEquals([data["name"], data["role"], data["scopes"], data["expiresAt"]], ["ci", "write", [], null]);
  assertMatch(member(answer, "id"), /^tok_[0-9A-HJKMNP-TV-Z]{26}$/);
  assertMatch(member(answer, "token"), /^cub_live_[0-9A-Za-z]{38}$/);
});

test("no other answer shows a token's secret or its hash, and KV holds no secret", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { token } = await tenant.mint("read");
  const list = await app.request("GET", PATH, { token: tenant.token });
  assertEquals(list.status, 200);
  const records = list.body.data as Record<string, unknown>[];
  assertEquals(records.length, 2);
  for (const record of records) {
    const members = [
      "audience",
      "client",
      "createdAt",
      "expiresAt",
      "id",
      "lastUsedAt",
      "name",
      "role",
      "scopes",
    ];
    assertEquals(Object.keys(record).sort(), members);
  }
  const stored: string[] = [];
  for await (const { key, value } of app.deps.kv.list({ prefix: [] })) {
    stored.push(JSON.stringify([key, value]));
  }
  assert(stored.length > 4);
  for (const secret of [token, tenant.token, app.operatorKey]) {
    assertEquals(stored.filter((entry) => entry.includes(secret)), []);
    assertEquals(list.text.includes(secret), false);
  }
});

test("the list tells when a token was last used, on whichever surface and whatever came of the call", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const { token, id } = await tenant.mint("read");
  const used = async () => {
    const { body } = await app.request("GET", PATH, { token: app.operatorKey });
    const records = body.data as { id: string; lastUsedAt: string | null }[];
    return records.find((record) => record.id === id)?.lastUsedAt ?? null;
  };
  assertEquals(await used(), null);
  let last = 0;
  const calls = [["GET", "/v1/me"], ["POST", `${tenant.database.path}/query`], ["GET", PATH]] as const;
  for (const [method, path] of calls) {
    clock.turn(60_000);
    const before = clock.now();
    await app.request(method, path, {
      token,
      ...(method === "POST" ? { body: { sql: "DELETE FROM t" } } : {}),
    });
    last = Date.parse(await used() ?? "");
    assert(last >= before && last <= clock.now(), path);
  }
  // Written, it is what another process shows.
  await app.deps.control.tokenUses.write();
  const namespaceId = (await app.deps.control.namespaces.bySlug("acme"))?.id ?? "";
  assertEquals((await app.deps.kv.get(keys.tokenUse(namespaceId, id))).value, last);
});

test("expiresInSec sets the expiry, within its bounds", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { token } = await app.namespace();
  const make = (expiresInSec: unknown) =>
    app.request("POST", PATH, { token, body: { name: "x", role: "read", expiresInSec } });
  const answer = await make(3600);
  assertEquals(answer.status, 201);
  assertEquals(Date.parse(member(answer, "expiresAt")) - Date.parse(member(answer, "createdAt")), 3_600_000);
  const shortest = await make(1);
  assertEquals(shortest.status, 201);
  clock.turn(1000);
  const late = await app.request("GET", "/v1/me", { token: member(shortest, "token") });
  assertEquals(late.status, 401);
  for (const wrong of [0, -1, 1.5, "3600", null, 1e12]) {
    const refused = await make(wrong);
    assertEquals([refused.status, refused.body.issues?.[0]?.path], [400, "expiresInSec"], `${wrong}`);
  }
});

test("wrong roles, missing names and unknown fields are refused by name", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const cases = [
    [{ name: "x", role: "owner" }, "role"],
    [{ name: "x" }, "role"],
    [{ role: "read" }, "name"],
    [{ name: "", role: "read" }, "name"],
    [{ name: "x".repeat(201), role: "read" }, "name"],
    [{ name: "x", role: "read", scope: [] }, "scope"],
    [{ name: "x", role: "read", scopes: [{}] }, "scopes[0].databaseId"],
  ] as const;
  for (const [body, path] of cases) {
    const answer = await app.request("POST", PATH, { token, body });
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], JSON.stringify(body));
  }
});

test("revoking an unknown token is 404, and a token of another namespace is unknown", async () => {
  await using app = await startApp();
  const { token } = await app.namespace("acme");
  const other = await app.namespace("other");
  for (const id of ["tok_nowhere", other.id, "x", "%00"]) {
    const answer = await app.request("DELETE", `${PATH}/${id}`, { token });
    assertEquals([answer.status, answer.body.code], [404, "token_not_found"], id);
  }
  assertEquals((await other.query("SELECT 1")).status, 200);
});

test("a token may revoke itself and is then refused", async () => {
  await using app = await startApp();
  const { id, token } = await app.namespace();
  assertEquals((await app.request("DELETE", `${PATH}/${id}`, { token })).status, 200);
  assertEquals((await app.request("DELETE", `${PATH}/${id}`, { token })).status, 401);
});

test("only an unscoped admin token and the operator manage tokens", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const body = { name: "x", role: "read" };
  for (const role of ["read", "write"] as const) {
    const { token } = await tenant.mint(role);
    const answer = await app.request("POST", PATH, { token, body });
    assertEquals([answer.status, answer.body.code], [403, "role_too_low"]);
  }
  assertEquals((await app.request("POST", PATH, { token: app.operatorKey, body })).status, 201);
});

test("tokens are listed in pages", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const made = [tenant.id];
  for (let n = 0; n < 4; n++) made.push((await tenant.mint("read")).id);
  const first = await app.request("GET", `${PATH}?pageSize=3`, { token: tenant.token });
  const cursor = first.body.meta?.nextCursor;
  const second = await app.request("GET", `${PATH}?pageSize=3&cursor=${cursor}`, { token: tenant.token });
  assertEquals(second.body.meta?.nextCursor, null);
  const seen = [first, second].flatMap(({ body }) => (body.data as { id: string }[]).map(({ id }) => id));
  assertEquals(seen, made);
});
