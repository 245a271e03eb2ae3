// Random reads in the forms that end at a bound, beside the same text as it is in the same SQLite: rows, their order,
// kinds of values, failures.
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Connection } from "../../lib/engine/connection.ts";
import { engineFailure } from "../../lib/engine/engine_failure.ts";
import { jsonValue } from "../../lib/engine/result_json.ts";
import { DIGIT_ROWS } from "../../lib/sql/words/row_form.ts";
import { holds } from "./model_run.ts";

const WIDE = { maxRows: 100_000, maxBytes: 100_000_000 };
const SETUP = `
  CREATE TABLE t(i INTEGER, r REAL, s TEXT, n NUMERIC, x, c TEXT COLLATE NOCASE);
  INSERT INTO t VALUES (1, 2, '12', 3.0, NULL, 'b'), (2, 2.5, 'a', '12', '12', 'A'), (3, 7, 'b', 7, x'37', 'B'),
    (NULL, 1e300, 'B', 9007199254740993, 5, 'a'), (-9223372036854775808, -0.0, '', '1e3', 9e999, 'b');
  CREATE INDEX by_i ON t(i); CREATE INDEX by_c ON t(c);
  CREATE VIEW v AS SELECT r AS a, c AS b FROM t UNION ALL SELECT i, s FROM t;
  CREATE VIEW w AS SELECT s AS a, i AS b FROM t UNION SELECT n, r FROM t;
  CREATE VIRTUAL TABLE f USING fts5(a, b);
  INSERT INTO f VALUES ('one two', 'two three'), ('three', 'one one');`;

const columns = fc.constantFrom("i", "r", "s", "n", "x", "c");
const expressions = fc.oneof(
  columns,
  columns,
  fc.constantFrom(
    ...["NULL", "1", "2.0", "'1'", "x'31'", "9007199254740993", "rowid", "count(*)", "zeroblob(200)"],
    ...["CAST(i AS REAL)", "CAST(r AS INTEGER)", "CAST(i AS TEXT)", "i + 0", "s || ''", "c COLLATE BINARY"],
    ...["coalesce(x, r)", "max(i, r)", "sum(i) OVER (ORDER BY r)", "rank() OVER (ORDER BY c)"],
    ...["(SELECT r FROM t WHERE 0 UNION ALL SELECT 9007199254740993)", "s IN (SELECT c FROM t)", "max(r)"],
    ...["group_concat(c)", "printf('%0300d', i)", "abs(i)", "total(r)"],
  ),
);
const sources = fc.constantFrom(
  ...["t", "t", "t WHERE i > 0", "t WHERE c = 'b'", "t GROUP BY c", "t GROUP BY r HAVING count(*) > 0"],
  ...[
    "(SELECT * FROM t ORDER BY c LIMIT 3)",
    "(SELECT r AS i, i AS r, n AS s, s AS n, x, c, 1 AS rowid FROM t)",
  ],
);
const cores = fc.tuple(
  fc.constantFrom("SELECT", "SELECT", "SELECT DISTINCT"),
  expressions,
  expressions,
  sources,
)
  .map(([select, one, two, from]) => `${select} ${one} AS a, ${two} AS b FROM ${from}`);
const others = fc.constantFrom(
  ...["SELECT * FROM v", "SELECT a, b FROM v WHERE a > 1", "SELECT * FROM w", "SELECT b, a FROM w"],
  ...["VALUES (1, 'x'), (CAST(2 AS REAL), NULL), (3, x'00')", "VALUES (CAST(1 AS REAL), '7'), (2, 7)"],
  "SELECT highlight(f, 0, '<', '>') AS a, rank AS b FROM f WHERE f MATCH 'one'",
  "SELECT DISTINCT snippet(f, -1, '', '', '', 1) AS a, bm25(f) AS b FROM f('one')",
);
const parts = fc.oneof({ weight: 3, arbitrary: cores }, { weight: 1, arbitrary: others });
const operators = fc.constantFrom("UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT");
const compounds = fc.oneof(
  { weight: 2, arbitrary: parts },
  {
    weight: 2,
    arbitrary: fc.tuple(parts, operators, parts).map((all) => all.join(" ")),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(parts, operators, parts, operators, parts).map((all) => all.join(" ")),
  },
);
const reads = fc.tuple(
  fc.constantFrom(
    "",
    "",
    "",
    "WITH RECURSIVE t(i, r, s, n, x, c) AS (SELECT 1, 1, 'a', 2.0, 3, 'B' UNION ALL " +
      "SELECT i + 1, r * 2, s, n, x, c FROM t LIMIT 4) ",
  ),
  compounds,
  fc.constantFrom("", "", " ORDER BY 1", " ORDER BY 2 DESC, 1", " ORDER BY a COLLATE BINARY", " ORDER BY b"),
  fc.constantFrom("", "", " LIMIT 3", " LIMIT 2 OFFSET 1", " LIMIT -1"),
  fc.constantFrom("", ";", " -- end", " /* open"),
).map((all) => all.join(""));

type Answer = { readonly rows: unknown } | { readonly kind: string; readonly message: string };

function failed(error: unknown): Answer {
  const { kind, message } = engineFailure(error, null);
  return { kind, message };
}

function asItIs({ database, guard }: Connection, sql: string): Answer {
  try {
    guard.level = "read";
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    const rows = statement.all().map((row) =>
      Array.isArray(row) ? row.map((value) => jsonValue(value, DIGIT_ROWS)) : []
    );
    return { rows: JSON.parse(JSON.stringify(rows)) };
  } catch (error) {
    return failed(error);
  } finally {
    guard.level = "internal";
  }
}

function bounded(connection: Connection, sql: string): Answer {
  try {
    return { rows: JSON.parse(`${connection.run("read", sql, [], WIDE, DIGIT_ROWS).json}}`).rows };
  } catch (error) {
    return failed(error);
  }
}

Deno.test("random reads have the rows and failures of the text as it is, the first time and the next", async () => {
  const path = await Deno.makeTempFile({ suffix: ".db" });
  const connection = new Connection(path);
  try {
    connection.database.exec(SETUP);
    await holds(reads, 400, (sql) => {
      const wanted = asItIs(connection, sql);
      for (const time of ["first", "next"]) assertEquals(bounded(connection, sql), wanted, `${time}: ${sql}`);
      return Promise.resolve();
    });
  } finally {
    connection.close();
    await Deno.remove(path);
  }
});
