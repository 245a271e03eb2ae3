// Handoff tokens: pinned, single use, never more than whoever minted them may.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { madeLimits } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import { secondApp } from "../replay/second_app.ts";
import { startApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { handedOff, MAIN, mint, minted, outcome, redeem } from "./handoffs.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("handoff tokens", run);

const NOT_FOUND = "404 handoff_not_found";

test("a handoff is redeemed without a bearer for a token of the pinned database, branch and role", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const before = Date.now();
  const handoff = await mint(app, tenant.token, { role: "write", ttlSec: 600 });
  assertEquals(handoff.status, 201);
  assertEquals(Object.keys(handoff.body.data as object).sort(), ["expiresAt", "token"]);
  assertMatch(member(handoff, "token"), /^phand_[0-9A-Za-z]{38}$/);
  const untilMs = Date.parse(member(handoff, "expiresAt"));
  assert(untilMs >= before + 600_000 && untilMs <= Date.now() + 600_000);
  const answer = await redeem(app, member(handoff, "token"), "night job");
  assertEquals(answer.status, 201);
  assertEquals({ ...answer.body.data as object, token: "", tokenId: "" }, {
    ...{ token: "", tokenId: "", namespaceSlug: "acme", databaseSlug: "main" },
    ...{ databaseId: tenant.database.id, branchRef: "main", role: "write", expiresAt: null },
  });
  const me = await app.request("GET", "/v1/me", { token: member(answer, "token") });
  assertEquals(me.body.data, {
    ...{ namespace: "acme", tokenId: member(answer, "tokenId"), name: "night job", role: "write" },
    scopes: [{ databaseId: tenant.database.id, branchRef: "main", role: "write" }],
    expiresAt: null,
  });
});

test("a handed-off token can do what was pinned and nothing else", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const stock = await tenant.createDatabase("stock");
  await tenant.setup("CREATE TABLE t(a)");
  const { token } = await handedOff(app, tenant.token, "read");
  const query = (sql: string, path = MAIN) =>
    app.request("POST", `${path}/query`, { token, body: { sql } }).then(outcome);
  assertEquals(await query("SELECT * FROM t"), "200");
  assertEquals(await query("INSERT INTO t VALUES (1)"), "403 role_too_low");
  assertEquals(await query("SELECT 1", stock.path), "403 out_of_scope");
  assertEquals(outcome(await mint(app, token, { role: "write", ttlSec: 60 })), "403 role_too_low");
  const list = await app.request("GET", "/api/namespaces/acme/tokens", { token });
  assertEquals(outcome(list), "403 out_of_scope");
});

test("nobody hands off more than the effective role: of the token or of its scope row", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const row = (role: "read" | "write" | "admin") => ({
    scopes: [{ databaseId: tenant.database.id, branchRef: "main", role }],
  });
  const rank = ["read", "write", "admin"] as const;
  const cases = [
    [tenant.token, "admin"],
    [(await tenant.mint("write")).token, "write"],
    [(await tenant.mint("read")).token, "read"],
    [(await tenant.mint("admin", row("write"))).token, "write"],
    [(await tenant.mint("write", row("admin"))).token, "write"],
    [(await tenant.mint("admin", row("read"))).token, "read"],
  ] as const;
  for (const [token, highest] of cases) {
    for (const role of rank) {
      const allowed = rank.indexOf(role) <= rank.indexOf(highest);
      const answer = await mint(app, token, { role, ttlSec: 60 });
      assertEquals(outcome(answer), allowed ? "201" : "403 role_too_low", `${role} by ${highest}`);
    }
  }
});

test("ttlSec, role, name and unknown fields are refused by name", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const mints = [
    ...[59, 86_401, 0, -1, 60.5, "60", null, undefined].map((ttlSec) => [{ role: "read", ttlSec }, "ttlSec"]),
    ...["owner", "", null, undefined].map((role) => [{ role, ttlSec: 60 }, "role"]),
    [{ role: "read", ttlSec: 60, name: "x" }, "name"],
  ] as const;
  for (const [body, path] of mints) {
    const answer = await mint(app, token, body);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path], JSON.stringify(body));
  }
  for (const ttlSec of [60, 86_400]) {
    assertEquals((await mint(app, token, { role: "read", ttlSec })).status, 201);
  }
  const handoff = await minted(app, token);
  for (const [secret, name, path] of [[handoff, "", "name"], [handoff, 1, "name"], [1, "x", "token"]]) {
    const answer = await redeem(app, secret, name);
    assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, path]);
  }
  assertEquals((await redeem(app, handoff)).status, 201);
});

