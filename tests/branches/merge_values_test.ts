// Merges of every kind of value and of random changes.
import { assertEquals, assertMatch } from "@std/assert";
import { reportOf } from "./branch_world.ts";
import { mergeBranch, onBranch, withBranch } from "./merge_world.ts";

/** Texts that a reader of text cuts, or of which it makes others. */
const odd = (hex: string) => `CAST(x'${hex}' AS TEXT)`;

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

Deno.test("a table of megabytes that only the branch has, and texts of megabytes that are no UTF-8, are compared whole", async () => {
  await withBranch(async (world) => {
    const many =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO made SELECT i, zeroblob(i * 100000) FROM n";
    await onBranch(
      world,
      "CREATE TABLE made (id INTEGER PRIMARY KEY, v)",
      many,
      "UPDATE big SET w = w || 'x' WHERE id < 3",
    );
    const counts = (await world.diff("pr-1")).tables.map((
      { table, added, changed },
    ) => [table, added, changed]);
    assertEquals(counts, [["big", 0, 2], ["made", 20, 0]]);
    assertEquals((await mergeBranch(world, { mode: "schema" })).status, 200);
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 22], answer.text.slice(0, 500));
    const rows =
      "SELECT id, length(v), hex(w) FROM big UNION ALL SELECT id, length(v), '' FROM made ORDER BY 1, 2";
    assertEquals(await world.trunk(rows), await world.branch("pr-1", rows));
  }, [
    "CREATE TABLE big (id INTEGER PRIMARY KEY, v TEXT, w TEXT)",
    `INSERT INTO big VALUES (1, printf('%.4000000c', 'a'), ${
      odd("61e9")
    }), (2, printf('%.4000000c', 'b'), ''), (3, printf('%.4000000c', 'c'), '')`,
  ]);
});

Deno.test("rows that have grown in the trunk are merged with small changes of the branch, many at once", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE t SET w = 'branch'");
    await world.trunk("UPDATE t SET v = printf('%.60000c', 'a')");
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 300], answer.text.slice(0, 500));
    const sums = "SELECT count(*), sum(length(v)) FROM t WHERE w = 'branch'";
    assertEquals(await world.trunk(sums), [[300, 18_000_000]]);
  }, [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w TEXT)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO t SELECT i, '', '' FROM n",
  ]);
});

Deno.test("a renamed column of long texts is known by how they begin", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "ALTER TABLE t RENAME COLUMN v TO w");
    const { schema, tables } = await world.diff("pr-1");
    assertEquals([schema.statements.length, tables.length], [1, 0], schema.statements.join());
  }, [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450) INSERT INTO t SELECT i, printf('%.30000c', 'a') FROM n",
  ]);
});

