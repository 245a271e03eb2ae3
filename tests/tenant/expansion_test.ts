// What a statement amounts to before a remote store's gate compiles it in the service's own process.
import { assertEquals } from "@std/assert";
import { Expansion } from "../../lib/tenant/remote/gate/expansion.ts";

const DOUBLED = "SELECT a FROM c UNION ALL SELECT a FROM c";

function views(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const before = at === 0 ? "t" : `v${at - 1}`;
    return `CREATE VIEW v${at} AS SELECT a FROM ${before} UNION ALL SELECT a FROM ${before}`;
  });
}

Deno.test("views, CTEs and triggers count as often as they are named, whatever scope hides them", () => {
  const schema = ["CREATE TABLE t (a)", ...views(12)];
  const expansion = new Expansion(schema);
  let nested = "SELECT a FROM t";
  for (let depth = 0; depth < 12; depth++) nested = `WITH c AS (${nested}) ${DOUBLED}`;
  for (
    const sql of [
      "SELECT a FROM v11",
      "SELECT 1 WHERE 1 IN v11",
      "CREATE VIEW w AS SELECT a FROM main.V11",
      "INSERT INTO t SELECT a FROM v11",
      "WITH c AS (SELECT a FROM v6) SELECT a FROM c, c AS d, c AS e, c AS f, c AS g",
      nested,
    ]
  ) {
    assertEquals(expansion.refusal(sql)?.failure.kind, "too_big", sql);
  }
  for (
    const sql of [
      "SELECT a FROM v5",
      "WITH v11 AS (SELECT 1) SELECT * FROM v11",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
      "INSERT INTO t VALUES (1)",
      "DROP VIEW v11",
    ]
  ) {
    assertEquals(expansion.refusal(sql), null, sql);
  }
  const withTrigger = expansion.copy();
  withTrigger.add("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT a FROM v11; END");
  assertEquals(withTrigger.refusal("INSERT INTO t VALUES (1)")?.failure.kind, "too_big");
  assertEquals(withTrigger.refusal("SELECT a FROM t"), null);
  assertEquals(expansion.refusal("INSERT INTO t VALUES (1)"), null);
});

Deno.test("a view counts in whatever quotes and case its name stands", () => {
  const odd = [`CREATE VIEW "o""dd" AS SELECT a FROM v11`, `CREATE VIEW ΑΣ AS SELECT a FROM v11`];
  const expansion = new Expansion(["CREATE TABLE t (a)", ...views(12), ...odd]);
  for (const name of [`"v11"`, "[V11]", "`V11`", "main.v11", `"o""dd"`, "ΑΣ", `"ας"`]) {
    assertEquals(expansion.refusal(`SELECT a FROM ${name}`)?.failure.kind, "too_big", name);
  }
  assertEquals(new Expansion(views(12)).refusal("SELECT a FROM 'v11'")?.failure.kind, "too_big");
});

Deno.test("a chain of views is followed only so deep", () => {
  const chain = Array.from(
    { length: 20_000 },
    (_, at) => `CREATE VIEW v${at} AS SELECT a FROM ${at === 0 ? "t" : `v${at - 1}`}`,
  );
  assertEquals(new Expansion(chain).refusal("SELECT a FROM v19999")?.failure.kind, "too_big");
});

/** Tables that are joined by so many columns. */
function joined(count: number, columns: string, table = "t"): string {
  const others = Array.from({ length: count - 1 }, (_, at) => `JOIN ${table} x${at} USING (${columns})`);
  return `SELECT 1 FROM ${table} x ${others.join(" ")}`;
}

Deno.test("joins that an engine would plan for seconds are refused, whatever they stand in, and usual ones are not", () => {
  const wide = joined(30, "a, b, c");
  const keys = Array.from(
    { length: 26 },
    (_, at) => `JOIN t x${at + 1} ON x${at + 1}.a = x${at}.b AND x${at + 1}.c = 1`,
  );
  const values = Array.from({ length: 29 }, (_, at) => `t x${at}`);
  const equal = values.map((_, at) => `(x${at}.a, x${at}.b) = (x0.a, x0.b)`).join(" AND ");
  const parts = (count: number) =>
    `CREATE VIEW p AS ${Array(count).fill("SELECT a, b, c FROM t").join(" UNION ALL ")}`;
  const expansion = new Expansion([
    "CREATE TABLE t (a, b, c)",
    `CREATE VIEW v AS ${joined(9, "a, b, c")}`,
    parts(9),
  ]);
  for (
    const sql of [
      wide,
      `SELECT (${wide})`,
      `SELECT ${Array(20).fill(`(${joined(9, "a, b, c")})`)}`,
      `INSERT INTO t SELECT a, b, c FROM (${wide})`,
      `UPDATE t SET a = 1 WHERE b IN (${wide})`,
      `DELETE FROM t WHERE EXISTS (${wide})`,
      `EXPLAIN ${wide}`,
      `SELECT 1 FROM ${values.join(", ")} WHERE ${equal}`,
      `SELECT 1 FROM t x NATURAL JOIN t y ${" NATURAL JOIN t".repeat(10)}`,
      `WITH c AS (${joined(9, "a, b, c")}) SELECT 1 FROM c, c AS d, c AS e, c AS f`,
      joined(4, "a, b, c", "v"),
      joined(5, "a, b, c", "p"),
      `SELECT 1 FROM (${joined(9, "a, b, c")}) JOIN (${joined(9, "a, b, c")}) JOIN (${joined(9, "a, b, c")})`,
    ]
  ) {
    assertEquals(expansion.refusal(sql)?.failure.kind, "too_big", sql);
  }
  for (
    const sql of [
      `SELECT 1 FROM t x0 ${keys.join(" ")}`,
      joined(16, "a, b"),
      `SELECT 1 FROM t JOIN t u WHERE ${Array(1000).fill("t.a = 1 AND u.b = 2").join(" OR ")}`,
      Array(30).fill(joined(4, "a, b")).join(" UNION ALL "),
      "SELECT * FROM v WHERE a = 1 AND b > 2",
      "SELECT * FROM p JOIN t USING (a) JOIN t u USING (b) JOIN t w USING (c)",
    ]
  ) {
    assertEquals(expansion.refusal(sql), null, sql);
  }
  const withTrigger = expansion.copy();
  withTrigger.add(`CREATE TRIGGER g AFTER INSERT ON t BEGIN ${wide}; END`);
  assertEquals(withTrigger.refusal("INSERT INTO t VALUES (1, 2, 3)", 0)?.failure.kind, "too_big");
  assertEquals(withTrigger.copy().refusal("INSERT INTO t VALUES (1, 2, 3)", 0)?.failure.kind, "too_big");
  assertEquals(withTrigger.refusal("SELECT a FROM t", 1), null);
});
