// What an idempotency key names: its form, its scope, and the one request that it belongs to.
import { assertEquals } from "@std/assert";
import type { TokenRecord } from "../../lib/store/records.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { assertRefused, assertReplay, count, INSERT, keyed, replayed, step, T } from "./keyed.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what an idempotency key names", run);

test("of a read and a write at once under one key one is answered, and it stays the one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const slow =
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 300000) SELECT count(*) FROM c";
  let written = 0;
  for (let round = 0; round < 3; round++) {
    const both = () =>
      [slow, `INSERT INTO t (a) VALUES ('${round}')`].map((sql) => tenant.query(sql, [], keyed(`k${round}`)));
    const first = await Promise.all(both());
    assertEquals(first.map(({ status }) => status).sort(), [200, 422], first.map(({ text }) => text).join());
    const again = await Promise.all(both());
    for (const [at, answer] of first.entries()) {
      assertEquals([again[at]?.status, again[at]?.body.data], [answer.status, answer.body.data]);
    }
    written += first[1]?.status === 200 ? 1 : 0;
    assertEquals(await count(tenant), written);
  }
});

test("another request under a key is refused and does not run, whichever kind came first", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const requests: [sql: string, params: unknown[]][] = [
    ["INSERT INTO t (a) VALUES (?)", ["1"]],
    ["INSERT INTO t (a) VALUES (?)", ["2"]],
    ["INSERT INTO t (a) VALUES ('3')", []],
    ["SELECT a FROM t WHERE id = ?", [1]],
    ["SELECT a FROM t WHERE id = ?", [2]],
    ["CREATE TABLE u (x)", []],
    ["SELEC 1", []],
  ];
  for (const [first, one] of requests.slice(0, -1).entries()) {
    const key = keyed(`k${first}`);
    const answer = await tenant.query(one[0], one[1], key);
    assertEquals(answer.status, 200, answer.text);
    const before = await count(tenant);
    for (const [second, other] of requests.entries()) {
      const again = await tenant.query(other[0], other[1], key);
      if (second === first) assertReplay(answer, again);
      else assertRefused(again, 422, "replay_mismatch");
    }
    assertEquals(await count(tenant), before);
    if (one[0].startsWith("CREATE")) await tenant.query("DROP TABLE u");
    else await tenant.query("DELETE FROM t");
  }
});

test("another batch under a key is refused: transaction or not, more or fewer statements", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const first = await tenant.batch([[INSERT]], { transaction: true, ...keyed("k") });
  for (const transaction of [false, undefined]) {
    const options = { ...(transaction === undefined ? {} : { transaction }), ...keyed("k") };
    assertRefused(await tenant.batch([[INSERT]], options), 422, "replay_mismatch");
  }
  for (const list of [[[INSERT], ["SELECT 1"]], [["SELECT 1"]]] as [string][][]) {
    const again = await tenant.batch(list, { transaction: true, ...keyed("k") });
    assertRefused(again, 422, "replay_mismatch");
  }
  assertReplay(first, await tenant.batch([[INSERT]], { transaction: true, ...keyed("k") }));
  assertEquals(await count(tenant), 1);
});

test("the same key of another token, database or operation is another key", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const other = await tenant.createDatabase("other");
  const { token } = await tenant.mint("write");
  const foreign = await app.namespace("umbrella");
  const body = { sql: "INSERT INTO t (a) VALUES ('x')" };
  const plain = "CREATE TABLE t (a TEXT)";
  for (const one of [tenant, foreign]) await one.query(plain);
  await app.request("POST", `${other.path}/query`, { token: tenant.token, body: { sql: plain } });
  const calls = [
    () => app.request("POST", `${tenant.database.path}/query`, keyed("k", { token: tenant.token, body })),
    () => app.request("POST", `${tenant.database.path}/query`, keyed("k", { token, body })),
    () => app.request("POST", `${other.path}/query`, keyed("k", { token: tenant.token, body })),
    () => app.request("POST", `${other.path}/query`, keyed("k", { token, body })),
    () => app.request("POST", `${foreign.database.path}/query`, keyed("k", { token: foreign.token, body })),
    () => tenant.batch([[body.sql]], keyed("k")),
  ];
  const first = [];
  for (const call of calls) first.push(await call());
  assertEquals(first.map(replayed), calls.map(() => [null, null]));
  for (const [at, call] of calls.entries()) {
    const answer = first[at];
    if (answer) assertReplay(answer, await call());
  }
  assertEquals([await count(tenant), await count(foreign)], [3, 1]);
});

