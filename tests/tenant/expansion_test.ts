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
