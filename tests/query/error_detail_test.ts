// `errorDetail` kinds one by one: what went wrong, where, and a hint that says what to do next (contract 3).
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { ErrorDetail } from "../../lib/core/errors.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

const schema = [
  "CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT NOT NULL)",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), " +
  "total INTEGER CHECK (total >= 0), shelf TEXT, place TEXT, UNIQUE (shelf, place))",
  "CREATE TABLE strict_one (id INTEGER PRIMARY KEY, n INTEGER) STRICT",
  "INSERT INTO customers VALUES (1, 'a@x', 'Ada'), (2, 'b@x', 'Ben')",
  "INSERT INTO orders VALUES (1, 1, 5, 'A', '1')",
];

async function shop(app: StartedApp): Promise<TestNamespace> {
  const tenant = await app.namespace();
  const made = await tenant.batch(schema.map((sql) => [sql] as const));
  assertEquals(made.status, 200, made.text);
  return tenant;
}

function sqlError(answer: ApiAnswer): ErrorDetail {
  assertEquals([answer.status, answer.body.code], [400, "sql_error"], answer.text);
  const { errorDetail } = answer.body;
  assert(errorDetail, answer.text);
  for (const name of ["kind", "table", "column", "hint"]) assert(name in errorDetail, answer.text);
  assertMatch(errorDetail.hint, /^[A-Z][^.]+[^.]$/);
  return errorDetail;
}

function place({ kind, table, column }: ErrorDetail): unknown[] {
  return [kind, table, column];
}

Deno.test("unique_violation names table and column, its hint depends on the verb", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const insert = sqlError(await tenant.query("INSERT INTO customers VALUES (3, 'a@x', 'Cy')"));
  assertEquals(place(insert), ["unique_violation", "customers", "email"]);
  assertStringIncludes(insert.hint, "ON CONFLICT");
  const update = sqlError(await tenant.query("UPDATE customers SET email = 'a@x' WHERE id = 2"));
  assertEquals(place(update), ["unique_violation", "customers", "email"]);
  assertNotIncludes(update.hint, "ON CONFLICT");
  const key = sqlError(await tenant.query("INSERT INTO customers VALUES (1, 'c@x', 'Cy')"));
  assertEquals(place(key), ["unique_violation", "customers", "id"]);
});

Deno.test("unique_violation over several columns names them all", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const detail = sqlError(await tenant.query("INSERT INTO orders VALUES (2, 1, 1, 'A', '1')"));
  assertEquals(place(detail), ["unique_violation", "orders", "shelf"]);
  assertEquals(detail.columns, ["shelf", "place"]);
});

Deno.test("unique_violation and not_null_violation tell names apart that hold dots and commas", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  await tenant.query('CREATE TABLE "a.b" ("c.d" UNIQUE, "e, f.g" NOT NULL, x, UNIQUE (x, "e, f.g"))');
  await tenant.query(`INSERT INTO "a.b" VALUES (1, 2, 3)`);
  const one = sqlError(await tenant.query(`INSERT INTO "a.b" VALUES (1, 4, 5)`));
  assertEquals(place(one), ["unique_violation", "a.b", "c.d"]);
  const several = sqlError(await tenant.query(`INSERT INTO "a.b" VALUES (2, 2, 3)`));
  assertEquals(place(several), ["unique_violation", "a.b", "x"]);
  assertEquals(several.columns, ["x", "e, f.g"]);
  const missing = await tenant.query(`INSERT INTO "a.b" VALUES (3, NULL, 3)`);
  const { kind, table, column } = missing.body.errorDetail ?? {};
  assertEquals([kind, table, column], ["not_null_violation", "a.b", "e, f.g"]);
});

Deno.test("not_null_violation names table and column", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const detail = sqlError(await tenant.query("INSERT INTO customers (id) VALUES (3)"));
  assertEquals(place(detail), ["not_null_violation", "customers", "name"]);
  const update = sqlError(await tenant.query("UPDATE customers SET name = NULL"));
  assertEquals(place(update), ["not_null_violation", "customers", "name"]);
  assertStringIncludes(update.hint, "name");
});

