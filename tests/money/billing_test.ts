// What calls cost, where it stands, and what is free.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import type { Admission } from "../../lib/control/balance/spending_account.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { begunFrames, untilEngineRuns } from "../testing/engine_children.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { money, nano, usage } from "./money_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what calls cost, where it stands, and what is free", run);

const REQUEST = 500;
const READ = 5;
const WRITTEN = 2000;

test("a join that ends at once is not paid as if it had read every row with every other one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)",
    "INSERT INTO t WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000) SELECT x, x FROM n",
  );
  for (const count of [4, 6, 60]) {
    const tables = Array.from({ length: count }, (_, at) => `t AS t${at}`).join(" JOIN ");
    const joined = await tenant.query(`SELECT count(*) FROM ${tables} WHERE t0.id < 0`);
    assertEquals([joined.status, rowsOf(joined)], [200, [[0]]], joined.text);
    // The product of four tables is 3 x 10^11; of sixty of them the account could not be kept.
    assert((joined.body.meta?.rowsRead ?? Infinity) < 1e9, joined.text);
  }
  assertEquals((await tenant.query("SELECT 1")).status, 200);
  await app.deps.query.meter.close();
  const { balance, used, writtenOff } = await money(app, tenant);
  assertEquals([balance + used, writtenOff], [5e9, 0]);
});

test("what every call says it cost adds up to the usage and to what left the balance", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const other = await tenant.createDatabase("other");
  const answers: ApiAnswer[] = [
    await tenant.query("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)"),
    await tenant.query("INSERT INTO t (a) VALUES ('x'), ('y'), ('z')"),
    await tenant.query("SELECT * FROM t"),
    await tenant.batch([["SELECT 1"], ["INSERT INTO t (a) VALUES ('p')"], ["DELETE FROM t WHERE a = 'x'"]]),
    await tenant.query("UPDATE t SET a = 'u'"),
  ];
  const elsewhere = await app.request("POST", `${other.path}/query`, {
    token: tenant.token,
    body: { sql: "SELECT 1" },
  });
  for (const { status, body, text } of [...answers, elsewhere]) {
    assertEquals(status, 200, text);
    const { rowsRead = 0, rowsWritten = 0, costUsd } = body.meta ?? {};
    assertEquals(nano(costUsd), REQUEST + READ * rowsRead + WRITTEN * rowsWritten);
  }
  const cost = answers.reduce((sum, { body }) => sum + nano(body.meta?.costUsd), 0);
  await app.deps.query.meter.close();
  const all = cost + nano(elsewhere.body.meta?.costUsd);
  assertEquals(await money(app, tenant), {
    balance: 5e9 - all,
    reserved: 0,
    used: all,
    credited: 5e9,
    writtenOff: 0,
  });
  for (const by of ["", "by=hour", "by=day"]) {
    const sums = await usage(app, tenant, by);
    assertEquals([sums.size, sums.get(other.id)?.requests, sums.get(other.id)?.cost], [
      2,
      1,
      nano(elsewhere.body.meta?.costUsd),
    ]);
    assertEquals(sums.get(tenant.database.id), {
      requests: answers.length,
      rowsRead: answers.reduce((sum, { body }) => sum + (body.meta?.rowsRead ?? 0), 0),
      rowsWritten: answers.reduce((sum, { body }) => sum + (body.meta?.rowsWritten ?? 0), 0),
      cost,
    });
  }
});

