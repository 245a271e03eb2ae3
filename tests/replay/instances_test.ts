// Two instances of the service over one KV: claims of the other one, of a dead one, and a KV that does not answer.
import { assert, assertEquals } from "@std/assert";
import type { ReplayRecord } from "../../lib/store/records.ts";
import { pause } from "../../lib/core/pause.ts";
import { dataOf } from "../branches/branch_world.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { assertRefused, assertReplay, count, INSERT, keyed, replayed, step, T } from "./keyed.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { secondApp } from "./second_app.ts";
import { oneStore } from "../testing/cases.ts";
import { ENDLESS } from "../testing/endless.ts";

const { run, test } = oneStore();
Deno.test("two instances of the service over one KV", run);

/** More than a claim holds, however far the clocks of two instances may differ. */
const LONG_MS = 631_000;

/** The replay records in KV, once there are as many. */
async function records(app: StartedApp, wanted: number): Promise<Deno.KvEntry<ReplayRecord>[]> {
  for (let attempt = 0;; attempt++) {
    const found = await Array.fromAsync(app.deps.kv.list<ReplayRecord>({ prefix: ["replay"] }));
    if (found.length === wanted) return found;
    assert(attempt < 2000, `${found.length} records instead of ${wanted}`);
    await pause(5);
  }
}

/** Makes the one record what it is where its instance has died before it noted its answer. */
async function noteDeath(app: StartedApp, clock: TurnableClock): Promise<Deno.KvKey> {
  const [record] = await records(app, 1);
  assert(record !== undefined);
  await app.deps.kv.set(record.key, {
    ...record.value,
    state: "running",
    untilMs: clock.now() + 30_000,
    pieces: 0,
  });
  return record.key;
}

/** As a client does that heeds Retry-After: a block may have been spent while KV was away. */
async function whileUnreachable(ask: () => Promise<ApiAnswer>): Promise<void> {
  for (let attempt = 0; (await ask()).body.code === "meter_unreachable"; attempt++) {
    assert(attempt < 500, "the balance has stayed out of reach");
    await pause(20);
  }
}

test("while a call runs in one instance its repetition in the other, or what else has its key, gets 409 with Retry-After", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const tenant = await app.namespace();
  for (const options of [keyed("k"), step("p", "1")]) {
    const stop = new AbortController();
    const running = tenant.query(ENDLESS, [], { ...options, signal: stop.signal });
    await records(app, 1);
    const call = { ...options, token: tenant.token, body: { sql: ENDLESS, params: [] } };
    const again = await other.request("POST", `${tenant.database.path}/query`, call);
    assertRefused(again, 409, "replay_running");
    assertEquals(again.headers.get("retry-after"), "1");
    const body = { sql: "SELECT 1", params: [] };
    const another = await other.request("POST", `${tenant.database.path}/query`, { ...call, body });
    assertRefused(another, 409, "replay_running");
    stop.abort();
    await running.catch(() => {});
    await records(app, 0);
  }
});

test("a call that runs in one instance does not run beside it in another, whose clock is ahead", async () => {
  const ahead = new TurnableClock();
  ahead.turn(90_000);
  await using app = await startApp();
  await using other = secondApp(app, ahead);
  const tenant = await app.namespace();
  for (const options of [keyed("k"), step("p", "1")]) {
    const stop = new AbortController();
    const running = tenant.query(ENDLESS, [], { ...options, signal: stop.signal });
    await records(app, 1);
    const call = { ...options, token: tenant.token, body: { sql: "SELECT 1" } };
    const again = await other.request("POST", `${tenant.database.path}/query`, call);
    assertRefused(again, 409, "replay_running");
    stop.abort();
    await running.catch(() => {});
    await records(app, 0);
  }
});

test("an answer of one instance is replayed by the other: reads, writes and steps", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const tenant = await app.namespace();
  const calls = [
    { options: keyed("s"), sql: T },
    { options: keyed("w"), sql: INSERT },
    { options: keyed("r"), sql: "SELECT random()" },
    { options: step("p", "w"), sql: "INSERT INTO t (a) VALUES ('y')" },
    { options: step("p", "r"), sql: "SELECT random()" },
  ];
  for (const { options, sql } of calls) {
    const first = await tenant.query(sql, [], options);
    const call = { ...options, token: tenant.token, body: { sql, params: [] } };
    const again = await other.request("POST", `${tenant.database.path}/query`, call);
    assertReplay(first, again, options.headers?.["plan-key"] ? "plan-replayed" : undefined);
  }
  assertEquals(await count(tenant), 2);
});