Deno.test("foreign_key_violation names the table that the statement writes", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const insert = sqlError(await tenant.query("INSERT INTO orders (customer_id) VALUES (99)"));
  assertEquals(place(insert), ["foreign_key_violation", "orders", null]);
  assertStringIncludes(insert.hint, "Insert the row");
  const remove = sqlError(await tenant.query("DELETE FROM customers WHERE id = 1"));
  assertEquals(place(remove), ["foreign_key_violation", "customers", null]);
  assertStringIncludes(remove.hint, "refer");
});

Deno.test("a deferred foreign key that is still broken at the end is a foreign_key_violation and not kept", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  await tenant.query("CREATE TABLE d (p INTEGER REFERENCES customers(id) DEFERRABLE INITIALLY DEFERRED)");
  const single = await tenant.query("INSERT INTO d VALUES (99)");
  assertEquals([single.status, single.body.errorDetail?.kind], [400, "foreign_key_violation"], single.text);
  const batch = await tenant.batch([["INSERT INTO d VALUES (98)"], ["SELECT 1"]], { transaction: true });
  assertEquals([batch.status, batch.body.errorDetail?.kind], [400, "foreign_key_violation"], batch.text);
  const repaired = await tenant.batch([
    ["INSERT INTO d VALUES (97)"],
    ["INSERT INTO customers VALUES (97, NULL, 'Late')"],
  ], { transaction: true });
  assertEquals(repaired.status, 200, repaired.text);
  assertEquals((await tenant.query("SELECT p FROM d")).text.includes('"rows":[[97]]'), true);
});

Deno.test("check_violation names the table that the statement writes", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const detail = sqlError(await tenant.query("UPDATE orders SET total = -1"));
  assertEquals(place(detail), ["check_violation", "orders", null]);
  // The hint holds a statement that runs.
  const [show = ""] = /SELECT .*'/.exec(detail.hint) ?? [];
  assertStringIncludes((await tenant.query(show)).text, "CHECK (total >= 0)");
});

Deno.test("unknown_table names it and what may have been meant", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  for (
    const [sql, name] of [["SELECT * FROM custmers", "custmers"], [
      "DELETE FROM customer",
      "customer",
    ]] as const
  ) {
    const detail = sqlError(await tenant.query(sql));
    assertEquals(place(detail), ["unknown_table", name, null]);
    assertStringIncludes(detail.hint, "customers");
  }
});

Deno.test("a misspelt name of a service table is refused without telling the right ones", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const answer = await tenant.query("SELECT * FROM _service_meta_repla");
  assertEquals([answer.status, answer.body.code], [403, "statement_refused"]);
  assertEquals(answer.text.includes("_service_meta_replay"), false);
});

Deno.test("unknown_column names it and what may have been meant", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const cases = [
    ["SELECT emial FROM customers", null, "emial", "email"],
    ["SELECT c.nam FROM customers c", "customers", "nam", "name"],
    [
      "SELECT o.totl, c.name FROM orders AS o JOIN customers c ON c.id = o.customer_id",
      "orders",
      "totl",
      "total",
    ],
    ["SELECT (SELECT x.emial FROM customers x) FROM orders", "customers", "emial", "email"],
    ["SELECT C.nam FROM customers c", "customers", "nam", "name"],
    ["SELECT main.customers.nam FROM customers", "customers", "nam", "name"],
    ["UPDATE orders AS o SET total = o.totl", "orders", "totl", "total"],
    ['SELECT "emial" FROM customers', null, "emial", "email"],
    ['SELECT c."emial" FROM customers c', "customers", "emial", "email"],
    ["UPDATE orders SET totl = 1", "orders", "totl", "total"],
    ["INSERT INTO orders (customer) VALUES (1)", "orders", "customer", "customer_id"],
  ] as const;
  for (const [sql, table, column, near] of cases) {
    const detail = sqlError(await tenant.query(sql));
    assertEquals([detail.kind, detail.column], ["unknown_column", column], sql);
    if (table !== null) assertEquals(detail.table, table, sql);
    assertStringIncludes(detail.hint, near, sql);
  }
});

