// Batches: one by one up to the first error, or all or nothing.
import { assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("batch", run);

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";

async function ids(tenant: TestNamespace): Promise<unknown[]> {
  return rowsOf(await tenant.query("SELECT id FROM t ORDER BY id")).flat();
}

test("batch answers one result per statement, in order", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answer = await tenant.batch([
    [T],
    ["INSERT INTO t VALUES (1, 'x'), (2, 'y')"],
    ["SELECT a FROM t ORDER BY id"],
    ["UPDATE t SET a = upper(a)"],
  ]);
  assertEquals(answer.status, 200, answer.text);
  const results = answer.body.data as { columns: string[]; rows: unknown[][]; rowsWritten: number }[];
  assertEquals(results.map(({ rowsWritten }) => rowsWritten).slice(1), [2, 0, 2]);
  assertEquals([results[2]?.columns, results[2]?.rows], [["a"], [["x"], ["y"]]]);
  assertEquals(answer.body.meta?.statementCount, 4);
});

test("a statement of a batch hears how many rows the one before it has changed", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(T, "CREATE TABLE u (n)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')");
  const upsert = (id: number): [string][] => [
    [`UPDATE t SET a = a || '!' WHERE id = ${id}`],
    [`INSERT INTO t SELECT ${id}, 'new' WHERE changes() = 0`],
    ["INSERT INTO u SELECT changes()"],
    ["SELECT changes()"],
  ];
  assertEquals(rowsOf(await tenant.batch(upsert(1)), 3), [[1]]);
  assertEquals(rowsOf(await tenant.query("DELETE FROM u RETURNING n")), [[0]]);
  for (const transaction of [true, false]) {
    const found = await tenant.batch([...upsert(1).slice(0, 2), ["SELECT count(*) FROM t"]], { transaction });
    assertEquals(rowsOf(found, 2), [[2]], found.text);
    for (const write of ["UPDATE t SET a = a || '?'", "INSERT INTO u SELECT id FROM t", "DELETE FROM u"]) {
      const answer = await tenant.batch([[`${write} WHERE ${transaction ? 1 : 2}`], ["SELECT changes()"]], {
        transaction,
      });
      assertEquals(rowsOf(answer, 1), [[2]], `${write} ${answer.text}`);
    }
  }
});

test("however long the text of a write that comes twice is, the next statement hears what it has changed", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(T, "INSERT INTO t VALUES (1, 'x'), (2, 'y')");
  for (const length of [10, 110_000]) {
    const write = `UPDATE t SET a = a || '!' /* ${"-".repeat(length)} */`;
    const answer = await tenant.batch([[write], [write], ["SELECT changes()"]], { transaction: true });
    assertEquals(rowsOf(answer, 2), [[2]], `${length}: ${answer.text}`);
  }
});

test("batch without transaction keeps what ran before the first error and says what that was", async () => {
  for (const transaction of [undefined, false]) {
    await using app = await startApp();
    const tenant = await app.namespace();
    await tenant.query(T);
    const answer = await tenant.batch([
      ["INSERT INTO t VALUES (1, 'x')"],
      ["INSERT INTO t VALUES (2, 'y') RETURNING a"],
      ["INSERT INTO t VALUES (3, 'x')"],
      ["INSERT INTO t VALUES (4, 'z')"],
    ], transaction === undefined ? {} : { transaction });
    assertEquals([answer.status, answer.body.code, answer.body.failedIndex], [400, "sql_error", 2]);
    assertEquals(answer.body.errorDetail?.kind, "unique_violation");
    const kept = answer.body.data as { rows: unknown[][]; rowsWritten: number }[];
    assertEquals(kept.map(({ rows, rowsWritten }) => [rows, rowsWritten]), [[[], 1], [[["y"]], 1]]);
    assertEquals(await ids(tenant), [1, 2]);
  }
});

