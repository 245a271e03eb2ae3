// A database with more tables than a schema in memory is made of at once.
import { assert, assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";

Deno.test("a batch that changes a schema of hundreds of tables is understood as one of a few", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (let first = 0; first < 400; first += 100) {
    const made = await tenant.batch(
      Array.from(
        { length: 100 },
        (_, at) => [`CREATE TABLE t${first + at} (id INTEGER PRIMARY KEY, v TEXT UNIQUE)`],
      ),
      { transaction: true },
    );
    assertEquals(made.status, 200, made.text);
  }
  const changed = await tenant.batch([
    ["ALTER TABLE t7 RENAME TO seventh"],
    ["CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t399(id) ON DELETE CASCADE)"],
    ["INSERT INTO seventh (v) VALUES (?)", "a"],
    ["INSERT INTO t399 (id, v) VALUES (1, ?)", "b"],
    ["INSERT INTO child (parent) VALUES (1)"],
    ["DROP TABLE t200"],
    ["SELECT count(*) FROM seventh JOIN t399"],
  ], { transaction: true });
  assertEquals(changed.status, 200, changed.text);
  const wrong = await tenant.batch([["DROP TABLE t201"], ["SELECT v FROM t201"]], { transaction: true });
  assertEquals([wrong.status, wrong.body.errorDetail?.kind], [400, "unknown_table"], wrong.text);
  const tables = await app.request("GET", `${tenant.database.path}/tables`, { token: tenant.token });
  assert(Array.isArray(tables.body.data), tables.text);
  assertEquals(tables.body.data.length, 400);
});