test("keys are 1 to 200 visible characters; anything else is refused naming the header", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (const key of ["", "k".repeat(201), "a b", "tab\there", "schlüssel", "nbsp\u00a0"]) {
    for (
      const [header, options] of [
        ["Idempotency-Key", keyed(key)],
        ["Plan-Key", step(key, "1")],
        ["Plan-Step", step("p", key)],
      ] as const
    ) {
      const answer = await tenant.query(INSERT, [], options);
      assertRefused(answer, 400, "validation_failed");
      assertEquals(answer.body.issues?.map(({ path }) => path), [header], JSON.stringify(key));
    }
  }
  assertEquals(await count(tenant), 0);
  for (const key of ["k", "k".repeat(200), "!~'\";--%20,="]) {
    const insert = () => tenant.query("INSERT INTO t (a) VALUES (?)", [key], keyed(key));
    assertReplay(await insert(), await insert());
  }
  assertEquals(await count(tenant), 3);
});

test("an answer is kept 24 hours; a clock that jumps an hour and back changes nothing", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const insert = () => tenant.query(INSERT, [], keyed("w"));
  const read = () => tenant.query("SELECT count(*) FROM t", [], keyed("r"));
  const planned = () => tenant.query("INSERT INTO t (a) VALUES ('p')", [], step("p", "1"));
  const tables = () =>
    app.request("GET", `${tenant.database.path}/tables`, step("p", "2", { token: tenant.token }));
  const all = [insert, read, planned, tables];
  const first = [];
  for (const run of all) first.push(await run());
  const hour = 3_600_000;
  for (const turn of [hour, -2 * hour, hour, 23 * hour, hour - 60_000]) {
    clock.turn(turn);
    for (const [at, run] of all.entries()) {
      const answer = first[at];
      if (answer) assertReplay(answer, await run(), at < 2 ? undefined : "plan-replayed");
    }
  }
  assertEquals(await count(tenant), 2);
  clock.turn(61_000);
  for (const run of all) assertEquals(replayed(await run()), [null, null]);
  assertEquals(await count(tenant), 4);
  for (const run of all) assertEquals(replayed(await run()).includes("true"), true);
});

/** Changes a token where it is kept: no route does. */
async function lowerRole(app: StartedApp, tokenId: string, role: "read" | "write"): Promise<void> {
  for await (const { key, value } of app.deps.kv.list<TokenRecord>({ prefix: ["token"] })) {
    if (key[2] === tokenId) await app.deps.kv.set(key, { ...value, role });
  }
}

test("a key does not give a token back what its role has lost", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  await tenant.query(T);
  const { id, token } = await tenant.mint("write");
  const insert = (key: string) => tenant.query(INSERT, [], keyed(key, { token }));
  assertEquals((await insert("k")).status, 200);
  await lowerRole(app, id, "read");
  clock.turn(60_000); // longer than any cache
  assertRefused(await insert("k2"), 403, "role_too_low");
  const again = await insert("k");
  // Its old answer or a refusal; what it may not do is run.
  if (again.status !== 200) assertRefused(again, 403, "role_too_low");
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t")), [["x"]]);
});

test("a revoked token gets nothing from its keys", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { id, token } = await tenant.mint("write");
  const read = () => tenant.query("SELECT 1", [], keyed("k", { token }));
  assertReplay(await read(), await read());
  await app.request("DELETE", `/api/namespaces/${tenant.slug}/tokens/${id}`, { token: app.operatorKey });
  assertRefused(await read(), 401, "invalid_bearer");
});