test("batch bills no statement for what a full-text index writes to keep the ones before it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const written = async (transaction: boolean) => {
    const answer = await tenant.batch([
      ["INSERT INTO docs VALUES ('one two three')"],
      ["INSERT INTO plain VALUES (1)"],
      ["UPDATE docs SET body = 'two three' WHERE body MATCH 'one'"],
      ["SELECT 1"],
      ["DELETE FROM plain"],
    ], { transaction });
    assertEquals(answer.status, 200, answer.text);
    return (answer.body.data as { rowsWritten: number }[]).map(({ rowsWritten }) => rowsWritten);
  };
  await tenant.setup("CREATE VIRTUAL TABLE docs USING fts5(body)");
  await tenant.setup("CREATE TABLE plain (v)");
  const two = "INSERT INTO docs VALUES ('ten'), ('eleven')";
  const twoAlone = (await tenant.query(two)).body.meta?.rowsWritten;
  const alone = (await tenant.query("INSERT INTO docs VALUES ('nine')")).body.meta?.rowsWritten;
  for (const transaction of [true, false]) {
    const [insert, plain, , select, remove] = await written(transaction);
    assertEquals([transaction, insert, plain, select, remove], [transaction, alone, 1, 0, 1]);
    // A statement of several rows has a savepoint of its own.
    const several = await tenant.batch([[two], ["SELECT 1"]], { transaction });
    assertEquals([transaction, several.body.meta?.rowsWritten], [transaction, twoAlone]);
  }
  for (const transaction of [true, false]) {
    const sets = await app.request("POST", `${tenant.database.path}/batch`, {
      token: tenant.token,
      body: { sql: "INSERT INTO docs VALUES (?), ('b')", paramSets: [["c"], ["d"], ["e"]], transaction },
    });
    assertEquals([transaction, sets.body.meta?.rowsWritten], [transaction, 3 * (twoAlone ?? 0)], sets.text);
  }
});

test("INSERT OR FAIL keeps nothing of a statement that fails: every statement is kept whole or not at all", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const failing = "INSERT OR FAIL INTO t VALUES (1, 'x'), (2, 'x'), (3, 'z')";
  assertEquals((await tenant.query(failing)).status, 400);
  assertEquals((await tenant.batch([["INSERT INTO t VALUES (9, 'y')"], [failing]])).body.failedIndex, 1);
  assertEquals(await ids(tenant), [9]);
  await tenant.query("INSERT INTO t VALUES (8, 'x')");
  assertEquals((await tenant.query("UPDATE OR FAIL t SET id = id + 10, a = 'same'")).status, 400);
  assertEquals(await ids(tenant), [8, 9]);
});

test("batch with transaction keeps nothing after an error and carries no data", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const answer = await tenant.batch([
    ["INSERT INTO t VALUES (1, 'x')"],
    ["CREATE TABLE u (a)"],
    ["INSERT INTO t VALUES (3, 'x')"],
  ], { transaction: true });
  assertEquals([answer.status, answer.body.failedIndex, answer.body.data], [400, 2, undefined]);
  assertEquals(await ids(tenant), []);
  assertEquals((await tenant.query("SELECT * FROM u")).body.errorDetail?.kind, "unknown_table");
});

test("batch with transaction keeps nothing, whatever clause says what stays of the statement that fails", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (const virtual of [false, true]) {
    if (virtual) await tenant.query("CREATE VIRTUAL TABLE docs USING fts5(body)");
    for (const clause of ["", "OR FAIL", "OR ABORT", "OR ROLLBACK"]) {
      const failing = `INSERT ${clause} INTO t VALUES (2, 'y'), (3, 'x')`;
      const answer = await tenant.batch([["INSERT INTO t VALUES (1, 'x')"], ["DELETE FROM t WHERE id = 7"], [
        failing,
      ]], {
        transaction: true,
      });
      assertEquals([clause, answer.status, answer.body.failedIndex], [clause, 400, 2]);
      assertEquals(await ids(tenant), [], `${clause} ${virtual}`);
    }
  }
});

test("batch counts what triggers and cascades write alike with and without a transaction", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query("CREATE TABLE parents (id INTEGER PRIMARY KEY)");
  await tenant.query("CREATE TABLE kids (parent REFERENCES parents ON DELETE CASCADE)");
  await tenant.query("CREATE TABLE noted (id)");
  await tenant.query(
    "CREATE TRIGGER note AFTER INSERT ON kids BEGIN INSERT INTO noted VALUES (new.parent); END",
  );
  for (const transaction of [true, false]) {
    const answer = await tenant.batch([
      ["INSERT INTO parents VALUES (1), (2)"],
      ["INSERT INTO kids VALUES (1), (1), (2)"],
      ["SELECT count(*) FROM noted"],
      ["DELETE FROM parents"],
      ["DELETE FROM noted"],
    ], { transaction });
    const written = (answer.body.data as { rowsWritten: number }[]).map(({ rowsWritten }) => rowsWritten);
    assertEquals([transaction, ...written], [transaction, 2, 6, 0, 5, 3]);
  }
});

