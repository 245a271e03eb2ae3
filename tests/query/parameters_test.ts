// Placeholders and parameters: `?` and `?N` only, the right number of them, checked before anything runs.
import { assertEquals } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("placeholders and parameters", run);

test("too few or too many parameters are parameter_mismatch before anything runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a, b)");
  for (const params of [[], [1], [1, 2, 3]]) {
    const answer = await tenant.query("INSERT INTO t VALUES (?, ?)", params);
    assertEquals(answer.status, 400);
    assertEquals(answer.body.code, "sql_error");
    const { kind, table, column } = answer.body.errorDetail ?? {};
    assertEquals([kind, table, column], ["parameter_mismatch", null, null]);
    assertEquals(answer.body.error, `Send 2 parameters, not ${params.length}`);
  }
  assertEquals((await tenant.query("SELECT ?")).body.error, "Send 1 parameter, not 0");
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});

test("a parameter mismatch in an atomic batch lets no statement of it stay", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const answer = await tenant.batch([["INSERT INTO t VALUES (1)"], ["INSERT INTO t VALUES (?)"]], {
    transaction: true,
  });
  assertEquals([answer.status, answer.body.failedIndex], [400, 1]);
  assertEquals(answer.body.errorDetail?.kind, "parameter_mismatch");
  assertEquals(answer.body.error, "Send 1 parameter, not 0");
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});

test("?N names a parameter by its place and may repeat it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answer = await tenant.query("SELECT ?2, ?1, ?2", ["a", "b"]);
  assertEquals([answer.status, rowsOf(answer)], [200, [["b", "a", "b"]]]);
});

test("named parameters are refused as parameter_mismatch", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const sql of ["SELECT :a", "SELECT @a", "SELECT $a"]) {
    for (const params of [[], [1]]) {
      const answer = await tenant.query(sql, params);
      assertEquals([answer.status, answer.body.errorDetail?.kind], [400, "parameter_mismatch"], sql);
    }
  }
});

test("a bound value is never SQL", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a TEXT)");
  const text = "x'); DROP TABLE t; --";
  assertEquals((await tenant.query("INSERT INTO t VALUES (?)", [text])).status, 200);
  assertEquals(rowsOf(await tenant.query("SELECT a FROM t WHERE a = ?", [text])), [[text]]);
});

test("parameters of other forms are refused by their place", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const wrong = [
    ...[{}, [1], { $blob: "not base64!" }, { $blob: "AA==", more: 1 }, { $date: "2026" }],
    ...[{ $integer: "7" }, { $real: "Infinity" }],
  ];
  for (const value of wrong) {
    const answer = await tenant.query("SELECT ?, ?", [1, value]);
    assertEquals([answer.status, answer.body.code], [400, "validation_failed"], JSON.stringify(value));
    assertEquals(answer.body.issues?.every(({ path }) => path.startsWith("params[1]")), true, answer.text);
    const led = answer.body.issues?.some(({ message }) => message.includes("json_each(?)"));
    assertEquals(led, Array.isArray(value), answer.text);
  }
});
