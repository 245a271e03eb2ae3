// Results in the form of libSQL's protocol: types, declared types, and what the statement itself has changed.
import { assertEquals, assertThrows } from "@std/assert";
import { Connection } from "../../lib/engine/connection.ts";
import { withoutRowid } from "../../lib/engine/typed_result.ts";
import { TYPED_ROWS } from "../../lib/sql/words/row_form.ts";
import type { SqlParameter } from "../../lib/sql/words/sql_value.ts";

const bounds = { maxRows: 10, maxBytes: 1000 };

function ran(
  connection: Connection,
  level: "read" | "write" | "schema",
  sql: string,
  params: SqlParameter[] = [],
) {
  return connection.run(level, sql, params, bounds, TYPED_ROWS).json;
}

Deno.test("a typed result tells INTEGER and REAL apart, and has declared types, changes and the last rowid", () => {
  const connection = new Connection(":memory:");
  connection.database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v VARCHAR(9))");
  const values = [1, { $real: 1 }, 1.5, 'ä"', { $blob: "AP8=" }, null, { $integer: "9223372036854775807" }];
  const one = JSON.parse(`${ran(connection, "read", "SELECT ?, ?, ?, ?, ?, ?, ?", values)}}`);
  assertEquals(one.rows, [[
    { type: "integer", value: "1" },
    { type: "float", value: 1 },
    { type: "float", value: 1.5 },
    { type: "text", value: 'ä"' },
    { type: "blob", base64: "AP8" },
    { type: "null" },
    { type: "integer", value: "9223372036854775807" },
  ]]);
  assertEquals([one.affected_row_count, one.last_insert_rowid], [0, null]);
  const added = JSON.parse(`${ran(connection, "write", "INSERT INTO t VALUES (7, 'a'), (8, 'b')")}}`);
  assertEquals(added, { cols: [], rows: [], affected_row_count: 2, last_insert_rowid: "8" });
  const returned = ran(connection, "write", "UPDATE t SET v = 'c' WHERE id = 7 RETURNING v, id + 1 AS n");
  assertEquals(JSON.parse(`${withoutRowid(returned)}}`), {
    cols: [{ name: "v", decltype: "VARCHAR(9)" }, { name: "n", decltype: null }],
    rows: [[{ type: "text", value: "c" }, { type: "integer", value: "8" }]],
    affected_row_count: 1,
    last_insert_rowid: null,
  });
  const infinite = ran(connection, "read", "SELECT 9e999, -9e999");
  assertEquals(JSON.parse(`${infinite}}`).rows[0].map(({ value }: { value: number }) => value), [
    Infinity,
    -Infinity,
  ]);
  connection.close();
});

Deno.test("a typed result is bounded in rows and in bytes of its own form", () => {
  const connection = new Connection(":memory:");
  const count = (rows: number) =>
    `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${rows}) SELECT n FROM c`;
  assertEquals(JSON.parse(`${ran(connection, "read", count(10))}}`).rows.length, 10);
  assertThrows(() => ran(connection, "read", count(11)), /more than 10 rows/);
  assertThrows(() => ran(connection, "read", "SELECT ?", ["x".repeat(980)]), /more than 1000 bytes/);
  connection.close();
});

Deno.test("what ALTER TABLE asks of the rows is no column of its result", () => {
  const connection = new Connection(":memory:");
  connection.database.exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)");
  for (
    const sql of [
      "ALTER TABLE t ALTER COLUMN a SET NOT NULL",
      "-- it holds\n/* ; */ alter table t ADD CONSTRAINT positive CHECK (b > 0)",
    ]
  ) {
    const none = { cols: [], rows: [], affected_row_count: 0, last_insert_rowid: null };
    assertEquals(JSON.parse(`${ran(connection, "schema", sql)}}`), none, sql);
  }
  assertThrows(
    () => ran(connection, "write", "INSERT INTO t VALUES (NULL, 1)"),
    /NOT NULL constraint failed/,
  );
  assertThrows(() => ran(connection, "write", "INSERT INTO t VALUES (1, 0)"), /CHECK constraint failed/);
  assertThrows(() => ran(connection, "schema", "ALTER TABLE t ADD CHECK (b > 100)"), /constraint failed/);
  connection.close();
});
