// Rows that a change of the schema writes: counted as sqld's own counter does, billed, and seen by X-Max-Affected.
import { assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { heldBy, withWrites } from "../writes/write_world.ts";

const { run, test } = oneStore();
Deno.test("schema rows", run);

const NUMBERS =
  "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 40) SELECT n AS a, n * 2 AS b FROM c";
const SETUP = [
  "CREATE TABLE t (a INTEGER, b INTEGER, doubled AS (a * 2), kept AS (a * 3) STORED)",
  `INSERT INTO t (a, b) ${NUMBERS}`,
] as const;

/** One after the other, with the rows that each writes. */
const STATEMENTS: readonly (readonly [sql: string, rows: number])[] = [
  [`CREATE TABLE copy AS ${NUMBERS}`, 40],
  ["CREATE TABLE IF NOT EXISTS copy AS SELECT 1", 0],
  ['CREATE TABLE IF NOT EXISTS main."a ""b" AS SELECT a FROM t WHERE a <= 7;', 7],
  ["CREATE TABLE none AS SELECT a FROM t WHERE 0", 0],
  ["CREATE INDEX t_a ON t (a)", 40],
  ["CREATE INDEX IF NOT EXISTS t_a ON t (b)", 0],
  ["CREATE UNIQUE INDEX IF NOT EXISTS t_b ON t (b) WHERE (a > 30) AND b -- some\n;", 10],
  ["REINDEX t_b", 10],
  ["REINDEX t", 50],
  ["REINDEX", 50],
  ["CREATE TABLE plain (a UNIQUE, b)", 0],
  ["CREATE VIEW v AS SELECT a FROM t", 0],
  ["ALTER TABLE copy ADD COLUMN c DEFAULT 1", 0],
  ["ALTER TABLE copy RENAME COLUMN c TO d", 0],
  ["ALTER TABLE copy DROP COLUMN d", 40],
  ["ALTER TABLE t DROP COLUMN doubled", 0],
  ["ALTER TABLE t DROP COLUMN kept", 40],
  ["ALTER TABLE copy RENAME TO other", 0],
  ["DROP TABLE other", 0],
];

test("a change of the schema writes and bills the rows that it makes, one by one and in a batch", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...SETUP);
    for (const [sql, written] of STATEMENTS) {
      const { status, body } = await shop.query(sql);
      assertEquals([status, body.meta?.rowsWritten], [200, written], sql);
    }
    assertEquals(await rows("SELECT sum(rows_written) FROM _service_meta_audit"), [[40 + total(STATEMENTS)]]);
    await setup("DROP TABLE t", 'DROP TABLE "a ""b"', "DROP TABLE none", "DROP TABLE plain", "DROP VIEW v");
    await setup(...SETUP);
    for (const transaction of [false, true]) {
      const some = STATEMENTS.slice(0, transaction ? 0 : 7);
      const batch = await shop.batch(some.map(([sql]) => [sql]), { transaction });
      assertEquals(batch.body.meta?.rowsWritten ?? 0, total(some), batch.text);
    }
  });
});

function total(statements: readonly (readonly [sql: string, rows: number])[]): number {
  return statements.reduce((sum, [, rows]) => sum + rows, 0);
}

test("X-Max-Affected undoes a change of the schema that writes or drops more rows", async () => {
  await withWrites(async ({ post, rows, setup }) => {
    await setup(...SETUP, "CREATE VIRTUAL TABLE f USING fts5(x)", "INSERT INTO f VALUES ('a'), ('b'), ('c')");
    for (
      const [sql, affected] of [
        [`CREATE TABLE copy AS ${NUMBERS}`, 40],
        ["CREATE INDEX t_a ON t (a)", 40],
        ["ALTER TABLE t DROP COLUMN b", 40],
        ["DROP TABLE t", 40],
        ["DROP TABLE IF EXISTS t", 40],
        ["DROP TABLE f", 3],
      ] as const
    ) {
      const call = (max: number) => post("query", { sql }, { headers: { "X-Max-Affected": String(max) } });
      const answer = await call(affected - 1);
      assertEquals([answer.status, answer.body.code, JSON.parse(answer.text).affected], [
        400,
        "too_many_affected",
        affected,
      ]);
      const dry = await post("query", { sql }, { headers: { "X-Dry-Run": "1" } });
      const both = await post("query", { sql }, {
        headers: { "X-Dry-Run": "1", "X-Max-Affected": String(affected - 1) },
      });
      assertEquals([both.status, both.body.code], [400, "too_many_affected"], sql);
      assertEquals([dry.status, affectedOf(dry.text)], [200, [null, affected]], `${sql}: ${dry.text}`);
    }
    const allowed = await post("query", { sql: "DROP TABLE t" }, { headers: { "X-Max-Affected": "40" } });
    assertEquals([allowed.status, allowed.body.meta?.rowsWritten], [200, 0], allowed.text);
    const missing = await post("query", { sql: "DROP TABLE IF EXISTS t" }, {
      headers: { "X-Max-Affected": "0" },
    });
    assertEquals(missing.status, 200, missing.text);
    assertEquals(await rows("SELECT count(*) FROM f"), [[3]]);
  });
});

function affectedOf(text: string): unknown[] {
  const { data } = JSON.parse(text);
  const [one] = Array.isArray(data) ? data : [data];
  return [one.estimatedAffectedRows, one.cascadedRows];
}

test("what was approved of a change of the schema is bound to the rows that it writes", async () => {
  await withWrites(async (world) => {
    await world.setup(...SETUP);
    await world.rule({ tableGlob: "copy", effect: "require_approval" });
    const proposal = await world.propose("CREATE TABLE copy AS SELECT a FROM t");
    assertEquals([proposal.action, proposal.cascadedRows], ["schema", 40]);
    const held = await world.apply(proposal.executionToken);
    const { approvalToken, id } = heldBy(held);
    await world.decide(id, "approve");
    await world.setup("INSERT INTO t (a) VALUES (99)");
    const changed = await world.redeem(approvalToken);
    assertEquals([changed.status, changed.body.code], [409, "effect_changed"], changed.text);
    assertEquals(await world.rows("SELECT name FROM sqlite_schema WHERE name = 'copy'"), []);
  });
});