test("many calls with one key on both instances run once", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  for (const options of [keyed("k"), step("p", "1"), keyed("k2", step("p", "2"))]) {
    const before = Number(await count(tenant));
    const call = { ...options, token: tenant.token, body: { sql: INSERT } };
    const answers = await Promise.all(
      Array.from(
        { length: 30 },
        (_, at) => (at % 2 ? app : other).request("POST", `${tenant.database.path}/query`, call),
      ),
    );
    const ok = answers.filter(({ status }) => status === 200);
    assertEquals(new Set(ok.map(({ text }) => text)).size, 1);
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 409, "replay_running");
    assertEquals(await count(tenant), before + 1);
  }
});

test("the claim of a dead instance holds for its lease, then the call may run", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await using other = secondApp(app);
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const calls = [
    { options: keyed("r"), sql: "SELECT random()", runs: true },
    { options: step("p", "r"), sql: "SELECT random()", runs: true },
    // What the dead instance had committed is found in the database.
    { options: step("p", "w"), sql: INSERT, runs: false },
  ];
  for (const { options, sql, runs } of calls) {
    const call = { ...options, token: tenant.token, body: { sql } };
    const send = () => other.request("POST", `${tenant.database.path}/query`, call);
    const first = await app.request("POST", `${tenant.database.path}/query`, call);
    assertEquals(first.status, 200, first.text);
    const key = await noteDeath(app, clock);
    assertRefused(await send(), 409, "replay_running");
    clock.turn(15_000);
    assertRefused(await send(), 409, "replay_running");
    clock.turn(15_500);
    const taken = await send();
    assertEquals(taken.status, 200, taken.text);
    assertEquals(replayed(taken).includes("true"), !runs);
    assertEquals(taken.text === first.text, !runs);
    assertEquals((await send()).text, taken.text);
    await app.deps.kv.delete(key);
  }
  assertEquals(await count(tenant), 1);
});

test("a restore whose instance dies before it notes the answer does not undo what was written since", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await using other = secondApp(app);
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const { path } = tenant.database;
  const taken = await app.request("POST", `${path}/snapshots`, {
    token: tenant.token,
    body: { label: "empty" },
  });
  assertEquals(taken.status, 201, taken.text);
  await tenant.query(INSERT);
  const call = step("p", "1", { token: tenant.token, body: { snapshot: "empty" } });
  const first = await app.request("POST", `${path}/restore`, call);
  assertEquals([first.status, await count(tenant)], [200, 0], first.text);
  await tenant.query(INSERT);
  await noteDeath(app, clock);
  clock.turn(LONG_MS);
  for (let round = 0; round < 2; round++) {
    assertReplay(first, await other.request("POST", `${path}/restore`, call), "plan-replayed");
    assertEquals(await count(tenant), 1);
  }
  // Nor may another call have the step.
  await noteDeath(app, clock);
  clock.turn(LONG_MS);
  const another = { ...call, body: { snapshot: "another" } };
  assertRefused(await other.request("POST", `${path}/restore`, another), 422, "replay_mismatch");
  const next = await app.request("POST", `${path}/restore`, {
    ...step("p", "2"),
    token: tenant.token,
    body: { snapshot: "empty" },
  });
  assertEquals([next.status, replayed(next), await count(tenant)], [200, [null, null], 0], next.text);
});

test("a merge whose instance dies before it notes the answer does not undo what was written since", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await using other = secondApp(app);
  const tenant = await app.namespace();
  const { token, database: { path } } = tenant;
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INSERT INTO t VALUES (1, 'x'), (2, 2.0)");
  const ask = (at: string, sql: string) => app.request("POST", `${at}/query`, { token, body: { sql } });
  const rows = async () => rowsOf(await tenant.query("SELECT id, a FROM t ORDER BY id"));
  for (const [ref, onConflict] of [["a", "theirs"], ["b", "ours"], ["c", "abort"]] as const) {
    const body = { purpose: "test", ref };
    assertEquals((await app.request("POST", `${path}/claim_branch`, { token, body })).status, 201);
    await ask(`${path}@${ref}`, `UPDATE t SET a = 3.0 WHERE id = 1`);
    await ask(`${path}@${ref}`, `INSERT INTO t VALUES (9, 9007199254740993)`);
    const call = step("p", ref, { token, body: { mode: "data", onConflict } });
    const first = await app.request("POST", `${path}/branches/${ref}/merge`, call);
    assertEquals(first.status, 200, first.text);
    await tenant.query("UPDATE t SET a = 'later' WHERE id = 1");
    await tenant.query("DELETE FROM t WHERE id = 9");
    const written = await rows();
    await noteDeath(app, clock);
    clock.turn(LONG_MS);
    // Also once its branch is gone.
    await app.request("DELETE", `${path}/branches/${ref}`, { token });
    for (let round = 0; round < 2; round++) {
      assertReplay(
        first,
        await other.request("POST", `${path}/branches/${ref}/merge`, call),
        "plan-replayed",
      );
      assertEquals(await rows(), written);
    }
    for (const { key } of await records(app, 1)) await app.deps.kv.delete(key);
  }
});