test("used, expired, unknown and malformed handoffs are the same 404", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const { token } = await app.namespace();
  const used = await minted(app, token);
  assertEquals(outcome(await redeem(app, used)), "201");
  const expired = await minted(app, token);
  clock.turn(600_000);
  const bodies = new Set<string>();
  for (
    const wrong of [used, expired, newToken("phand_"), used.slice(0, -1), `${used}x`, token, "", "phand_"]
  ) {
    const answer = await redeem(app, wrong);
    assertEquals(outcome(answer), NOT_FOUND);
    bodies.add(answer.text);
  }
  assertEquals(bodies.size, 1);
  assertEquals(app.logLines.filter((line) => line.includes("phand_")), []);
});

test("of 200 redeemers at once, over two processes, exactly one wins", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const { token } = await app.namespace();
  for (let round = 0; round < 3; round++) {
    const handoff = await minted(app, token);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => redeem(n % 2 === 0 ? app : other, handoff).then(outcome)),
    );
    assertEquals(answers.filter((answer) => answer === "201").length, 1);
    assertEquals(answers.filter((answer) => answer === NOT_FOUND).length, 199);
  }
  const list = await app.request("GET", "/api/namespaces/acme/tokens", { token });
  assertEquals((list.body.data as unknown[]).length, 4);
});

test("KV holds no handoff in plain, and nothing of it after it was redeemed", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const handoff = await minted(app, token);
  const stored = async () =>
    (await Array.fromAsync(app.deps.kv.list({ prefix: [] }))).map(({ key, value }) =>
      JSON.stringify([key, value])
    );
  const prefix = String(keys.handoff("")[0]);
  assertEquals((await stored()).filter((entry) => entry.includes(handoff)), []);
  assertEquals((await stored()).filter((entry) => entry.startsWith(`[["${prefix}"`)).length, 1);
  await redeem(app, handoff);
  assertEquals((await stored()).filter((entry) => entry.startsWith(`[["${prefix}"`)), []);
});

test("a handoff of a database that is gone is not found, and counts again when the database is back", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const handoff = await minted(app, token);
  const databases = "/api/namespaces/acme/databases";
  await app.request("DELETE", `${databases}/main`, { token, body: { confirm: "main" } });
  assertEquals(outcome(await redeem(app, handoff)), NOT_FOUND);
  await app.request("POST", `${databases}/restore`, { token, body: { slug: "main", into: "again" } });
  const answer = await redeem(app, handoff);
  assertEquals([answer.status, member(answer, "databaseSlug")], [201, "again"]);
});

test("a handoff of a namespace that is gone is not found", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const handoff = await minted(app, token);
  const path = "/api/namespaces/acme";
  await app.request("DELETE", path, { token: app.operatorKey, body: { confirm: "acme" } });
  assertEquals(outcome(await redeem(app, handoff)), NOT_FOUND);
});

test("a token and all that come of it hand off so often in a day and no more; others are not held up", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const reader = await tenant.mint("read");
  const child = await handedOff(app, reader.token);
  const [counted] = await Array.fromAsync(
    app.deps.kv.list<number>({ prefix: keys.handoffsMinted(tenant.id, reader.id, 0).slice(0, 1) }),
  );
  assert(counted !== undefined && counted.value === 1);
  // One each second for three hours.
  await app.deps.kv.set(counted.key, 10_800);
  await minted(app, reader.token);
  await app.deps.kv.set(counted.key, madeLimits.inDay - 1);
  const last = await handedOff(app, child.token);
  for (const { token } of [reader, child, last]) {
    const answer = await mint(app, token);
    assertEquals(outcome(answer), "429 too_many_requests");
    const waitSec = Number(answer.headers.get("retry-after"));
    assert(waitSec > 0 && waitSec <= 86_400, `${waitSec}`);
  }
  await minted(app, (await tenant.mint("read")).token);
  clock.turn(86_400_000);
  await minted(app, last.token);
});

test("a redeemer says little, so a long body of a stranger is refused before it is read as JSON", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  assertEquals(outcome(await redeem(app, "x".repeat(16 * 1024))), "413 payload_too_large");
  assertEquals((await redeem(app, await minted(app, token), "n".repeat(100))).status, 201);
});