test("the query log adds up to the usage, also of calls that were undone, and says why they were", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
  await tenant.query("INSERT INTO t (a) VALUES (1), (2), (3)");
  await tenant.query("SELECT * FROM t");
  const bounded = { headers: { "x-max-affected": "2" } };
  await tenant.query("UPDATE t SET a = 0", [], bounded);
  await tenant.batch([["DELETE FROM t WHERE id = 1"], ["DELETE FROM t WHERE id > 1"]], bounded);
  const [kept, clash] = [["INSERT INTO t VALUES (4, 4)"], ["INSERT INTO t VALUES (1, 1)"]] as const;
  await tenant.batch([kept, clash], { transaction: true });
  await tenant.batch([kept, clash]);
  const log = await tenant.query(
    "SELECT error_kind, rows_written, rows_read FROM _service_meta_query_log ORDER BY id",
  );
  const entries = rowsOf(log);
  assertEquals(entries.slice(-4).map(([kind, written]) => [kind, written]), [
    ["too_many_affected", 3],
    ["too_many_affected", 3],
    ["unique_violation", 1],
    ["unique_violation", 1],
  ]);
  const audit = await tenant.query("SELECT rows_written FROM _service_meta_audit ORDER BY id");
  assertEquals(rowsOf(audit).slice(1), [[3], [1]]);
  await app.deps.query.meter.close();
  const sums = (await usage(app, tenant)).get(tenant.database.id);
  const sumOf = (at: number) => entries.reduce((sum, entry) => sum + Number(entry[at]), 0);
  const own = [log, audit].reduce((sum, { body }) => sum + (body.meta?.rowsRead ?? 0), 0);
  assertEquals([sums?.rowsWritten, sums?.rowsRead], [sumOf(1), sumOf(2) + own]);
});

test("a call whose caller hangs up before its end is paid and logged as one that failed, and nothing of it stays", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (n INTEGER)");
  const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";
  for (const sql of [`${endless} SELECT count(*) FROM c`, `INSERT INTO t ${endless} SELECT x FROM c`]) {
    const gone = new AbortController();
    const before = await begunFrames(app.deps.config.dataDir);
    const running = tenant.query(sql, [], { signal: gone.signal }).catch(() => null);
    // Elsewhere nobody outside can tell.
    if (isEmbedded()) await untilEngineRuns(app.deps.config.dataDir, () => false, before);
    else await pause(300);
    gone.abort();
    await running;
  }
  const log = await tenant.query(
    "SELECT status, error_kind, rows_written, duration_ms > 0 FROM _service_meta_query_log ORDER BY id",
  );
  assertEquals(rowsOf(log).slice(1), [["error", "cancelled", 0, 1], ["error", "cancelled", 0, 1]]);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
  await app.deps.query.meter.close();
  assertEquals((await usage(app, tenant)).get(tenant.database.id)?.requests, 5);
});

test("a write whose caller hangs up while a rule has it previewed is paid and logged as one that failed", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)");
  const body = { tableGlob: "t", actions: ["update"], effect: "require_approval" };
  const rules = `/api/namespaces/${tenant.slug}/databases/main/rules`;
  assertEquals((await app.request("POST", rules, { token: tenant.token, body })).status, 201);
  const gone = new AbortController();
  const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
  const running = tenant.query(`UPDATE t SET n = (${endless})`, [], { signal: gone.signal }).catch(() =>
    null
  );
  await pause(1000);
  gone.abort();
  await running;
  const log = await tenant.query(
    "SELECT status, error_kind, duration_ms > 0 FROM _service_meta_query_log ORDER BY id",
  );
  assertEquals(rowsOf(log).slice(2), [["error", "cancelled", 1]]);
  await app.deps.query.meter.close();
  assertEquals((await usage(app, tenant)).get(tenant.database.id)?.requests, 4);
});

test("a statement in a transaction whose caller hangs up before its end is paid and logged as one that failed", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const gone = new AbortController();
  const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
  const requests = ["BEGIN", endless].map((sql) => ({ type: "execute", stmt: { sql } }));
  const running = app.request("POST", "/hrana/acme/main/v2/pipeline", {
    token: tenant.token,
    body: { requests },
    signal: gone.signal,
  }).catch(() => null);
  // Transactions have children of their own, and elsewhere nobody outside can tell.
  await pause(1000);
  gone.abort();
  await running;
  const log = await tenant.query("SELECT status, error_kind, duration_ms > 0 FROM _service_meta_query_log");
  assertEquals(rowsOf(log), [["error", "cancelled", 1]]);
  await app.deps.query.meter.close();
  assertEquals((await usage(app, tenant)).get(tenant.database.id)?.requests, 2);
});

