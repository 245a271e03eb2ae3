// Rows that a conflict removes are changes like any others: shown, bounded and measured by rules.
import { assertEquals } from "@std/assert";
import { heldBy, withWrites, type WriteWorld } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("rows that a write replaces", run);

const schema = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b UNIQUE, v)",
  "CREATE TABLE by_itself (id INTEGER PRIMARY KEY, a UNIQUE ON CONFLICT REPLACE)",
  "CREATE TABLE parents (id INTEGER PRIMARY KEY, a UNIQUE)",
  "CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents(id) ON DELETE CASCADE)",
  "CREATE TABLE logged (id INTEGER PRIMARY KEY, a UNIQUE)",
  "CREATE TABLE log (id INTEGER PRIMARY KEY, what)",
  "CREATE TRIGGER note AFTER INSERT ON logged BEGIN INSERT INTO log (what) VALUES (new.a); END",
  "CREATE VIEW seen AS SELECT id, a FROM logged",
  "CREATE TRIGGER through INSTEAD OF INSERT ON seen BEGIN INSERT INTO logged VALUES (new.id, new.a); END",
  "INSERT INTO t VALUES (1, 1, 1, 'x'), (2, 2, 2, 'y'), (3, 3, 3, 'z')",
  "INSERT INTO by_itself VALUES (1, 1), (2, 2)",
  "INSERT INTO parents VALUES (1, 1), (2, 2)",
  "INSERT INTO children VALUES (1, 1), (2, 1), (3, 2)",
  "INSERT INTO logged VALUES (1, 1), (2, 2)",
];

/** Statement, rows of its own, rows beside: those that it replaces, and what triggers and cascades do. */
const cases: readonly (readonly [sql: string, own: number, beside: number])[] = [
  ["INSERT OR REPLACE INTO t VALUES (9, 9, 9, 'new')", 1, 0],
  ["REPLACE INTO t VALUES (1, 1, 1, 'same')", 1, 1],
  ["REPLACE INTO t VALUES (1, 2, 3, 'all three')", 1, 3],
  ["INSERT OR REPLACE INTO t SELECT id + 10, a, b, v FROM t", 3, 3],
  ["REPLACE INTO t VALUES (7, 7, 7, ''), (8, 7, 8, ''), (9, 9, 8, '')", 3, 2],
  ["UPDATE OR REPLACE t SET a = 1 WHERE id = 3", 1, 1],
  ["UPDATE OR REPLACE t SET a = 5, b = 5", 3, 2],
  ["INSERT INTO by_itself VALUES (9, 1)", 1, 1],
  ["INSERT INTO by_itself VALUES (9, 9)", 1, 0],
  ["UPDATE by_itself SET a = 7", 2, 1],
  ["REPLACE INTO parents VALUES (1, 2)", 1, 2 + 3],
  ["INSERT OR REPLACE INTO logged VALUES (9, 1)", 1, 1 + 1],
  ["REPLACE INTO seen VALUES (1, 2)", 0, 1 + 1 + 2],
  ["INSERT INTO t VALUES (4, 4, 4, '') ON CONFLICT (id) DO UPDATE SET v = ''", 1, 0],
];

async function withRows(body: (world: WriteWorld) => Promise<void>): Promise<void> {
  await withWrites(async (world) => {
    await world.setup(...schema);
    await body(world);
  });
}

test("a proposal counts the rows that a conflict would remove, whatever form it has", async () => {
  await withRows(async ({ propose }) => {
    for (const [sql, own, beside] of cases) {
      const { estimatedAffectedRows, cascadedRows } = await propose(sql);
      assertEquals([estimatedAffectedRows, cascadedRows], [own, beside], sql);
    }
  });
});

test("X-Max-Affected counts what a run replaces exactly as a dry run does", async () => {
  await withRows(async ({ rows, shop }) => {
    const dump =
      "SELECT (SELECT json_group_array(json_array(id, a)) FROM t), (SELECT count(*) FROM children)";
    const before = await rows(dump);
    for (const [sql, own, beside] of cases) {
      for (const more of [[], [["INSERT INTO log (what) VALUES (1)"]]] as const) {
        const bounded = { headers: { "x-max-affected": String(own + beside + more.length - 1) } };
        const refused = await shop.batch([[sql], ...more], bounded);
        assertEquals(
          [refused.status, refused.body.code],
          [400, "too_many_affected"],
          `${sql}: ${refused.text}`,
        );
        assertEquals(JSON.parse(refused.text).affected, own + beside + more.length, sql);
      }
    }
    assertEquals(await rows(dump), before);
    const [[sql, own, beside] = ["", 0, 0]] = cases.slice(2);
    const enough = await shop.query(sql, [], { headers: { "x-max-affected": String(own + beside) } });
    assertEquals([enough.status, enough.body.meta?.rowsWritten], [200, own], enough.text);
    assertEquals(await rows("SELECT id, a, b FROM t"), [[1, 2, 3]]);
  });
});

test("a rule's number of rows counts what is replaced, when the write is held and when it is redeemed", async () => {
  await withRows(async ({ decide, redeem, rows, rule, shop }) => {
    await rule({ tableGlob: "t", effect: "require_approval", minRows: 4 });
    assertEquals((await shop.query("REPLACE INTO t VALUES (1, 1, 1, 'two rows')")).status, 200);
    const held = heldBy(await shop.query("REPLACE INTO t VALUES (1, 2, 3, 'four rows')"));
    await decide(held.id, "approve");
    await shop.query("DELETE FROM t WHERE id = 3");
    const changed = await redeem(held.approvalToken);
    assertEquals([changed.status, changed.body.code], [409, "effect_changed"], changed.text);
    assertEquals([JSON.parse(changed.text).approvedRows, JSON.parse(changed.text).affectedRows], [4, 3]);
    await decide(held.id, "approve", { look: 1 });
    assertEquals((await redeem(held.approvalToken)).status, 200);
    assertEquals(await rows("SELECT id, a, b FROM t"), [[1, 2, 3]]);
  });
});

test("in a batch each statement counts what it replaces itself", async () => {
  await withRows(async ({ shop }) => {
    const answer = await shop.batch([
      ["REPLACE INTO t VALUES (1, 2, 2, '')"],
      ["REPLACE INTO t VALUES (1, 3, 3, '')"],
      ["INSERT OR REPLACE INTO t VALUES (4, 4, 4, '')"],
    ], { headers: { "x-dry-run": "1" } });
    const beside: readonly { readonly cascadedRows: number }[] = JSON.parse(answer.text).data;
    assertEquals(beside.map(({ cascadedRows }) => cascadedRows), [2, 2, 0], answer.text);
  });
});
