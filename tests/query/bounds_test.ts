// Bounds of one statement: rows, bytes and time. What passes them is a 400, and the others' work goes on.
import { assert, assertEquals } from "@std/assert";
import { readPatiently } from "./read_patiently.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";
import { ENDLESS } from "../testing/endless.ts";

const { run, test } = oneStore();
Deno.test("bounds", run);

const COUNT = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT ?) SELECT i FROM c";

test("a result above MAX_RESULT_ROWS is result_too_large, one of exactly as many is not", async () => {
  await using app = await startApp({ settings: { MAX_RESULT_ROWS: "50" } });
  const tenant = await app.namespace();
  const full = await tenant.query(COUNT, [50]);
  assertEquals([full.status, rowsOf(full).length], [200, 50]);
  const answer = await tenant.query(COUNT, [51]);
  assertEquals([answer.status, answer.body.code], [400, "result_too_large"]);
  assertEquals(answer.body.errorDetail?.kind, "result_too_large");
});

test("a result above MAX_RESULT_BYTES is result_too_large, whatever makes it large", async () => {
  await using app = await startApp({ settings: { MAX_RESULT_BYTES: "2048" } });
  const tenant = await app.namespace();
  assertEquals((await tenant.query("SELECT hex(zeroblob(900))")).status, 200);
  const large = [
    "SELECT hex(zeroblob(2000))",
    "SELECT zeroblob(2000)",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 1000) SELECT i FROM c",
    // Fewer characters than the bound, more bytes.
    "SELECT replace(hex(zeroblob(500)), '0', '☃')",
  ];
  for (const sql of large) {
    const answer = await tenant.query(sql);
    assertEquals([answer.status, answer.body.code], [400, "result_too_large"], sql);
  }
});

test("a write whose RETURNING is too large is not kept", async () => {
  await using app = await startApp({ settings: { MAX_RESULT_ROWS: "10" } });
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const answer = await tenant.query(
    "INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 11) SELECT i FROM c RETURNING a",
  );
  assertEquals([answer.status, answer.body.code], [400, "result_too_large"]);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});

test("other databases answer while a statement runs that does not end", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const other = await tenant.createDatabase("other");
  const leaving = new AbortController();
  let ended = false;
  const endless = tenant.query(ENDLESS, [], { signal: leaving.signal }).catch(() => null).finally(() =>
    ended = true
  );
  for (let call = 0; call < 5; call++) {
    const answer = await app.request("POST", `${other.path}/query`, {
      token: tenant.token,
      body: { sql: "SELECT ?", params: [call] },
    });
    assertEquals([answer.status, rowsOf(answer)], [200, [[call]]]);
  }
  assert(!ended);
  leaving.abort();
  await endless;
});

test("an endless statement is 400 timeout, and its database answers behind it", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "500" } });
  const tenant = await app.namespace();
  const answer = await tenant.query(ENDLESS);
  assertEquals([answer.status, answer.body.code], [400, "statement_timeout"]);
  assertEquals(answer.body.errorDetail?.kind, "timeout");
  assertEquals(await readPatiently(tenant, "SELECT 1"), [[1]]);
});

test("an endless write keeps nothing, and writes queued behind it are kept", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "3000" } });
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const endless = tenant.query(
    "INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i > 0) " +
      "SELECT count(*) FROM c",
  );
  const queued = await Promise.all(
    Array.from({ length: 10 }, (_, at) => tenant.query("INSERT INTO t VALUES (?)", [at])),
  );
  assertEquals(queued.map(({ status }) => status), Array(10).fill(200));
  assertEquals((await endless).body.code, "statement_timeout");
  assertEquals(rowsOf(await tenant.query("SELECT count(*), sum(a) FROM t")), [[10, 45]]);
});

test("what the service reads for itself is not cut by the bounds of callers' results", async () => {
  await using app = await startApp({ settings: { MAX_RESULT_ROWS: "3", MAX_RESULT_BYTES: "1024" } });
  const tenant = await app.namespace();
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names) {
    const columns = Array.from({ length: 10 }, (_, at) => `a_column_with_a_long_name_${at} TEXT`);
    const made = await tenant.query(`CREATE TABLE ${name} (id INTEGER PRIMARY KEY, ${columns})`);
    assertEquals(made.status, 200, made.text);
  }
  const api = "/api/namespaces/acme/databases/main/endpoints";
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await app.request(method, path, { token: tenant.token, body });
    assertEquals(answer.status, 200, `${path}: ${answer.text}`);
    return JSON.parse(answer.text).data;
  };
  const { path } = tenant.database;
  assertEquals((await send("GET", `${path}/tables`)).length, names.length);
  const page = await send("GET", `${path}/query_log?pageSize=4`);
  assertEquals([page.entries.length, typeof page.nextCursor], [4, "string"]);
  assertEquals((await send("GET", `${path}/describe`)).tables.length, names.length);
  assertEquals((await send("POST", `${api}/scaffold-crud`, { table: "a" })).created.length, 5);
  assertEquals((await tenant.query("SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4")).status, 400);
});