test("the query log has what the preview of a stopped write has read, and adds up to the usage", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
  const rows = "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c LIMIT 2000)";
  await tenant.query(`INSERT INTO t ${rows} SELECT x, x FROM c`);
  const rules = `/api/namespaces/${tenant.slug}/databases/main/rules`;
  const rule = async (settings: object) => {
    const body = { tableGlob: "t", ...settings };
    assertEquals((await app.request("POST", rules, { token: tenant.token, body })).status, 201);
  };
  await rule({ actions: ["delete"], effect: "require_approval" });
  await rule({ actions: ["update"], effect: "deny", minRows: 100 });
  await rule({ actions: ["insert"], effect: "deny" });
  const stopped = [
    await tenant.query("DELETE FROM t WHERE a % 2 = 0"),
    await tenant.query("UPDATE t SET a = 0 WHERE a % 2 = 0"),
    await tenant.batch([["DELETE FROM t WHERE a = 1"], ["DELETE FROM t WHERE a = 2"]], { transaction: true }),
    await tenant.query("INSERT INTO t VALUES (0, 0)"),
  ];
  assertEquals(stopped.map(({ status }) => status), [403, 403, 403, 403]);
  const log = await tenant.query(
    "SELECT error_kind, rows_written, rows_read, duration_ms FROM _service_meta_query_log ORDER BY id",
  );
  const entries = rowsOf(log);
  const figures = entries.slice(-4).map(([kind, written, read, ms]) => [
    kind,
    written,
    Number(read) >= 2000,
    Number(ms) > 0,
  ]);
  assertEquals(figures, [
    ["approval_required", 0, true, true],
    ["rule_denied", 0, true, true],
    ["approval_required", 0, true, true],
    ["rule_denied", 0, false, false],
  ]);
  await app.deps.query.meter.close();
  const sums = (await usage(app, tenant)).get(tenant.database.id);
  const read = entries.reduce((sum, entry) => sum + Number(entry[2]), log.body.meta?.rowsRead ?? 0);
  assertEquals(sums?.rowsRead, read);
});

test("many calls at once are all paid, to the last nano-dollar", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const answers = await Promise.all(
    Array.from(
      { length: 300 },
      (_, at) =>
        at % 3 === 0
          ? tenant.query("INSERT INTO t VALUES (?)", [at])
          : tenant.query("SELECT count(*) FROM t WHERE a > ?", [at]),
    ),
  );
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([200]));
  const cost = answers.reduce((sum, { body }) => sum + nano(body.meta?.costUsd), 0);
  await app.deps.query.meter.close();
  const { used } = await money(app, tenant);
  const sums = await usage(app, tenant, "by=hour");
  assertEquals([sums.get(tenant.database.id)?.requests, sums.get(tenant.database.id)?.cost], [301, used]);
  assert(used > cost && used - cost < 20 * WRITTEN, `${used - cost}`); // the CREATE TABLE
});

test("control-plane calls, tables, the query log and refused statements are free", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { token } = await tenant.mint("read");
  await tenant.setup("CREATE TABLE t (a)");
  await app.deps.query.meter.tick();
  const before = (await money(app, tenant)).used;
  assert(before > 0);
  for (const path of ["tables", "query_log"]) {
    assertEquals(
      (await app.request("GET", `${tenant.database.path}/${path}`, { token: tenant.token })).status,
      200,
    );
  }
  for (const path of ["databases", "tokens", "balance", "usage", ""]) {
    const url = `/api/namespaces/${tenant.slug}${path === "" ? "" : "/"}${path}`;
    assertEquals((await app.request("GET", url, { token: app.operatorKey })).status, 200);
  }
  assertEquals((await app.request("GET", "/v1/me", { token })).status, 200);
  const refused = [
    () => tenant.query("INSERT INTO t VALUES (1)", [], { token }),
    () => tenant.query("DROP TABLE t", [], { token }),
    () => tenant.query("ATTACH ':memory:' AS x"),
    () => tenant.query("SELECT * FROM _service_meta_replay"),
    () => tenant.batch([["SELECT 1"], ["INSERT INTO t VALUES (1)"]], { token }),
  ];
  for (const call of refused) assertEquals((await call()).status, 403);
  for (const body of ["{", { sql: 1 }, {}]) {
    const invalid = await app.request("POST", `${tenant.database.path}/query`, { token: tenant.token, body });
    assertEquals(invalid.status, 400);
  }
  await app.deps.query.meter.tick();
  assertEquals((await money(app, tenant)).used, before);
});