test("batch with transaction commits all of it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const answer = await tenant.batch([["INSERT INTO t VALUES (1, 'x')"], ["INSERT INTO t VALUES (2, 'y')"]], {
    transaction: true,
  });
  assertEquals(answer.status, 200);
  assertEquals(await ids(tenant), [1, 2]);
});

test("batch stops at a statement that cannot be understood, as at one that fails", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const statements = [["INSERT INTO t VALUES (1, 'x')"], ["SELEC 1"], ["INSERT INTO t VALUES (2, 'y')"]] as [
    string,
  ][];
  const atomic = await tenant.batch(statements, { transaction: true });
  assertEquals([atomic.status, atomic.body.failedIndex, atomic.body.errorDetail?.kind], [
    400,
    1,
    "syntax_error",
  ]);
  assertEquals(await ids(tenant), []);
  const loose = await tenant.batch(statements);
  assertEquals([loose.status, loose.body.failedIndex, loose.body.errorDetail?.kind], [
    400,
    1,
    "syntax_error",
  ]);
  assertEquals((loose.body.data as unknown[]).length, 1);
  assertEquals(await ids(tenant), [1]);
});

test("batch says which statement the role is too low for, and runs none of it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  const { token } = await tenant.mint("write");
  const answer = await tenant.batch([["INSERT INTO t VALUES (1, 'x')"], ["DROP TABLE t"]], { token });
  assertEquals([answer.status, answer.body.code, answer.body.failedIndex], [403, "role_too_low", 1]);
  assertEquals(await ids(tenant), []);
});

test("a later statement of a batch uses what an earlier one has created", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const [name, transaction] of [["a", false], ["b", true]] as const) {
    const answer = await tenant.batch([
      [`CREATE TABLE ${name} (x)`],
      [`INSERT INTO ${name} VALUES (?)`, 7],
      [`SELECT x FROM ${name}`],
    ], { transaction });
    assertEquals(answer.status, 200, answer.text);
    assertEquals(rowsOf(answer, 2), [[7]]);
  }
});

test("a change of a schema has no columns, also where the engine asks the rows for it", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([[T], ["INSERT INTO t VALUES (1, 'x')"]]);
  const add = (name: string) =>
    `ALTER TABLE t ADD COLUMN ${name} INTEGER NOT NULL DEFAULT 5 CHECK (${name} > 0)`;
  const none = { columns: [], rows: [] };
  const plain = (data: unknown) => {
    const { columns, rows } = (Array.isArray(data) ? data[0] : data) ?? {};
    return { columns, rows };
  };
  assertEquals(plain((await tenant.query(add("b"))).body.data), none);
  assertEquals(
    plain((await tenant.batch([[add("c")], ["SELECT 1"]], { transaction: true })).body.data),
    none,
  );
  const bounded = { headers: { "X-Max-Affected": "10" } };
  assertEquals(plain((await tenant.query(add("d"), [], bounded)).body.data), none);
  assertEquals(rowsOf(await tenant.query("SELECT b, c, d FROM t")), [[5, 5, 5]]);
});

test("a read of a batch has the columns that its table has by then, and later ones those that it has now", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.batch([[T], ["INSERT INTO t VALUES (1, 'x')"]]);
  const read: [string] = ["SELECT * FROM t"];
  const columns = async (statements: [string][], options = {}) => {
    const { body: { data } } = await tenant.batch(statements, options);
    return Array.isArray(data)
      ? data.map((one: { columns: string[]; rows: unknown[][] }) => [one.columns, one.rows])
      : [];
  };
  const [two, three] = [[["id", "a"], [[1, "x"]]], [["id", "a", "b"], [[1, "x", 5]]]];
  const add: [string] = ["ALTER TABLE t ADD COLUMN b DEFAULT 5"];
  const nothing: [string] = ["UPDATE t SET a = a WHERE 0"];
  const undone = { transaction: true };
  await columns([read, add, read, ["INSERT INTO t (id) VALUES (1)"]], undone);
  await columns([read, add, read, ["INSERT OR ROLLBACK INTO t (id) VALUES (1)"]], undone);
  assertEquals(await columns([nothing, read]), [[[], []], two]);
  assertEquals(await columns([read, add, read]), [two, [[], []], three]);
  assertEquals(await columns([nothing, read]), [[[], []], three]);
});
