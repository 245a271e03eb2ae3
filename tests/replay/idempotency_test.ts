// Idempotency-Key on query and batch: the first call runs, every later one gets its answer.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { assertRefused, assertReplay, count, INSERT, keyed, replayed, T } from "./keyed.ts";

const { run, test } = oneStore();
Deno.test("idempotency", run);

async function twice(run: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  const first = await run();
  const second = await run();
  assertReplay(first, second);
  assertReplay(first, await run());
  return first;
}

test("a keyed insert runs once and its repetitions get the same bytes", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  await twice(() => tenant.query("INSERT INTO t (a) VALUES (?)", ["x"], keyed("k1")));
  await twice(() => tenant.query("INSERT INTO t (a) VALUES ('y') RETURNING id, a", [], keyed("k2")));
  await twice(() => tenant.query("UPDATE t SET a = a || '!'", [], keyed("k3")));
  await twice(() => tenant.query("DELETE FROM t WHERE a = 'y!' RETURNING *", [], keyed("k4")));
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t")), [["x!"]]);
});

test("a keyed read answers what it read first, also when the table is another one by then", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const read = () => tenant.query("SELECT count(*) FROM t", [], keyed("k"));
  const first = await read();
  await tenant.query(INSERT);
  assertReplay(first, await read());
  await tenant.query("DROP TABLE t");
  assertReplay(first, await read());
  assertEquals(rowsOf(first), [[0]]);
});

test("keyed changes of the schema are answered again although they could not run again", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const steps = [
    T,
    "CREATE INDEX t_a ON t(a)",
    "ALTER TABLE t ADD COLUMN b TEXT",
    "ALTER TABLE t RENAME TO u",
    "CREATE VIEW v AS SELECT * FROM u",
    "DROP VIEW v",
    "DROP TABLE u",
  ];
  for (const [at, sql] of steps.entries()) await twice(() => tenant.query(sql, [], keyed(`k${at}`)));
  for (const [at, sql] of steps.entries()) {
    assertEquals(replayed(await tenant.query(sql, [], keyed(`k${at}`))), ["true", null], sql);
  }
  assertEquals(rowsOf(await tenant.query("SELECT name FROM sqlite_schema WHERE name IN ('t', 'u')")), []);
});

test("keyed batches run once: with a transaction and without, with reads and with DDL in them", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const lists: [string, ...unknown[]][][] = [
    [["INSERT INTO t (a) VALUES (?)", "p"], ["INSERT INTO t (a) VALUES ('q') RETURNING *"]],
    [["SELECT 1"], ["INSERT INTO t (a) VALUES ('r')"], ["SELECT a FROM t ORDER BY a"]],
    [["CREATE TABLE u (x)"], ["INSERT INTO u VALUES (1)"], ["SELECT x FROM u"]],
    [["SELECT 1"], ["SELECT count(*) FROM t"]],
  ];
  for (const [at, statements] of lists.entries()) {
    for (const transaction of [true, false]) {
      await twice(() => tenant.batch(statements, { transaction, ...keyed(`k${at}-${transaction}`) }));
      await tenant.batch([["DELETE FROM t"], ["DROP TABLE IF EXISTS u"]]);
    }
  }
  for (const [at, statements] of lists.entries()) {
    const again = await tenant.batch(statements, { transaction: true, ...keyed(`k${at}-true`) });
    assertEquals(replayed(again), ["true", null], again.text);
  }
  assertEquals(await count(tenant), 0);
});

test("a failure is not kept: the statement may be repaired and run under the same key", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const insert = () => tenant.query(INSERT, [], keyed("k"));
  assertRefused(await insert(), 400, "sql_error");
  await tenant.query(T);
  assertReplay(await insert(), await insert());
  assertRefused(await tenant.query(INSERT, [], keyed("k2")), 400, "sql_error");
  assertEquals((await tenant.query("INSERT INTO t (a) VALUES ('z')", [], keyed("k2"))).status, 200);
  const read = (sql: string) => tenant.query(sql, [], keyed("k3"));
  assertRefused(await read("SELECT a FROM nowhere"), 400, "sql_error");
  assertRefused(await read("SELECT abs(-9223372036854775807 - 1)"), 400, "sql_error");
  assertReplay(await read("SELECT a FROM t"), await read("SELECT a FROM t"));
  assertEquals(await count(tenant), 2);
});

test("a batch that stopped at an error is not kept, whether what ran before stays or not", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (const [at, transaction] of [true, false].entries()) {
    const run = (last: string) =>
      tenant.batch([[`INSERT INTO t (a) VALUES ('${transaction}')`], [last]], {
        transaction,
        ...keyed(`k${at}`),
      });
    assertRefused(await run("INSERT INTO t (id, a) VALUES (NULL, 'true'), (1, 'false')"), 400, "sql_error");
    assertRefused(await run("SELEC 1"), 400, "sql_error");
    await tenant.query("DELETE FROM t");
    const first = await run("SELECT 2");
    assertReplay(first, await run("SELECT 2"));
    assertEquals(await count(tenant), 1);
    await tenant.query("DELETE FROM t");
  }
});

test("a repetition is found after its table was dropped, renamed or made anew", async () => {
  await using app = await startApp();
  const tenant: TestNamespace = await app.namespace();
  await tenant.query(T);
  const insert = () => tenant.query(INSERT, [], keyed("k"));
  const batch = () => tenant.batch([["SELECT 1"], ["INSERT INTO t (a) VALUES ('y')"]], keyed("b"));
  const [first, firstBatch] = [await insert(), await batch()];
  for (const change of ["ALTER TABLE t RENAME TO old", T, "DROP TABLE t", "DROP TABLE old", T]) {
    assertEquals((await tenant.query(change)).status, 200);
    assertReplay(first, await insert());
    assertReplay(firstBatch, await batch());
  }
  assertEquals(await count(tenant), 0);
});
