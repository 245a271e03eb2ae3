// What a statement can have read at most in its time.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { ReadRows } from "../../lib/engine/rows_read/read_rows.ts";

/** 1,000 rows in `t`, 20,000 in `long`, and a clock that stands still unless it is put forward. */
function world() {
  const database = new DatabaseSync(":memory:");
  for (const [table, rows] of [["t", 1000], ["long", 20_000]] as const) {
    database.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, a)`);
    database.exec(
      `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ${rows}) ` +
        `INSERT INTO ${table} SELECT x, x FROM n`,
    );
  }
  let nowMs = 5;
  const reads = new ReadRows(database, { now: () => nowMs, monotonicMs: () => nowMs });
  return {
    callBegins: () => reads.callBegins(nowMs),
    of: (sql: string, rowsReturned = 1) => reads.of({ sql, rowsReturned, rowsWritten: 0 }, null),
    wait: (ms: number) => {
      nowMs += ms;
    },
    [Symbol.dispose]: () => database.close(),
  };
}

const joined = (count: number) =>
  `SELECT count(*) FROM ${
    Array.from({ length: count }, (_, at) => `t AS t${at}`).join(" JOIN ")
  } WHERE t0.id < 0`;

Deno.test("a join has read no more than an engine can in its time, however many tables it has", () => {
  using at = world();
  for (const tables of [4, 20, 64]) {
    at.callBegins();
    at.wait(2);
    assertEquals(at.of(joined(tables)), 210_000, `${tables} tables`);
  }
});

Deno.test("each of the statements of a call has the time since the one before that was bounded", () => {
  using at = world();
  at.callBegins();
  at.wait(50);
  assertEquals(at.of(joined(4)), 5_010_000);
  at.wait(1);
  assertEquals(at.of(joined(4)), 110_000);
});

Deno.test("an estimate of what one loop reads stands, also of a statement that took no time", () => {
  using at = world();
  at.callBegins();
  assertEquals(at.of("SELECT count(*) FROM long"), 20_000);
  assertEquals(at.of("SELECT (SELECT count(*) FROM long), (SELECT max(a) FROM long)"), 40_000);
  assertEquals(at.of("SELECT * FROM long", 20_000), 20_000);
  assert(at.of("SELECT count(*) FROM t AS a JOIN t AS b ON b.id = a.a") <= 3000);
  assertEquals(at.of("SELECT l.id FROM long AS l JOIN t ON t.id = l.a", 20_000), 20_000);
});
