// Plan-Key and Plan-Step: a plan that is repeated from the start runs only what had not run.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { assertRefused, assertReplay, count, INSERT, keyed, replayed, step, T } from "./keyed.ts";

const { run, test, testOneProcess } = oneStore();
Deno.test("plan", run);

const PLAN = "plan-replayed";

test("a step of a plan runs once: query, batch, DDL, a read, tables and the query log", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const get = (path: string, options: ApiRequest) =>
    app.request("GET", `${tenant.database.path}/${path}`, { token: tenant.token, ...options });
  const plan: ((options: ApiRequest) => Promise<ApiAnswer>)[] = [
    (options) => tenant.query(T, [], options),
    (options) => tenant.query("INSERT INTO t (a) VALUES ('x') RETURNING *", [], options),
    (options) => tenant.batch([["SELECT 1"], ["INSERT INTO t (a) VALUES ('y')"]], options),
    (options) => get("tables", options),
    (options) => get("query_log?pageSize=2", options),
    (options) => tenant.query("SELECT * FROM t", [], options),
    (options) => tenant.query("ALTER TABLE t RENAME TO u", [], options),
  ];
  const first = [];
  for (const [at, run] of plan.entries()) {
    first.push(await run(step("plan", `${at}`)));
    for (let before = 0; before <= at; before++) {
      const answer = first[before];
      if (answer) assertReplay(answer, await plan[before]?.(step("plan", `${before}`)) ?? answer, PLAN);
    }
  }
  assertEquals(await count(tenant, "u"), 2);
});

test("one of the two headers without the other is refused and nothing runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (const [sent, missing] of [["plan-key", "Plan-Step"], ["plan-step", "Plan-Key"]] as const) {
    const calls = [
      () => tenant.query(INSERT, [], { headers: { [sent]: "x" } }),
      () => tenant.query(INSERT, [], keyed("k", { headers: { [sent]: "x" } })),
      () =>
        app.request("GET", `${tenant.database.path}/tables`, {
          token: tenant.token,
          headers: { [sent]: "x" },
        }),
    ];
    for (const call of calls) {
      const answer = await call();
      assertRefused(answer, 400, "validation_failed");
      assertEquals(answer.body.issues?.map(({ path }) => path), [missing]);
    }
  }
  assertEquals(await count(tenant), 0);
});

test("another request under a step is refused: body, operation, query string and database", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const other = await tenant.createDatabase("other");
  const options = step("p", "1", { token: tenant.token });
  const dry = { ...options, headers: { ...options.headers, "x-dry-run": "1" } };
  const body = { sql: "SELECT 1" };
  const first = () => app.request("POST", `${tenant.database.path}/query`, { ...options, body });
  const answer = await first();
  const others = [
    () => app.request("POST", `${tenant.database.path}/query`, { ...options, body: { sql: "SELECT 2" } }),
    () => app.request("POST", `${tenant.database.path}/query`, { ...options, body: { sql: T } }),
    () => app.request("POST", `${tenant.database.path}/batch`, { ...options, body }),
    () => app.request("POST", `${other.path}/query`, { ...options, body }),
    () => app.request("GET", `${tenant.database.path}/tables`, options),
    // A dry run has not done what the step is to do.
    () => app.request("POST", `${tenant.database.path}/query`, { ...dry, body }),
    () => app.request("GET", `${tenant.database.path}/query_log?pageSize=1`, options),
  ];
  for (const call of others) assertRefused(await call(), 422, "replay_mismatch");
  assertReplay(answer, await first(), PLAN);
  const log = (pageSize: number) =>
    app.request("GET", `${tenant.database.path}/query_log?pageSize=${pageSize}`, {
      ...step("p", "log"),
      token: tenant.token,
    });
  assertEquals((await log(1)).status, 200);
  assertRefused(await log(2), 422, "replay_mismatch");
  const write = step("p", "2", { token: tenant.token });
  assertEquals((await tenant.query(T, [], write)).status, 200);
  assertRefused(await tenant.query("SELECT 1", [], write), 422, "replay_mismatch");
  assertRefused(await tenant.query("DROP TABLE t", [], write), 422, "replay_mismatch");
});

test("a step's own repetition gets its answer also while another request comes under that step", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (const [name, sql] of [["read", "SELECT count(*) FROM t"], ["write", INSERT]] as const) {
    const options = step("p", name);
    const first = await tenant.query(sql, [], options);
    for (let round = 0; round < 5; round++) {
      const [other, own, another] = await Promise.all([
        tenant.query("SELECT 2", [], options),
        tenant.query(sql, [], options),
        tenant.query("SELECT 3", [], options),
      ]);
      assertReplay(first, own, PLAN);
      for (const answer of [other, another]) assertRefused(answer, 422, "replay_mismatch");
    }
  }
  assertEquals(await count(tenant), 1);
});

