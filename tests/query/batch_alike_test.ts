// Batches whose statements have the same text or the same result: what repeats is left out on the way to the engine and
// back, and every statement is bound and answered for itself all the same.
import { assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { startApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("batch alike", run);

const INSERT = "INSERT INTO n VALUES (?, ?)";
const TOUCH = "UPDATE n SET b = b WHERE a = ?";
const COUNT = "SELECT count(*) FROM n";
const BLOB = { $blob: "AQI=" };

/** Adds seven rows. */
const STATEMENTS: [sql: string, ...params: unknown[]][] = [
  [INSERT, "x", 1],
  [INSERT, null, BLOB],
  [INSERT, BLOB, true],
  [`${INSERT} RETURNING b`, "y", 2],
  [`${INSERT} RETURNING b`, "z", 2],
  [`${INSERT} RETURNING b`, "z", 3],
  [TOUCH, "z"],
  [TOUCH, "y"],
  [TOUCH, "nobody"],
  [INSERT, 1, 2.5],
  [COUNT],
  [COUNT],
];

interface Result {
  readonly rows: unknown[][];
  readonly rowsWritten: number;
}

for (const transaction of [true, false]) {
  test(`statements that are alike are answered each for itself, ${transaction ? "in" : "without"} a transaction`, async () => {
    await using app = await startApp();
    const tenant = await app.namespace();
    await tenant.setup("CREATE TABLE n (a, b)");
    const options = { transaction, headers: { "Idempotency-Key": "alike" } };
    const answer = await tenant.batch(STATEMENTS, options);
    assertEquals(answer.status, 200, answer.text);
    const results = answer.body.data as Result[];
    const nothing: unknown[][] = [];
    assertEquals(results.map(({ rows }) => rows), [
      ...[nothing, nothing, nothing, [[2]], [[2]], [[3]]],
      ...[nothing, nothing, nothing, nothing, [[7]], [[7]]],
    ]);
    assertEquals(results.map(({ rowsWritten }) => rowsWritten), [1, 1, 1, 1, 1, 1, 2, 1, 0, 1, 0, 0]);
    assertEquals((await tenant.batch(STATEMENTS, options)).text, answer.text);
    assertEquals(rowsOf(await tenant.query("SELECT typeof(a), typeof(b) FROM n ORDER BY rowid")), [
      ...[["text", "integer"], ["null", "blob"], ["blob", "integer"]],
      ...[["text", "integer"], ["text", "integer"], ["text", "integer"], ["integer", "real"]],
    ]);
  });
}

test("a batch of statements that are alike tells which one failed and what stays", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE n (a UNIQUE, b)");
  const statements: typeof STATEMENTS = [[INSERT, 1, 1], [INSERT, 2, 2], [INSERT, 3, 3], [INSERT, 2, 4], [
    INSERT,
    5,
    5,
  ]];
  for (const transaction of [true, false]) {
    const answer = await tenant.batch(statements, { transaction });
    assertEquals([answer.status, answer.body.failedIndex], [400, 3], answer.text);
    const stays = (answer.body.data ?? []) as Result[];
    assertEquals(
      stays.map(({ rows, rowsWritten }) => [rows, rowsWritten]),
      transaction ? [] : Array(3).fill([[], 1]),
    );
    assertEquals(
      rowsOf(await tenant.query("SELECT a FROM n ORDER BY a")).flat(),
      transaction ? [] : [1, 2, 3],
    );
  }
});