Deno.test("syntax_error for what is no SQL and for wrong numbers of values and arguments", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  for (
    const sql of ["SELEC 1", "SELECT", "INSERT INTO customers VALUES (1)", "SELECT count(1, 2, 3)"]
  ) {
    assertEquals(sqlError(await tenant.query(sql)).kind, "syntax_error", sql);
  }
});

Deno.test("type_mismatch for a value that a STRICT table or an INTEGER key does not take", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const strict = sqlError(await tenant.query("INSERT INTO strict_one (n) VALUES ('x')"));
  assertEquals(place(strict), ["type_mismatch", "strict_one", "n"]);
  const key = sqlError(await tenant.query("INSERT INTO customers VALUES ('x', 'y', 'z')"));
  assertEquals(key.kind, "type_mismatch");
});

Deno.test("too_big for values and statements beyond the engine's limits", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  for (const sql of ["SELECT zeroblob(1000000000)", `SELECT 1 ${"UNION ALL SELECT 1 ".repeat(2000)}`]) {
    assertEquals(sqlError(await tenant.query(sql)).kind, "too_big", sql.slice(0, 40));
  }
});

Deno.test("a trigger's own RAISE message reaches the caller as kind unknown", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  await tenant.query(
    "CREATE TRIGGER r BEFORE DELETE ON orders BEGIN SELECT RAISE(ABORT, 'orders are kept for ever'); END",
  );
  const answer = await tenant.query("DELETE FROM orders");
  assertEquals(sqlError(answer).kind, "unknown");
  assertStringIncludes(answer.body.error ?? "", "orders are kept for ever");
});

function assertNotIncludes(actual: string, unwanted: string): void {
  assertEquals(actual.includes(unwanted), false, actual);
}

Deno.test("names that read like lists of names are told apart, however often one repeats another", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query('CREATE TABLE t ("a", "a, t.a")');
  for (const [repetitions, table] of [[60, `${"t.a, ".repeat(60)}t`], [200, null]] as const) {
    const name = `${"t.a, ".repeat(repetitions)}t`;
    await tenant.query(`CREATE TABLE "${name}" ("z.z" UNIQUE)`);
    const insert = `INSERT INTO "${name}" VALUES (1)`;
    assertEquals((await tenant.query(insert)).status, 200);
    const { status, body } = await tenant.query(insert);
    assertEquals([status, body.errorDetail?.kind], [400, "unique_violation"]);
    // What is too long to be taken apart is told as the engine's words have it.
    if (table !== null) assertEquals([body.errorDetail?.table, body.errorDetail?.column], [table, "z.z"]);
  }
});

Deno.test("a name longer than anybody types has no near matches", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query("CREATE TABLE orders (total)");
  const hintOf = async (column: string) =>
    (await tenant.query(`SELECT ${column} FROM orders`)).body.errorDetail?.hint;
  assertEquals((await hintOf(`total_${"x".repeat(20)}`))?.includes("did you mean total?"), true);
  assertEquals((await hintOf(`total_${"x".repeat(900_000)}`))?.includes("did you mean"), false);
});

Deno.test("unknown names of several lines are named as they are", async () => {
  await using app = await startApp();
  const tenant = await shop(app);
  const name = "a\n has no column named b\n";
  const insert = sqlError(await tenant.query(`INSERT INTO customers ("${name}") VALUES (1)`));
  assertEquals(insert.kind, "unknown_column");
  assertEquals(place(sqlError(await tenant.query(`SELECT * FROM "x\ny"`))), ["unknown_table", "x\ny", null]);
});
