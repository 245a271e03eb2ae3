// GET /tables: what a user has made, with exact counts.
import { assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";

const { run, test } = oneStore();
Deno.test("tables", run);

test("tables lists user tables with exact counts, no views, shadow tables or service tables", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const made = await tenant.batch([
    ["CREATE TABLE b (a)"],
    ['CREATE TABLE "odd ""name"" ☃" (a)'],
    ["CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT)"],
    ["CREATE VIEW v AS SELECT * FROM b"],
    ["CREATE VIRTUAL TABLE f USING fts5(x)"],
    ["CREATE TABLE wr (k PRIMARY KEY) WITHOUT ROWID"],
    ["INSERT INTO b VALUES (1), (2), (3)"],
    ["INSERT INTO auto DEFAULT VALUES"],
    ["INSERT INTO f VALUES ('hello'), ('world')"],
    ["DELETE FROM b WHERE a = 2"],
    ...isEmbedded() ? [["ANALYZE"] as const] : [],
  ]);
  assertEquals(made.status, 200, made.text);
  const { token } = await tenant.mint("read");
  const answer = await app.request("GET", `${tenant.database.path}/tables`, { token });
  assertEquals([answer.status, answer.body.success], [200, true]);
  const tables = answer.body.data as { name: string; rowCount: number }[];
  assertEquals(tables.toSorted((a, b) => a.name < b.name ? -1 : 1), [
    { name: "auto", rowCount: 1 },
    { name: "b", rowCount: 2 },
    { name: "f", rowCount: 2 },
    { name: 'odd "name" ☃', rowCount: 0 },
    { name: "wr", rowCount: 0 },
  ]);
});

test("tables of an empty database is an empty list", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  const answer = await app.request("GET", `${database.path}/tables`, { token });
  assertEquals([answer.status, answer.body.data], [200, []]);
});

test("tables counts 250 of them", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (let start = 0; start < 250; start += 50) {
    const statements = Array.from({ length: 50 }, (_, at) => [`CREATE TABLE t${start + at} (a)`] as const);
    assertEquals((await tenant.batch(statements, { transaction: true })).status, 200);
  }
  await tenant.query("INSERT INTO t249 VALUES (1)");
  const answer = await app.request("GET", `${tenant.database.path}/tables`, { token: tenant.token });
  const tables = answer.body.data as { name: string; rowCount: number }[];
  assertEquals([answer.status, tables.length], [200, 250]);
  assertEquals(tables.filter(({ rowCount }) => rowCount > 0), [{ name: "t249", rowCount: 1 }]);
});

test("a check of the database finds no full-text table damaged that calls have written since the last check", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE VIRTUAL TABLE f USING fts5(x)");
  for (
    const check of ["PRAGMA integrity_check", "pragma QUICK_CHECK(5)", "SELECT * FROM pragma_integrity_check"]
  ) {
    for (let at = 0; at < 3; at++) {
      assertEquals(rowsOf(await tenant.query(check)), [["ok"]], check);
      assertEquals((await tenant.query("INSERT INTO f VALUES ('one two')")).status, 200);
    }
  }
});

test("the numbers of AUTOINCREMENT can be read behind the drop of the last table that had them", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query("CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT)");
  await tenant.query("INSERT INTO auto DEFAULT VALUES");
  assertEquals(rowsOf(await tenant.query("SELECT name, seq FROM sqlite_sequence")), [["auto", 1]]);
  await tenant.query("DROP TABLE auto");
  assertEquals(rowsOf(await tenant.query("SELECT name, seq FROM sqlite_sequence")), []);
});
