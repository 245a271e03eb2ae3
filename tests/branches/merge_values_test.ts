// Merges of every kind of value and of random changes.
import { assertEquals } from "@std/assert";
import { reportOf } from "./branch_world.ts";
import { mergeBranch, onBranch, withBranch } from "./merge_world.ts";

Deno.test("every kind of value comes over as it is", async () => {
  await withBranch(async (world) => {
    const values = "id, typeof(v), quote(v) FROM vals ORDER BY id";
    await onBranch(
      world,
      "INSERT INTO vals VALUES (1, 9223372036854775807), (2, -9223372036854775808), (3, 1.0), (4, 9e999), (5, NULL), " +
        "(6, x'00ff'), (7, ''), (8, 'ä😀'), (9, 0.1), (10, '0x10')",
    );
    assertEquals((await mergeBranch(world)).status, 200);
    assertEquals(await world.trunk(`SELECT ${values}`), await world.branch("pr-1", `SELECT ${values}`));
  }, ["CREATE TABLE vals (id INTEGER PRIMARY KEY, v)"]);
});

Deno.test("rows of megabytes, more of them than a merge keeps in memory, are compared and merged whole", async () => {
  await withBranch(async (world) => {
    const rows = "SELECT id, typeof(v), length(v) FROM big ORDER BY id";
    await onBranch(
      world,
      "UPDATE big SET v = zeroblob(length(v) + 1) WHERE id < 7",
      "DELETE FROM big WHERE id = 7",
      "INSERT INTO big VALUES (9, zeroblob(2000000)), (10, 'short')",
    );
    const [table] = (await world.diff("pr-1")).tables;
    assertEquals([table?.added, table?.removed, table?.changed], [2, 1, 7]);
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 10], answer.text.slice(0, 500));
    assertEquals(await world.trunk(rows), await world.branch("pr-1", rows));
    assertEquals(reportOf(await mergeBranch(world)).rowsWritten, 0);
  }, [
    "CREATE TABLE big (id INTEGER PRIMARY KEY, v)",
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7) INSERT INTO big SELECT i, zeroblob(1500000 + i) FROM n",
  ]);
});

Deno.test("a text with U+0000, which would be cut, is refused instead", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET name = 'a' || char(0) || 'b' WHERE id = 1");
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 2");
    const answer = await mergeBranch(world);
    assertEquals([answer.status, answer.body.code], [400, "merge_refused"], answer.text);
    assertEquals(await world.trunk("SELECT price FROM items WHERE id = 2"), [[20]]);
  });
});

Deno.test("merging random changes into a trunk that nobody changed makes its rows the branch's", async () => {
  await withBranch(async (world) => {
    let seed = 20261121;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return (seed >> 8) % below;
    };
    const value = () =>
      ["NULL", "''", "2.5", "x'00ff'", "'k'", `'u${random(30)}'`, String(random(30))][random(7)];
    const change = () => {
      const table = ["numbers", "words", "pairs"][random(3)];
      const where = `a ${["<", ">", "="][random(3)]} ${value()} AND u NOT LIKE 'u${random(4)}%'`;
      return [
        `INSERT OR IGNORE INTO ${table} VALUES (${random(300)}, 'k${random(9)}', ${value()}, ${value()})`,
        `INSERT OR IGNORE INTO ${table} VALUES (${random(300)}, 'K${random(9)}', ${value()}, ${value()})`,
        `DELETE FROM ${table} WHERE ${where}`,
        `UPDATE OR IGNORE ${table} SET u = ${value()} WHERE ${where}`,
        `UPDATE OR IGNORE ${table} SET n = n + 1, y = upper(y) WHERE ${where}`,
        `UPDATE OR IGNORE ${table} SET a = ${value()} WHERE ${where}`,
      ][random(6)] ?? "";
    };
    const path = `${world.shop.database.path}@pr-1/batch`;
    for (let round = 0; round < 6; round++) {
      const statements = Array.from({ length: 60 }, () => ({ sql: change() }));
      const answer = await world.app.request("POST", path, { token: world.shop.token, body: { statements } });
      assertEquals(answer.status, 200, answer.text);
      assertEquals((await mergeBranch(world)).status, 200);
      for (const table of ["numbers", "words", "pairs"]) {
        const rows = `SELECT quote(n), quote(y), quote(a), quote(u) FROM ${table} ORDER BY 1, 2, 3, 4`;
        assertEquals(await world.trunk(rows), await world.branch("pr-1", rows), table);
      }
      assertEquals(reportOf(await mergeBranch(world)).rowsWritten, 0);
      await world.claim();
    }
  }, [
    "CREATE TABLE numbers (n INTEGER PRIMARY KEY, y TEXT, a, u UNIQUE)",
    "CREATE TABLE words (n INTEGER NOT NULL, y TEXT COLLATE NOCASE NOT NULL, a, u UNIQUE, PRIMARY KEY (y, n))",
    "CREATE TABLE pairs (n INTEGER, y TEXT, a, u UNIQUE, PRIMARY KEY (n DESC, y)) WITHOUT ROWID",
  ]);
});
