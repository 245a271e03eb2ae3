// POST /validate: what a statement is and touches, with nothing run and one request billed.
import { assertEquals } from "@std/assert";
import type { ErrorDetail } from "../../lib/core/errors.ts";
import { usage } from "../money/money_world.ts";
import { secondApp } from "../replay/second_app.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("POST /validate", run);

interface Validation {
  readonly ok: boolean;
  readonly class: string | null;
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly role: string | null;
  readonly rowsRead: number | null;
  readonly costUsd: number | null;
  readonly fullScans: readonly string[];
  readonly rule: string | null;
  readonly hits: readonly { readonly table: string; readonly action: string }[];
  readonly parameters?: number;
  readonly error?: string;
  readonly errorDetail?: ErrorDetail;
}

async function validate(app: StartedApp, tenant: TestNamespace, body: unknown): Promise<Validation> {
  const answer = await app.request("POST", `${tenant.database.path}/validate`, { token: tenant.token, body });
  assertEquals([answer.status, answer.body.success], [200, true], answer.text);
  return answer.body.data as Validation;
}

test("validate tells class, tables, columns and role of every kind of statement, and runs none", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([
    ["CREATE TABLE t (a INT, b TEXT)"],
    ["CREATE TABLE log (n INT)"],
    ["CREATE VIEW v AS SELECT a FROM t"],
    ["CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END"],
    ["INSERT INTO t VALUES (1, 'x')"],
  ]);
  const reader = { ...tenant, ...await tenant.mint("read") };
  for (
    const [sql, expected] of [
      ["SELECT a FROM v", { class: "read", tables: ["t", "v"], columns: ["t.a", "v.a"], role: "read" }],
      ["DELETE FROM t", { class: "write", tables: ["t"], columns: [], role: "write" }],
      ["UPDATE t SET b = 'y' WHERE a = 1", {
        class: "write",
        tables: ["t"],
        columns: ["t.a", "t.b"],
        role: "write",
      }],
      ["DROP TABLE log", { class: "schema", tables: ["log"], columns: [], role: "admin" }],
      ["PRAGMA table_list", { class: "read", tables: [], columns: [], role: "read" }],
    ] as const
  ) {
    const { ok, class: kind, tables, columns, role } = await validate(app, reader, { sql });
    assertEquals({ ok, class: kind, tables, columns, role }, { ok: true, ...expected }, sql);
  }
  const insert = await validate(app, reader, { sql: "INSERT INTO t VALUES (?, ?)", params: [1, "z"] });
  assertEquals([insert.ok, insert.class, insert.tables, insert.role], [true, "write", ["log", "t"], "write"]);
  assertEquals(rowsOf(await tenant.query("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM log)")), [[
    1,
    1,
  ]]);
});

test("validate says what is wrong with a statement, as query would", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE customers (name TEXT)");
  const counts: Readonly<Record<string, number>> = {
    ...{ "SELECT * FROM customer": 0, "SELECT nam FROM customers": 0, "SELECT ?": 1 },
    "CREATE TABLE customers (id INT)": 0,
  };
  for (
    const [body, kind] of [
      [{ sql: "SELEC 1" }, "syntax_error"],
      [{ sql: "" }, "syntax_error"],
      [{ sql: "SELECT 1; SELECT 2" }, "syntax_error"],
      [{ sql: "SELECT * FROM customer" }, "unknown_table"],
      [{ sql: "SELECT nam FROM customers" }, "unknown_column"],
      [{ sql: "SELECT ?", params: [] }, "parameter_mismatch"],
      [{ sql: "SELECT ?", params: [1, 2] }, "parameter_mismatch"],
      [{ sql: "SELECT :name" }, "parameter_mismatch"],
      [{ sql: "CREATE TABLE customers (id INT)" }, "unknown"],
    ] as const
  ) {
    const { error, errorDetail, parameters, ...rest } = await validate(app, tenant, body);
    const asked = await app.request("POST", `${tenant.database.path}/query`, { token: tenant.token, body });
    assertEquals(error, asked.body.error, body.sql);
    assertEquals(parameters, counts[body.sql] ?? null, body.sql);
    const unknown = { rowsRead: null, costUsd: null, fullScans: [], rule: null, hits: [] };
    assertEquals(rest, { ok: false, class: null, tables: [], columns: [], role: null, ...unknown }, body.sql);
    assertEquals(errorDetail?.kind, kind, body.sql);
  }
  const { errorDetail } = await validate(app, tenant, { sql: "SELECT * FROM customer" });
  assertEquals([errorDetail?.table, /did you mean customers/.test(errorDetail?.hint ?? "")], [
    "customer",
    true,
  ]);
  const two = await validate(app, tenant, { sql: "SELECT ?, ?2, ?1" });
  assertEquals([two.ok, two.parameters], [true, 2]);
});

test("validate says that nobody may run a refused statement", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const sql of ["VACUUM", "ATTACH 'x' AS y", "PRAGMA journal_mode", "DELETE FROM _service_meta_audit"]) {
    const { ok, class: statementClass, role, error, errorDetail } = await validate(app, tenant, { sql });
    const asked = await app.request("POST", `${tenant.database.path}/query`, {
      token: tenant.token,
      body: { sql },
    });
    assertEquals(error, asked.body.error, sql);
    assertEquals([ok, statementClass, role], [false, "refused", null], sql);
    assertEquals(/is not available to any role$/.test(errorDetail?.hint ?? ""), true, sql);
  }
});

test("validate bills one request and leaves no row in the query log", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await validate(app, tenant, { sql: "SELECT 1" });
  await validate(app, tenant, { sql: "SELEC 1" });
  const log = await app.request("GET", `${tenant.database.path}/query_log`, { token: tenant.token });
  assertEquals(log.body.data, { entries: [], nextCursor: null });
  await app.deps.query.meter.close();
  const sum = (await usage(app, tenant)).get(tenant.database.id);
  assertEquals(sum, { requests: 2, rowsRead: 0, rowsWritten: 0, cost: 1000 });
});

test("validate wants a body of the form of query's", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answer = await app.request("POST", `${tenant.database.path}/validate`, {
    token: tenant.token,
    body: { sql: 1, other: true },
  });
  assertEquals([answer.status, answer.body.issues?.map(({ path }) => path)], [400, ["sql", "other"]]);
});

test("validate knows the schema of now, also where another instance has changed it", async () => {
  await using app = await startApp();
  await using other = secondApp(app);
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const elsewhere = async (sql: string) => {
    const answer = await other.request("POST", `${tenant.database.path}/query`, {
      token: tenant.token,
      body: { sql },
    });
    assertEquals(answer.status, 200, answer.text);
  };
  const seen = async (sql: string) => {
    const { ok, columns, errorDetail } = await validate(app, tenant, { sql });
    return [ok, columns, errorDetail?.kind];
  };
  assertEquals(await seen("SELECT * FROM t"), [true, ["t.a"], undefined]);
  await elsewhere("ALTER TABLE t ADD COLUMN b");
  assertEquals(await seen("SELECT * FROM t"), [true, ["t.a", "t.b"], undefined]);
  await elsewhere("DROP TABLE t");
  assertEquals(await seen("SELECT * FROM t"), [false, [], "unknown_table"]);
  await elsewhere("CREATE TABLE t (c)");
  assertEquals(await seen("SELECT * FROM t"), [true, ["t.c"], undefined]);
});