testOneProcess("a request under a step that another one has used in vain runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const [failed, ran] = await Promise.all([
    tenant.query("INSERT INTO nowhere VALUES (1)", [], step("p", "1")),
    tenant.query(INSERT, [], step("p", "1")),
  ]);
  assertRefused(failed, 400, "sql_error");
  assertEquals(ran.status, 200, ran.text);
  assertEquals(await count(tenant), 1);
});

test("a step belongs to its token and its plan", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const { token } = await tenant.mint("write");
  const all = [
    step("p", "1"),
    step("p", "2"),
    step("q", "1"),
    step("p1", "x"),
    step("p", "1x"),
    step("p", "1", { token }),
  ];
  for (const options of all) assertEquals(replayed(await tenant.query(INSERT, [], options)), [null, null]);
  for (const options of all) assertEquals(replayed(await tenant.query(INSERT, [], options)), [null, "true"]);
  assertEquals(await count(tenant), all.length);
});

test("a step that failed is not kept: it may be repaired and run again", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const insert = () => tenant.query(INSERT, [], step("p", "1"));
  assertRefused(await insert(), 400, "sql_error");
  assertRefused(await tenant.query("nonsense", [], step("p", "1")), 400, "sql_error");
  const invalid = { ...step("p", "1", { token: tenant.token }), body: "{" };
  assertRefused(await app.request("POST", `${tenant.database.path}/query`, invalid), 400, "invalid_json");
  await tenant.query(T);
  assertReplay(await insert(), await insert(), PLAN);
  const missing = step("p", "2", { token: tenant.token });
  for (let round = 0; round < 2; round++) {
    assertEquals((await app.request("GET", `${tenant.database.path}/nothing`, missing)).status, 404);
    assertEquals((await app.request("GET", `${tenant.database.path}/tables?x=1`, missing)).status, 400);
  }
  const tables = await app.request("GET", `${tenant.database.path}/tables`, missing);
  assertEquals([tables.status, ...replayed(tables)], [200, null, null]);
});

const HEADERS = { both: [true, true], key: [true, false], plan: [false, true] } as const;
type Sent = keyof typeof HEADERS;
/** Key and plan alone, one after the other, name two calls; every other order joins them in the first or second. */
const ORDERS: readonly (readonly Sent[])[] = [
  ["both", "key", "plan"],
  ["both", "plan", "key"],
  ["key", "both", "plan"],
  ["plan", "both", "key"],
];

function sendWith(tenant: TestNamespace, sent: Sent, sql: string): Promise<ApiAnswer> {
  const [withKey, withPlan] = HEADERS[sent];
  const options = withPlan ? step("p", "1") : {};
  return tenant.query(sql, [], withKey ? keyed("k", options) : options);
}

test("a write runs once whatever order plan and idempotency key, joined once, come in", async () => {
  for (const order of ORDERS) {
    await using app = await startApp();
    const tenant = await app.namespace();
    await tenant.setup("CREATE TABLE t (a)");
    const answers: ApiAnswer[] = [];
    for (const sent of [...order, ...order]) {
      answers.push(await sendWith(tenant, sent, "INSERT INTO t VALUES (1) RETURNING rowid"));
    }
    assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 200]);
    assertEquals([order, new Set(answers.map(({ text }) => text)).size], [order, 1]);
    assertEquals(await count(tenant), 1);
  }
});

test("a read or a change of the schema under both keeps its answer for each of them", async () => {
  for (const sql of ["SELECT random()", "CREATE TABLE made (a)"]) {
    // Behind a step alone, the key is a call of its own: there is nothing that could run twice.
    for (const order of ORDERS.slice(0, 3)) {
      await using app = await startApp();
      const tenant = await app.namespace();
      const texts = new Set<string>();
      for (const sent of [...order, ...order]) texts.add((await sendWith(tenant, sent, sql)).text);
      assertEquals([sql, order, texts.size], [sql, order, 1]);
    }
  }
});

testOneProcess("of many repetitions of a step at once one runs, whichever headers come with it", async () => {
  await using app = await startApp();
  const tenant: TestNamespace = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const options = [step("p", "1"), keyed("k", step("p", "1"))];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => tenant.query(INSERT, [], options[at % 2])),
  );
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]));
  assertEquals(new Set(answers.map(({ text }) => text)).size, 1);
  assert(answers.filter((answer) => !replayed(answer).includes("true")).length === 1);
  assertEquals(await count(tenant), 1);
  assertEquals(
    rowsOf(await tenant.query("SELECT count(*) FROM _service_meta_audit WHERE rows_written = 1")),
    [
      [1],
    ],
  );
});
