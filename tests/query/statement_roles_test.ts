// Which statements each role may run over HTTP, and which nobody may. The corpus has the long list.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Role } from "../../lib/core/role.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("which statements each role may run over HTTP", run);

const READS = [
  "SELECT * FROM t",
  "EXPLAIN DELETE FROM t",
  "EXPLAIN QUERY PLAN SELECT 1",
  "PRAGMA table_info(t)",
];
const WRITES = [
  "INSERT INTO t VALUES (9)",
  "UPDATE t SET a = 1",
  "DELETE FROM t",
  "REPLACE INTO t VALUES (3)",
  "WITH x AS (SELECT 1) DELETE FROM t WHERE a IN x",
];
const CHANGES = [
  "CREATE TABLE n (a)",
  "ALTER TABLE t ADD COLUMN b",
  "CREATE INDEX t_a ON t (a)",
  "ANALYZE",
  "REINDEX t",
  "PRAGMA user_version = 7",
];
const NOBODY = [
  "ATTACH 'x.db' AS x",
  "DETACH main",
  "VACUUM",
  "VACUUM INTO 'x.db'",
  "BEGIN",
  "COMMIT",
  "SAVEPOINT a",
  "PRAGMA journal_mode",
  "PRAGMA journal_mode = DELETE",
  "PRAGMA writable_schema = 1",
  "EXPLAIN PRAGMA journal_mode",
  "SELECT load_extension('x')",
  "DELETE FROM _service_meta_query_log",
  "UPDATE _service_meta_audit SET token_id = ''",
  "DROP TABLE _service_meta_query_log",
  "DELETE FROM sqlite_schema",
  "SELECT * FROM _service_meta_replay",
  "CREATE TABLE sqlite_mine (a)",
  "CREATE TABLE _service_meta_mine (a)",
  "CREATE TEMP TABLE x (a)",
];

async function ask(tenant: TestNamespace, role: Role): Promise<(sql: string) => Promise<ApiAnswer>> {
  const made = await tenant.batch([["CREATE TABLE t (a)"], ["INSERT INTO t VALUES (1), (2)"]]);
  assertEquals(made.status, 200);
  const { token } = await tenant.mint(role);
  return (sql) => tenant.query(sql, [], { token });
}

test("a read token reads, and every write and change of the schema is 403 role_too_low", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "read");
  for (const sql of READS) assertEquals((await query(sql)).status, 200, sql);
  for (const sql of [...WRITES, ...CHANGES]) {
    const answer = await query(sql);
    assertEquals([answer.status, answer.body.code], [403, "role_too_low"], sql);
  }
  assertEquals(rowsOf(await query("SELECT a FROM t")), [[1], [2]]);
});

test("role_too_low names the role that is needed and the one that is there", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "read");
  assertStringIncludes(
    (await query("DELETE FROM t")).body.error ?? "",
    "role write for this statement; this one has read",
  );
  assertStringIncludes((await query("DROP TABLE t")).body.error ?? "", "role admin");
});

test("a write token writes, and every change of the schema is 403 role_too_low", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "write");
  for (const sql of [...READS, ...WRITES]) assertEquals((await query(sql)).status, 200, sql);
  for (const sql of CHANGES) {
    const answer = await query(sql);
    assertEquals([answer.status, answer.body.code], [403, "role_too_low"], sql);
  }
});

test("an admin token changes the schema", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "admin");
  for (const sql of [...READS, ...WRITES, ...CHANGES]) {
    const { status, body } = await query(sql);
    if (sql !== "ANALYZE" || isEmbedded()) assertEquals(status, 200, sql);
    else assertEquals([status, body.errorDetail?.kind], [400, "unknown"]);
  }
  assertEquals(rowsOf(await query("PRAGMA user_version")), [[7]]);
});

test("what nobody may run is 403 statement_refused for an admin too, in query and batch", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "admin");
  for (const sql of NOBODY) {
    const answer = await query(sql);
    assertEquals([answer.status, answer.body.code], [403, "statement_refused"], sql);
    const batch = await tenant.batch([["INSERT INTO t VALUES (3)"], [sql]]);
    assertEquals([batch.status, batch.body.failedIndex], [403, 1], sql);
  }
  assertEquals(rowsOf(await query("SELECT a FROM t")), [[1], [2]]);
});

test("a trigger or view cannot do for an admin what a statement may not", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "admin");
  for (
    const sql of [
      "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM _service_meta_audit; END",
      "CREATE TRIGGER x AFTER INSERT ON _service_meta_audit BEGIN DELETE FROM t; END",
      "CREATE VIEW v AS SELECT * FROM _service_meta_replay",
    ]
  ) assertEquals((await query(sql)).status, 403, sql);
  const names = rowsOf(await query("SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view')"));
  assertEquals(names, []);
});

test("a reader may read the query log, the audit and the descriptions", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const query = await ask(tenant, "read");
  for (const table of ["query_log", "endpoint_call", "audit", "description"]) {
    const answer = await query(`SELECT count(*) FROM _service_meta_${table}`);
    assertEquals(answer.status, 200, table);
  }
  assert(Number(rowsOf(await query("SELECT count(*) FROM _service_meta_query_log"))[0]?.[0]) > 0);
});