Deno.test("whatever tables and columns are called, none of their rows is missed", async () => {
  for (const [table, key] of [["lines", "line"], ["sizes", "size"], ["t", "line"]] as const) {
    await withBranch(async (world) => {
      await onBranch(
        world,
        `UPDATE ${table} SET v = 'new' WHERE ${key} % 10 = 7`,
        `DELETE FROM ${table} WHERE ${key} = 50`,
      );
      const [found] = (await world.diff("pr-1")).tables;
      assertEquals([found?.added, found?.removed, found?.changed], [0, 1, 30]);
      assertEquals(reportOf(await mergeBranch(world)).rowsWritten, 31);
    }, [
      `CREATE TABLE ${table} (${key} INTEGER PRIMARY KEY, v TEXT) WITHOUT ROWID`,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO ${table} SELECT i, 'v' FROM n`,
    ]);
  }
});

Deno.test("texts with U+0000, and with bytes that are no UTF-8, are compared and merged as they are stored", async () => {
  await withBranch(async (world) => {
    const rows = "SELECT hex(k), n, typeof(k), typeof(v), hex(v) FROM t ORDER BY k, n";
    await onBranch(
      world,
      `UPDATE t SET v = ${odd("4a6f73e8")} WHERE n = 1`,
      `UPDATE t SET v = ${odd("610063")} WHERE n = 2`,
      "UPDATE t SET v = x'6100' WHERE n = 3",
      `UPDATE t SET n = 40 WHERE k = ${odd("61e9")} AND n = 4`,
      `DELETE FROM t WHERE k = ${odd("61e8")} AND n = 5`,
      `INSERT INTO t VALUES (${odd("6100")}, 6, '\ufffd'), (${odd("61")}, 7, ${odd("62e9")})`,
    );
    const [table] = (await world.diff("pr-1")).tables;
    assertEquals([table?.added, table?.removed, table?.changed], [3, 2, 3]);
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 8], answer.text);
    assertEquals(await world.trunk(rows), await world.branch("pr-1", rows));
    assertEquals(reportOf(await mergeBranch(world)).rowsWritten, 0);
  }, [
    "CREATE TABLE t (k TEXT NOT NULL, n INTEGER NOT NULL, v, PRIMARY KEY (k, n)) WITHOUT ROWID",
    `INSERT INTO t VALUES ('a', 1, ${odd("4a6f73e9")}), ('a', 2, ${odd("610062")}), ('a', 3, ${
      odd("6100")
    }), ` +
    `(${odd("61e9")}, 4, NULL), (${odd("61e8")}, 4, NULL), (${odd("61e8")}, 5, NULL), ('b', 8, '\ufffd')`,
  ]);
});

Deno.test("a text of the trunk that only its bytes tell from the ancestor's is a conflict", async () => {
  await withBranch(async (world) => {
    await world.trunk(`UPDATE t SET v = ${odd("61e8")}`);
    await onBranch(world, "UPDATE t SET v = 'branch'");
    const answer = await mergeBranch(world);
    assertEquals([answer.status, answer.body.code], [409, "merge_conflict"], answer.text);
    assertEquals(await world.trunk("SELECT hex(v) FROM t"), [["61E8"]]);
  }, ["CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", `INSERT INTO t VALUES (1, ${odd("61e9")})`]);
});

Deno.test("texts that only the trunk has, and that end within a character, keep their bytes beside what is merged", async () => {
  await withBranch(async (world) => {
    await world.trunk(`UPDATE t SET v = ${odd("4a6f73e9")} WHERE id = 1`);
    await world.trunk(`UPDATE t SET v = ${odd("6100")} WHERE id = 2`);
    await onBranch(world, "UPDATE t SET w = 'branch'");
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 2], answer.text);
    assertEquals(await world.trunk("SELECT hex(v), w FROM t ORDER BY id"), [
      ["4A6F73E9", "branch"],
      ["6100", "branch"],
    ]);
  }, [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w TEXT)",
    "INSERT INTO t VALUES (1, 'a', ''), (2, 'b', '')",
  ]);
});

Deno.test("a row of one side whose target the other has removed: the answer says what helps, which no choice does", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO c VALUES (1, 1)");
    await world.trunk("DELETE FROM p");
    for (const onConflict of ["abort", "theirs", "ours"] as const) {
      const answer = await mergeBranch(world, { onConflict });
      assertEquals([answer.status, answer.body.code], [409, "merge_conflict"]);
      assertMatch(answer.body.error ?? "", /^Bring back the rows that others refer to/);
    }
  }, [
    "CREATE TABLE p (id INTEGER PRIMARY KEY)",
    "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p)",
    "INSERT INTO p VALUES (1)",
  ]);
});

Deno.test("a changed row with NULL in its primary key is an obstacle, in the diff and in the report", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO t VALUES (NULL, 1)");
    const obstacle =
      "A row has NULL in its primary key; give it a value where it was made, in the branch or in the trunk";
    assertEquals((await world.diff("pr-1")).tables.map((one) => one.obstacle), [obstacle]);
    const answer = await mergeBranch(world);
    assertEquals([answer.status, answer.body.code, answer.body.error], [
      400,
      "merge_refused",
      `${obstacle} (t)`,
    ]);
    assertEquals(reportOf(answer).tables.map((one) => one.obstacle), [obstacle]);
  }, ["CREATE TABLE t (k TEXT PRIMARY KEY, v)"]);
});

Deno.test("merging random changes into a trunk that nobody changed makes its rows the branch's", async () => {
  await withBranch(async (world) => {
    let seed = 20261121;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return (seed >> 8) % below;
    };
    const value = () =>
      ["NULL", "''", "2.5", "x'00ff'", "'k'", `'u${random(30)}'`, String(random(30)), oddValue()][random(8)];
    const oddValue = () => odd(`61${["00", "0062", "e9", "e8", "efbfbd", "eda080"][random(6)]}`);
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
        const rows =
          `SELECT quote(n), quote(y), typeof(a), hex(a), typeof(u), hex(u) FROM ${table} ORDER BY 1, 2, 3, 4, 5, 6`;
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

Deno.test("a key that changes only in what its collation passes over is the same row, also where the trunk has changed it", async () => {
  const tables = ["words", "wide", "padded"];
  await withBranch(async (world) => {
    for (const table of tables) {
      await onBranch(
        world,
        `UPDATE ${table} SET k = '${table === "padded" ? "ada  " : "ADA"}', a = 'branch' WHERE n = 1`,
      );
      await world.trunk(`UPDATE ${table} SET b = 'trunk' WHERE n = 1`);
    }
    const { tables: differing } = await world.diff("pr-1");
    assertEquals(
      differing.map(({ table, added, removed, changed }) => [table, added, removed, changed]),
      tables.toSorted().map((table) => [table, 0, 0, 1]),
    );
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 3], answer.text);
    for (const table of tables) {
      assertEquals(await world.trunk(`SELECT k, n, a, b FROM ${table} ORDER BY n`), [
        [table === "padded" ? "ada  " : "ADA", 1, "branch", "trunk"],
        ["bob", 2, null, null],
      ]);
    }
    assertEquals(reportOf(await mergeBranch(world)).rowsWritten, 0);
  }, [
    "CREATE TABLE words (k TEXT PRIMARY KEY COLLATE nocase, n, a, b)",
    "CREATE TABLE wide (k TEXT COLLATE NOCASE, n INTEGER, a, b, PRIMARY KEY (n, k)) WITHOUT ROWID",
    "CREATE TABLE padded (k TEXT PRIMARY KEY COLLATE RTRIM, n, a, b) WITHOUT ROWID",
    ...tables.map((table) => `INSERT INTO ${table} (k, n) VALUES ('ada', 1), ('bob', 2)`),
  ]);
});

Deno.test("a key with hundreds of thousands of spaces inside is compared as soon as any other", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE padded SET k = k || '  ', a = 'branch' WHERE n = 1");
    const { tables } = await world.diff("pr-1");
    assertEquals(tables.map(({ table, changed }) => [table, changed]), [["padded", 1]]);
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 1], answer.text.slice(0, 500));
    assertEquals(await world.trunk("SELECT length(k), a FROM padded"), [[1_000_004, "branch"]]);
  }, [
    "CREATE TABLE padded (k TEXT PRIMARY KEY COLLATE RTRIM, n, a) WITHOUT ROWID",
    "INSERT INTO padded (k, n) VALUES (printf('a%1000001s', 'b'), 1)",
  ]);
});

Deno.test("a key that is no row id, as an INTEGER PRIMARY KEY DESC, is merged like any other", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE falling SET id = 6 WHERE id = 5");
    const answer = await mergeBranch(world);
    assertEquals([answer.status, reportOf(answer).rowsWritten], [200, 2], answer.text);
    assertEquals(await world.trunk("SELECT id, a FROM falling ORDER BY id"), [[4, "four"], [6, "five"]]);
  }, [
    "CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, a)",
    "INSERT INTO falling VALUES (5, 'five'), (4, 'four')",
  ]);
});

Deno.test("a full-text table that leaves its row id no name says so", async () => {
  await withBranch(async (world) => {
    await onBranch(world, `INSERT INTO rowid ("_rowid_", oid) VALUES ('three', 'four')`);
    const refused = await mergeBranch(world);
    assertEquals(refused.body.code, "merge_refused", refused.text);
    assertMatch(refused.text, /leave no name for the rowid/);
    assertEquals((await world.diff("pr-1")).tables.map(({ table, added }) => [table, added]), [["rowid", 1]]);
  }, [
    "CREATE VIRTUAL TABLE rowid USING fts5(oid, _rowid_)",
    "INSERT INTO rowid (oid, _rowid_) VALUES ('one', 'two')",
  ]);
});

Deno.test("boxes are compared and merged by their id, however the module's name is written", async () => {
  const read = "SELECT * FROM places ORDER BY id";
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE places SET x1 = 7 WHERE id = 1",
      "DELETE FROM places WHERE id = 2",
      "INSERT INTO places VALUES (9, 1, 2)",
    );
    const [places] = (await world.diff("pr-1")).tables;
    assertEquals([places?.columns, places?.primaryKey], [["id", "x0", "x1"], ["id"]]);
    const merged = await mergeBranch(world);
    assertEquals([merged.status, reportOf(merged).rowsWritten], [200, 3], merged.text);
    assertEquals(await world.trunk(read), await world.branch("pr-1", read));
  }, [
    'CREATE VIRTUAL TABLE places USING/* boxes */"rtree"(id, x0, x1)',
    "INSERT INTO places VALUES (1, 0, 1), (2, 0, 1), (3, 0, 1)",
  ]);
});

Deno.test("tables and columns that are called as the row id are compared and merged as others", async () => {
  const reads = [
    "SELECT _rowid_, body FROM rowid ORDER BY 1",
    "SELECT rowid, oid, _rowid_ FROM named ORDER BY 1",
    "SELECT * FROM k ORDER BY 1",
    "SELECT * FROM w ORDER BY 1",
  ];
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE rowid SET body = 'uno' WHERE _rowid_ = 1",
      "DELETE FROM rowid WHERE _rowid_ = 2",
      "INSERT INTO rowid (_rowid_, body) VALUES (9, 'nine')",
      "UPDATE named SET oid = 'uno' WHERE rowid = 1",
      "ALTER TABLE k ADD COLUMN rowid INTEGER DEFAULT 7",
      "UPDATE k SET rowid = 77 WHERE id = 2",
      "UPDATE w SET v = 2 WHERE rowid = 'a'",
    );
    const counts = async () =>
      (await world.diff("pr-1")).tables.map(({ table, added, removed, changed }) => [
        ...[table, added, removed, changed],
      ]);
    const changed = [["k", 0, 0, 1], ["named", 0, 0, 1], ["rowid", 1, 1, 1], ["w", 0, 0, 1]];
    assertEquals(await counts(), changed);
    const refused = await mergeBranch(world);
    assertEquals(refused.body.error, "Merge the schema first; the trunk has no k.rowid", refused.text);
    assertEquals((await mergeBranch(world, { mode: "schema" })).status, 200);
    const merged = await mergeBranch(world);
    assertEquals([merged.status, reportOf(merged).rowsWritten], [200, 6], merged.text);
    for (const read of reads) assertEquals(await world.trunk(read), await world.branch("pr-1", read));
  }, [
    "CREATE VIRTUAL TABLE rowid USING fts5(body)",
    "INSERT INTO rowid (body) VALUES ('one'), ('two')",
    "CREATE VIRTUAL TABLE named USING fts5(oid, _rowid_)",
    "INSERT INTO named (oid, _rowid_) VALUES ('one', 'two')",
    "CREATE TABLE k (id INTEGER PRIMARY KEY, v)",
    "INSERT INTO k VALUES (1, 1), (2, 2)",
    "CREATE TABLE w (rowid TEXT, oid, v, PRIMARY KEY (oid, rowid)) WITHOUT ROWID",
    "INSERT INTO w VALUES ('a', 'b', 1)",
  ]);
});