test("a failed statement bills the request and what the statements before it did", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a INTEGER UNIQUE)");
  await tenant.query("INSERT INTO t VALUES (1), (2), (3)");
  const costOf = async (call: () => Promise<ApiAnswer>) => {
    await app.deps.query.meter.tick();
    const { used } = await money(app, tenant);
    const answer = await call();
    assertEquals(answer.status, 400, answer.text);
    await app.deps.query.meter.tick();
    return (await money(app, tenant)).used - used;
  };
  assertEquals(await costOf(() => tenant.query("SELEC 1")), REQUEST);
  assertEquals(await costOf(() => tenant.query("SELECT * FROM nowhere")), REQUEST);
  await tenant.setup(
    "CREATE TABLE refers (a REFERENCES t (a))",
    "CREATE TABLE noted (a)",
    "CREATE TRIGGER notes AFTER INSERT ON refers BEGIN INSERT INTO noted VALUES (new.a); END",
  );
  // What it had changed up to its failure is no part of the price: engines do not count it alike.
  const failing = [
    "INSERT INTO t VALUES (1)",
    "INSERT INTO refers VALUES (77)",
    "UPDATE OR FAIL t SET a = 9",
  ];
  for (const sql of failing) assertEquals(await costOf(() => tenant.query(sql)), REQUEST, sql);
  const inOrder = "SELECT rows_written FROM _service_meta_query_log WHERE status = 'error' AND sql = ?";
  for (const sql of failing) assertEquals(rowsOf(await tenant.query(inOrder, [sql])), [[0]], sql);
  const sets = { sql: "INSERT INTO refers VALUES (?)", paramSets: [[1], [77]], transaction: true };
  const path = `${tenant.database.path}/batch`;
  const ofSets = await costOf(() => app.request("POST", path, { token: tenant.token, body: sets }));
  assert(ofSets >= REQUEST + 2 * WRITTEN && ofSets < REQUEST + 3 * WRITTEN, `${ofSets}`);
  const partly = await costOf(() =>
    tenant.batch([["INSERT INTO t VALUES (10), (11)"], ["SELECT * FROM nowhere"]])
  );
  assert(partly >= REQUEST + 2 * WRITTEN, `${partly}`);
});

