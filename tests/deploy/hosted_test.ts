// Two instances as Deno Deploy runs them, on one KV and one sqld: what one does holds for the other, at once where it must
// and within five seconds everywhere else, and an instance that ends at any moment takes nothing with it.
import { assert, assertEquals } from "@std/assert";
import { readSpec } from "../endpoints/endpoint_world.ts";
import { money, nano } from "../money/money_world.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { suspend } from "../testing/suspend.ts";
import { heldBy } from "../writes/write_world.ts";
import { type InstanceApi, inTurn } from "./instance_api.ts";
import { type Instance, openStage } from "./rehearsal.ts";
import { pause } from "../../lib/core/pause.ts";

/** Milliseconds after which no cache may still be believed. */
const STALE_MS = 5_000;
const ROUNDS = 20;

interface World {
  readonly one: InstanceApi;
  readonly two: InstanceApi;
  readonly both: InstanceApi;
}

Deno.test("two instances with nothing but the network and their environment are one service", async (t) => {
  await using stage = await openStage();
  if (stage === null) return;
  // One of them has the engine that a runtime without authorizers would take.
  const [first, second, victim] = await Promise.all([
    stage.start(),
    stage.start({ GATE_ENGINE: "wasm" }),
    stage.start(),
  ]);
  const api = (...instances: Instance[]) => inTurn(stage.operatorKey, instances);
  const world: World = { one: api(first), two: api(second), both: api(first, second) };
  const doomed = await api(victim).namespace("doomed");

  await t.step("a killed instance has lost nothing that it acknowledged", async () => {
    const done = await writeUntilKilled(doomed, victim);
    const rows = rowsOf(await on(world.one, doomed, "SELECT n FROM t")).map(([n]) => n);
    assertEquals([...done.keys()].filter((n) => !rows.includes(n)), []);
    const log = await on(world.one, doomed, "SELECT id FROM _service_meta_query_log");
    const logged = rowsOf(log).map(([id]) => id);
    assertEquals([...done.values()].filter((id) => !logged.includes(id)), []);
    const { reserved } = await money(world.one, doomed);
    assert(reserved > 0, "the dead instance holds a block");
  });
  await t.step(
    "a single-use token is redeemed once, whoever comes with it and where",
    () => redeemOnce(world),
  );
  await t.step(
    "what one instance changes holds at the other within five seconds",
    () => noticeChanges(world),
  );
  await t.step("what both spend at once adds up to the last nano-dollar", () => spendTogether(world));
  await t.step(
    "an approval that one instance holds is given at the other, and runs once",
    () => approve(world),
  );
  await t.step("the documentation needs no leave to read files", async () => {
    for (const path of ["/docs/agents", "/docs/agents.md", "/docs?q=branch", "/docs/assets/swagger-ui.js"]) {
      const answer = await fetch(first.url + path);
      assertEquals([path, answer.status], [path, 200]);
      assert((await answer.bytes()).length > 1000, path);
    }
  });
  await t.step("the block of the killed instance comes back by its lease", async () => {
    for (let waitedMs = 0; (await money(world.one, doomed)).reserved > 0; waitedMs += 1000) {
      assert(waitedMs < 90_000, "still reserved");
      await pause(1000);
    }
  });
  await t.step(
    "an instance that is told to stop does so in time and writes what it had put off",
    async () => {
      const acme = await world.one.namespace("parting");
      const read = await on(world.one, acme, "SELECT 'the last thing'");
      assertEquals((await first.stop()).code, 0);
      const path = `${acme.database.path}/query_log`;
      const log = await world.two.request("GET", path, { token: acme.token });
      assert(log.text.includes(read.body.meta?.queryLogId ?? "none"), log.text);
    },
  );
  await t.step("an instance stops in time, and pays what it owes, where sqld has gone silent", async () => {
    const third = await stage.start();
    const acme = await api(third).namespace("silent");
    const { body } = await on(api(third), acme, "CREATE TABLE t (n INTEGER)");
    await on(api(third), acme, "SELECT 1");
    assert(stage.sqldPid !== null);
    await suspend(stage.sqldPid);
    try {
      assertEquals((await third.stop()).code, 0);
    } finally {
      Deno.kill(stage.sqldPid, "SIGCONT");
    }
    const { used, reserved } = await money(world.two, acme);
    assert(used > nano(body.meta?.costUsd) && reserved === 0, `${used} used, ${reserved} reserved`);
    assertEquals((await second.stop()).code, 0);
  });
  await t.step("nothing that is not allowed was asked for, and no secret was printed", () => {
    for (const instance of [first, second, victim]) {
      const said = instance.output() + instance.errors();
      assert(!/NotCapable|Requires .* access/.test(said), said);
      assert(!/cub_|PRIVATE KEY/.test(said), said);
    }
  });
});