test("a branch that is copied anew by an instance which dies before it notes the answer keeps what was written since", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await using other = secondApp(app);
  const tenant = await app.namespace();
  const { token, database: { path } } = tenant;
  await tenant.setup("CREATE TABLE t (a)");
  const claim = { purpose: "test", ref: "b" };
  assertEquals((await app.request("POST", `${path}/claim_branch`, { token, body: claim })).status, 201);
  for (const [at, options] of [["branches/b/reset", {}], ["claim_branch", { body: claim }]] as const) {
    const call = step("p", at, { token, ...options });
    // The storage of the former copy is dropped when the ref names the new one.
    other.onDrop = () => {
      other.down = true;
    };
    const first = await other.request("POST", `${path}/${at}`, call);
    assert(other.down, "the branch has not been copied");
    clock.turn(LONG_MS);
    const body = { sql: INSERT };
    assertEquals((await app.request("POST", `${path}@b/query`, { token, body })).status, 200);
    for (let round = 0; round < 2; round++) {
      assertReplay(first, await app.request("POST", `${path}/${at}`, call), "plan-replayed");
      const rows = await app.request("POST", `${path}@b/query`, {
        token: dataOf<{ readonly token?: string }>(first).token ?? token,
        body: { sql: "SELECT count(*) FROM t" },
      });
      assertEquals(rowsOf(rows), [[1]]);
    }
    other.down = false;
  }
});

test("while KV is away calls go on from the reserved block or get 429, none gets 500, none runs twice", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const send = (sql: string, options = {}) =>
    other.request("POST", `${tenant.database.path}/query`, {
      ...options,
      token: tenant.token,
      body: { sql },
    });
  // Reserves a block, and keeps the token, the database and its rules in the caches.
  assertEquals((await send("DELETE FROM t WHERE a = 'none'")).status, 200);
  const kept = await send("SELECT random()", keyed("kept"));
  other.down = true;
  const plain = await Promise.all([send("SELECT 1"), send(INSERT), send("SELECT count(*) FROM t")]);
  assertEquals(plain.map(({ status }) => status), [200, 200, 200]);
  const keys = [keyed("w"), step("p", "1"), keyed("k", step("p", "2")), keyed("r"), keyed("kept")];
  let ran = 1;
  for (const [at, options] of keys.entries()) {
    const answer = await send(at < 3 ? INSERT : "SELECT random()", options);
    // A keyed write may go on: its answer is kept in its own transaction.
    if (at === 0 && answer.status === 200) ran++;
    else {
      assertRefused(answer, 429, "meter_unreachable");
      assertEquals(answer.headers.get("retry-after"), "2");
    }
  }
  const tables = await other.request(
    "GET",
    `${tenant.database.path}/tables`,
    step("p", "3", { token: tenant.token }),
  );
  assertRefused(tables, 429, "meter_unreachable");
  assertEquals(await count(tenant), ran);
  other.down = false;
  assertReplay(kept, await send("SELECT random()", keyed("kept")));
  const written = await send(INSERT, keyed("w"));
  assertEquals([written.status, (await send(INSERT, keyed("w"))).text], [200, written.text]);
  assertReplay(await send(INSERT, step("p", "1")), await send(INSERT, step("p", "1")), "plan-replayed");
  assertEquals(await count(tenant), 3);
});

test("KV that goes away while a keyed call runs neither hides its answer nor lets it run twice", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  await other.request("POST", `${tenant.database.path}/query`, {
    token: tenant.token,
    body: { sql: "SELECT 1" },
  });
  const write = "INSERT INTO t VALUES (1)";
  const read = "SELECT 1";
  const failing = "SELECT abs(-9223372036854775807 - 1)";
  const cases = [
    { options: step("p", "w"), sql: write, status: 200 },
    { options: step("p", "r"), sql: read, status: 200 },
    { options: keyed("r"), sql: read, status: 200 },
    { options: keyed("f"), sql: failing, status: 400 },
    { options: step("p", "f"), sql: failing, status: 400 },
  ];
  for (const [at, { options, sql, status }] of cases.entries()) {
    await whileUnreachable(() =>
      other.request("POST", `${tenant.database.path}/query`, {
        token: tenant.token,
        body: { sql: "SELECT 1" },
      })
    );
    const call = { ...options, token: tenant.token, body: { sql } };
    other.onRun = () => {
      other.down = true;
    };
    const answer = await other.request("POST", `${tenant.database.path}/query`, call);
    assert(other.down, "the call has not run");
    other.down = false;
    other.onRun = () => {};
    assertEquals(answer.status, status, `${sql}: ${answer.text}`);
    // What the call had claimed before stays, for nobody could be told that it is over.
    await records(app, at + 1);
  }
  assertEquals(await count(tenant), 1);
});