test("whatever becomes of a call, its leave to spend ends with it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { meter } = app.deps.query;
  const admissions: Admission[] = [];
  const admit = meter.admit.bind(meter);
  meter.admit = (namespaceId, reads) => {
    const admitted = admit(namespaceId, reads);
    const note = (admission: Admission) => {
      admissions.push(admission);
      return admission;
    };
    return admitted instanceof Promise ? admitted.then(note) : note(admitted);
  };
  for (const table of ["t", "held", "denied"]) {
    await tenant.query(`CREATE TABLE ${table} (a INTEGER PRIMARY KEY)`);
  }
  const rules = `/api/namespaces/${tenant.slug}/databases/main/rules`;
  for (const [tableGlob, effect] of [["held", "require_approval"], ["denied", "deny"]]) {
    const body = { tableGlob, effect, minRows: 1 };
    assertEquals((await app.request("POST", rules, { token: tenant.token, body })).status, 201);
  }
  const keyed = { headers: { "idempotency-key": "k" } };
  const { open } = app.deps.tenants;
  const answers = [
    await tenant.query("INSERT INTO t VALUES (1)", [], keyed),
    // Found in its own transaction, when it has its leave already.
    await tenant.query("INSERT INTO t VALUES (1)", [], keyed),
    await tenant.query("INSERT INTO t VALUES (1)"),
    await tenant.query("SELECT a FROM t"),
    await tenant.query("SELECT b FROM t"),
    await tenant.query("DELETE FROM t", [], { headers: { "x-dry-run": "1" } }),
    await tenant.query("DELETE FROM t", [], { headers: { "x-max-affected": "0" } }),
    await tenant.query("INSERT INTO held VALUES (1)"),
    await tenant.query("INSERT INTO denied VALUES (1)"),
    await tenant.query("DELETE FROM held"),
  ];
  let refusal: "database_busy" | "store_unavailable" = "database_busy";
  app.deps.tenants.open = (...of) => {
    const database = open.apply(app.deps.tenants, of);
    return new Proxy(database, {
      get: (target, name) => {
        if (name === "run") return () => Promise.reject(new AppError(refusal));
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
  const before = await usage(app, tenant);
  answers.push(await tenant.query("SELECT a FROM t"));
  refusal = "store_unavailable";
  answers.push(await tenant.query("SELECT a FROM t"));
  Reflect.deleteProperty(app.deps.tenants, "open");
  // Nothing has run, and whoever asked still waits: that is neither paid nor logged.
  assertEquals(await usage(app, tenant), before);
  const cancelled = "SELECT count(*) FROM _service_meta_query_log WHERE error_kind = 'cancelled'";
  assertEquals(rowsOf(await tenant.query(cancelled)), [[0]]);
  const { path } = tenant.database;
  const asked = { token: tenant.token, body: { purpose: "a test", ref: "copy" } };
  assertEquals((await app.request("POST", `${path}/claim_branch`, asked)).status, 201);
  app.deps.tenants.branches.diff = () => Promise.reject(new AppError("database_busy"));
  answers.push(await app.request("GET", `${path}/branches/copy/diff`, { token: tenant.token }));
  Reflect.deleteProperty(app.deps.tenants.branches, "diff");
  const statuses = [200, 200, 400, 200, 400, 200, 400, 403, 403, 200, 503, 503, 503];
  assertEquals(answers.map(({ status }) => status), statuses);
  assertEquals(admissions.length >= answers.length, true);
  assertEquals(admissions.filter(({ open }) => open), []);
});

test("usage is kept by hour and by day, and asked for by time", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const hour = 3_600_000;
  const startedMs = clock.now();
  for (let round = 0; round < 3; round++) {
    assertEquals((await tenant.query("SELECT 1")).status, 200);
    await app.deps.query.meter.tick();
    clock.turn(25 * hour);
    // A block whose lease is over by then comes back.
    await app.deps.query.meter.tick();
  }
  const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
  const requests = async (query: string) =>
    [...(await usage(app, tenant, query)).values()].reduce((sum, row) => sum + row.requests, 0);
  assertEquals(await requests(""), 3);
  assertEquals(await requests(`by=hour&from=${iso(startedMs)}`), 3);
  assertEquals(await requests(`by=hour&from=${iso(startedMs)}&to=${iso(startedMs + 2 * hour)}`), 1);
  assertEquals(await requests(`by=day&from=${iso(startedMs + 50 * hour)}`), 1);
  // The day that a time is in counts from its midnight on.
  const lastDayMs = Math.floor((startedMs + 50 * hour) / (24 * hour)) * 24 * hour;
  assertEquals(await requests(`by=day&from=${iso(lastDayMs + 24 * hour - 1)}`), 1);
  assertEquals(await requests(`by=day&from=${iso(lastDayMs + 24 * hour)}`), 0);
  for (const by of ["hour", "day"]) {
    for (const range of [`from=${iso(startedMs + hour)}&to=${iso(startedMs)}`, "from=2999-01-01T00:00:00Z"]) {
      assertEquals((await usage(app, tenant, `by=${by}&${range}`)).size, 0, range);
    }
  }
  for (const query of ["by=week", "from=yesterday", "x=1"]) {
    const { status } = await app.request("GET", `/api/namespaces/${tenant.slug}/usage?${query}`, {
      token: tenant.token,
    });
    assertEquals(status, 400, query);
  }
});

test("usage comes in pages that add up to all of it", async () => {
  const clock = new TurnableClock();
  const day = 86_400_000;
  // An hour and a half before midnight.
  clock.turn(day - (clock.now() + day / 16) % day);
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const others = await Promise.all(["a", "b"].map((slug) => tenant.createDatabase(slug)));
  for (let round = 0; round < 3; round++) {
    for (const { path } of [tenant.database, ...others]) {
      const body = { sql: "SELECT 1" };
      assertEquals((await app.request("POST", `${path}/query`, { token: tenant.token, body })).status, 200);
    }
    await app.deps.query.meter.tick();
    clock.turn(3_600_000);
    await app.deps.query.meter.tick();
  }
  const ask = async (query: string) => {
    const { status, body } = await app.request("GET", `/api/namespaces/${tenant.slug}/usage?${query}`, {
      token: tenant.token,
    });
    const rows = (body.data ?? []) as { readonly databaseId: string }[];
    return { status, rows, nextCursor: body.meta?.nextCursor };
  };
  for (const [by, count] of [["hour", 9], ["day", 6]] as const) {
    const whole = await ask(`by=${by}`);
    assertEquals([whole.rows.length, whole.nextCursor], [count, null]);
    for (const pageSize of [1, 2, 3, count, count + 1]) {
      const rows: unknown[] = [];
      let cursor: string | null | undefined = "";
      let pages = 0;
      for (; typeof cursor === "string"; pages++) {
        const answer = await ask(`by=${by}&pageSize=${pageSize}${cursor && `&cursor=${cursor}`}`);
        rows.push(...answer.rows);
        cursor = answer.nextCursor;
      }
      assertEquals(rows, whole.rows);
      assertEquals(pages, Math.ceil(count / pageSize));
    }
    // Of one database by its slug, in pages too.
    const own = whole.rows.filter(({ databaseId }) => databaseId === others[0]?.id);
    assertEquals((await ask(`by=${by}&database=a`)).rows, own);
    const begun = await ask(`by=${by}&database=a&pageSize=1`);
    const rest = await ask(`by=${by}&database=a&pageSize=10&cursor=${begun.nextCursor}`);
    assertEquals([...begun.rows, ...rest.rows], own);
  }
  // Weeks without a call lie between two, and years behind the last.
  const from = new Date(clock.now() - day).toISOString();
  clock.turn(20 * day);
  const body = { sql: "SELECT 1" };
  for (const { path } of others) await app.request("POST", `${path}/query`, { token: tenant.token, body });
  await app.deps.query.meter.tick();
  for (const by of ["hour", "day"]) {
    const range = `by=${by}&from=${from}&to=2200-01-01T00:00:00Z`;
    const own = (await ask(range)).rows.filter(({ databaseId }) => databaseId === others[0]?.id);
    assertEquals((await ask(`${range}&database=a`)).rows, own);
    assertEquals(own.length, by === "hour" ? 4 : 3);
  }
  for (
    const query of [
      "pageSize=0",
      "pageSize=10001",
      "cursor=",
      "cursor=db_1",
      "cursor=1.",
      "pageSize=1&cursor=x.y",
    ]
  ) {
    assertEquals((await ask(query)).status, 400, query);
  }
});

test("a PRAGMA that checks the rows bills those that it goes through, where they are estimated", async () => {
  if (!isEmbedded()) return;
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE parents (id INTEGER PRIMARY KEY)"],
    ["CREATE TABLE kids (parent REFERENCES parents(id))"],
    ["INSERT INTO parents WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 300) SELECT n FROM c"],
    ["INSERT INTO kids SELECT id FROM parents WHERE id <= 100"],
  ]);
  const read = async (sql: string) => {
    const { status, body, text } = await tenant.query(sql);
    assertEquals(status, 200, text);
    return body.meta?.rowsRead ?? 0;
  };
  for (
    const [sql, rows] of [
      ["PRAGMA integrity_check", 400],
      ["PRAGMA quick_check(parents)", 300],
      ["PRAGMA foreign_key_check", 200],
    ] as const
  ) {
    const counted = await read(sql);
    assert(counted >= rows && counted <= rows + 100, `${sql}: ${counted}`);
  }
  assertEquals(await read("PRAGMA table_info(kids)"), 0);
});