/** One statement in the namespace's database `main`, at one instance. */
function on({ request }: InstanceApi, { database, token }: TestNamespace, sql: string): Promise<ApiAnswer> {
  return request("POST", `${database.path}/query`, { token, body: { sql } });
}

/** Kills the instance in the middle of many inserts. The numbers that it acknowledged, with their log ids. */
async function writeUntilKilled(doomed: TestNamespace, victim: Instance): Promise<Map<number, string>> {
  assertEquals((await doomed.query("CREATE TABLE t (n INTEGER)")).status, 200);
  const done = new Map<number, string>();
  let next = 0;
  let dead = false;
  const write = async () => {
    while (!dead) {
      const n = next++;
      try {
        const answer = await doomed.query("INSERT INTO t VALUES (?)", [n]);
        if (answer.status === 200) done.set(n, answer.body.meta?.queryLogId ?? "");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // the connection broke
        return;
      }
      if (done.size >= 100 && !dead) {
        dead = true;
        await victim.kill();
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, write));
  assert(done.size >= 100);
  return done;
}

async function redeemOnce({ one, two, both }: World): Promise<void> {
  const acme = await both.namespace("once");
  assertEquals((await on(one, acme, "CREATE TABLE t (n INTEGER)")).status, 200);
  const everywhere = (call: (api: InstanceApi) => Promise<ApiAnswer>) =>
    Promise.all([one, two, one, two].map(call));
  for (let round = 0; round < ROUNDS; round++) {
    const proposed = await both.request("POST", `${acme.database.path}/propose`, {
      ...{ token: acme.token, body: { sql: "INSERT INTO t VALUES (?)", params: [round] } },
    });
    const executionToken = member(proposed, "executionToken");
    const applied = await everywhere(({ request }) =>
      request("POST", `${acme.database.path}/apply`, { token: acme.token, body: { executionToken } })
    );
    assertEquals(
      applied.filter(({ status }) => status === 200).length,
      1,
      applied.map((a) => a.text).join("\n"),
    );
    const minted = await both.request("POST", `${acme.database.path}/handoff`, {
      ...{ token: acme.token, body: { role: "read", ttlSec: 60 } },
    });
    const token = member(minted, "token");
    const redeemed = await everywhere(({ request }) =>
      request("POST", "/v1/handoff/redeem", { body: { token, name: "helper" } })
    );
    assertEquals(redeemed.filter(({ status }) => status === 201).length, 1);
  }
  const rows = rowsOf(await on(two, acme, "SELECT n FROM t ORDER BY n"));
  assertEquals(rows.map(([n]) => n), Array.from({ length: ROUNDS }, (_, n) => n));
}

async function noticeChanges({ one, two, both }: World): Promise<void> {
  const acme = await both.namespace("changes");
  const manage = (method: string, path: string, body?: unknown, api = one) =>
    api.request(method, `/api/namespaces/changes${path}`, { token: acme.token, body });
  assertEquals((await on(one, acme, "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)")).status, 200);
  assertEquals((await on(one, acme, "INSERT INTO orders VALUES (1, 'paper')")).status, 200);
  const doomed = await acme.mint("write");
  const gone = await acme.createDatabase("gone");
  const endpoints = "/databases/main/endpoints";
  assertEquals((await manage("POST", endpoints, readSpec())).status, 201);
  assertEquals((await manage("POST", `${endpoints}/get-order/publish`)).status, 200);
  const look = {
    token: () => on(two, { ...acme, token: doomed.token }, "SELECT 1"),
    write: () => on(two, acme, "INSERT INTO orders (note) VALUES ('x')"),
    gone: () => on(two, { ...acme, database: gone }, "SELECT 1"),
    endpoint: () => two.request("GET", "/p/changes/main/get-order?id=1"),
    schema: () => on(two, acme, "SELECT total FROM orders"),
  };
  // The second instance has seen all of it as it is now.
  for (const name of ["token", "write", "gone", "endpoint"] as const) {
    const { status, text } = await look[name]();
    assertEquals(status, 200, `${name}: ${text}`);
  }
  assertEquals((await look.schema()).status, 400);
  const changes = [
    await manage("DELETE", `/tokens/${doomed.id}`),
    await manage("POST", "/databases/main/rules", {
      tableGlob: "orders",
      actions: ["insert"],
      effect: "deny",
    }),
    await manage("DELETE", "/databases/gone", { confirm: "gone" }),
    await manage("PUT", `${endpoints}/get-order`, readSpec({ sql: "SELECT 'new' AS note WHERE ? > 0" })),
    await on(one, acme, "ALTER TABLE orders ADD COLUMN total REAL"),
  ];
  for (const { status, text } of changes) assert(status < 300, text);
  // A schema is no cache of seconds: a statement that does not fit it is looked at again.
  assertEquals((await look.schema()).status, 200);
  await pause(STALE_MS);
  assertEquals((await look.token()).status, 401);
  assertEquals((await look.gone()).status, 404);
  const denied = await look.write();
  assertEquals(denied.status, 403, denied.text);
  assert((await look.endpoint()).text.includes('"new"'));
}

async function spendTogether({ one, two, both }: World): Promise<void> {
  const acme = await both.namespace("spend");
  const before = await on(one, acme, "CREATE TABLE t (n INTEGER)");
  let cost = nano(before.body.meta?.costUsd);
  await Promise.all([one, two, one, two, one, two].map(async (api, worker) => {
    for (let n = 0; n < 40; n++) {
      const sql = n % 2 === 0 ? `INSERT INTO t VALUES (${worker})` : "SELECT count(*) FROM t";
      const { status, body, text } = await on(api, acme, sql);
      assertEquals(status, 200, text);
      cost += nano(body.meta?.costUsd);
    }
  }));
  let found = await money(both, acme);
  for (let waitedMs = 0; found.reserved > 0; waitedMs += 500) {
    assert(waitedMs < 30_000, "blocks of idle instances go back");
    await pause(500);
    found = await money(both, acme);
  }
  assertEquals([found.used, found.balance], [cost, found.credited - cost]);
}

async function approve({ one, two, both }: World): Promise<void> {
  const acme = await both.namespace("approve");
  assertEquals((await on(one, acme, "CREATE TABLE t (n INTEGER)")).status, 200);
  const rule = { tableGlob: "t", effect: "require_approval" };
  const path = "/api/namespaces/approve";
  const made = await one.request("POST", `${path}/databases/main/rules`, { token: acme.token, body: rule });
  assertEquals(made.status, 201, made.text);
  const { approvalToken, id } = heldBy(await on(one, acme, "INSERT INTO t VALUES (7)"));
  const approved = await two.request("POST", `${path}/approvals/${id}/approve`, { token: two.operatorKey });
  assertEquals(approved.status, 200, approved.text);
  const redeemed = await Promise.all(
    [one, two, one, two].map(({ request }) =>
      request("POST", `${acme.database.path}/redeem_approval`, { token: acme.token, body: { approvalToken } })
    ),
  );
  assertEquals(redeemed.filter(({ status }) => status === 200).length, 1);
  assertEquals(rowsOf(await on(two, acme, "SELECT n FROM t")), [[7]]);
}
