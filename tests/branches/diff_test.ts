// What a diff says of a branch: its schema as statements that make the trunk's the same, its rows table by table.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type BranchWorld, withBranches } from "./branch_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what a diff says of a branch", run);

const SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE '\\_service%' ESCAPE '\\' " +
  "AND tbl_name NOT LIKE '\\_service%' ESCAPE '\\' AND sql IS NOT NULL ORDER BY type, name";

/** Runs `changes` on a branch, the diff's statements on the trunk, and compares the schemas. */
async function carriesOver(
  world: BranchWorld,
  changes: readonly string[],
): Promise<readonly string[]> {
  await world.claim({ ref: "schema" });
  for (const sql of changes) await world.branch("schema", sql);
  const { schema } = await world.diff("schema");
  const answer = await world.shop.batch(schema.statements.map((sql) => [sql] as const), {
    transaction: true,
  });
  assertEquals(answer.status, 200, `${answer.text} ${JSON.stringify(schema.statements)}`);
  assertEquals(await world.trunk(SCHEMA), await world.branch("schema", SCHEMA));
  return schema.statements;
}

test("a diff of an untouched branch is empty", async () => {
  await withBranches(async (world) => {
    const { ref } = await world.claim();
    const diff = await world.diff(ref);
    assertEquals(diff.schema, { statements: [], changes: [] });
    assertEquals(diff.tables, []);
  });
});

test("a diff, a rehearsal and a restore under rules read tables of as many columns as there may be, with and without a key", async () => {
  await withBranches(async (world) => {
    const { shop, app } = world;
    const columns = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`).join();
    for (const sql of [`wide (${columns(1000)})`, `keyed (id INTEGER PRIMARY KEY, ${columns(999)})`]) {
      await world.trunk(`CREATE TABLE ${sql}`);
    }
    for (const table of ["wide", "keyed"]) await world.trunk(`INSERT INTO ${table} (c1) VALUES (1), (2)`);
    const path = shop.database.path;
    const post = (operation: string, body: unknown) =>
      app.request("POST", `${path}/${operation}`, { token: shop.token, body });
    assertEquals((await post("snapshots", { label: "two" })).status, 201);
    await world.claim();
    for (const table of ["wide", "keyed"]) {
      await world.branch("pr-1", `UPDATE ${table} SET c1 = 3 WHERE c1 = 1`);
    }
    const { tables } = await world.diff("pr-1");
    const changes = tables.map(({ table, added, removed, changed }) => [table, added, removed, changed]);
    assertEquals(changes, [["keyed", 0, 0, 1], ["wide", 1, 1, 0]]);
    const rehearsed = await post("migrations", {
      dryRun: true,
      files: [{ name: "1.sql", sql: "DELETE FROM wide WHERE c1 = 2" }],
    });
    assertEquals(rehearsed.status, 200, rehearsed.text);
    const rules = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const rule = { tableGlob: "wide", effect: "require_approval" };
    assertEquals((await app.request("POST", rules, { token: shop.token, body: rule })).status, 201);
    assertEquals((await post("restore", { snapshot: "two" })).status, 200);
    await world.trunk("INSERT INTO keyed (c1) VALUES (3)");
    assertEquals((await post("restore", { snapshot: "two" })).status, 200);
  });
});

test("a diff counts and shows rows added, removed and changed with both sides", async () => {
  await withBranches(async (world) => {
    await world.claim();
    await world.branch("pr-1", "INSERT INTO items VALUES (4, 'nib', NULL)");
    await world.branch("pr-1", "DELETE FROM items WHERE id = 1");
    await world.branch("pr-1", "UPDATE items SET price = 21 WHERE id = 2");
    await world.trunk("UPDATE items SET price = 99");
    const { tables } = await world.diff("pr-1");
    const digest = tables[0]?.digest ?? "";
    assertMatch(digest, /^[0-9a-f]{64}$/);
    assertEquals(tables, [{
      table: "items",
      columns: ["id", "name", "price"],
      primaryKey: ["id"],
      added: 1,
      removed: 1,
      changed: 1,
      rows: {
        added: [[4, "nib", null]],
        removed: [[1, "pen", 10]],
        changed: [{ before: [2, "ink", 20], after: [2, "ink", 21] }],
      },
      digest,
      obstacle: null,
    }]);
  });
});

test("a table's digest tells other changes apart, beyond those that a diff shows and by type", async () => {
  await withBranches(async (world) => {
    await world.claim();
    const digest = async (sql: string) => {
      await world.branch("pr-1", sql);
      return (await world.diff("pr-1")).tables[0]?.digest;
    };
    const numbers = "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1009)";
    const first = await digest(`${numbers} INSERT INTO items SELECT i, 'x', 0 FROM n`);
    const seen = new Set([first, await digest("UPDATE items SET price = 1 WHERE id = 1000")]);
    seen.add(await digest("UPDATE items SET name = x'78' WHERE id = 1000"));
    seen.add(await digest("UPDATE items SET name = NULL WHERE id = 1000"));
    seen.add(await digest("UPDATE items SET name = 'null' WHERE id = 1000"));
    assertEquals(seen.size, 5);
    assertEquals(await digest("UPDATE items SET name = 'x', price = 0 WHERE id = 1000"), first);
  });
});

test("a diff shows at most a hundred rows of a kind and counts all", async () => {
  await withBranches(async (world) => {
    await world.claim();
    await world.branch(
      "pr-1",
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2509) " +
        "INSERT INTO items SELECT i, 'x', i FROM n",
    );
    const [table] = (await world.diff("pr-1")).tables;
    assertEquals([table?.added, table?.rows.added.length], [2500, 100]);
  });
});

test("a diff finds rows by every form of key: text, several columns, without rowid, and none", async () => {
  await withBranches(async (world) => {
    await world.trunk("CREATE TABLE words (word TEXT PRIMARY KEY, n INTEGER)");
    await world.trunk("CREATE TABLE pairs (a INTEGER, b TEXT, n REAL, PRIMARY KEY (a, b)) WITHOUT ROWID");
    await world.trunk("CREATE TABLE notes (text TEXT)");
    await world.trunk("INSERT INTO words VALUES ('a', 1), ('b', 2), ('c', 9007199254740993)");
    await world.trunk(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) " +
        "INSERT INTO pairs SELECT i, 'k' || i, i FROM n",
    );
    await world.trunk("INSERT INTO notes VALUES ('one'), ('one'), ('two')");
    await world.claim();
    for (
      const sql of [
        "DELETE FROM words WHERE word = 'a'",
        "INSERT INTO words VALUES ('a', 5), ('d', 4)",
        "UPDATE words SET n = 9007199254740994 WHERE word = 'c'",
        "UPDATE pairs SET n = 0 WHERE a IN (7, 2999)",
        "DELETE FROM pairs WHERE a = 1500",
        "INSERT INTO pairs VALUES (0, 'first', 1.5), (1500, 'other', NULL), (9999, 'last', 1)",
        "DELETE FROM notes WHERE rowid = 1",
        "INSERT INTO notes VALUES ('three')",
      ]
    ) await world.branch("pr-1", sql);
    const tables = (await world.diff("pr-1")).tables;
    const counts = tables.map((one) => [one.table, one.added, one.removed, one.changed, one.primaryKey]);
    assertEquals(counts, [
      ["notes", 1, 1, 0, []],
      ["pairs", 3, 1, 2, ["a", "b"]],
      ["words", 1, 0, 2, ["word"]],
    ]);
    const changed = [...tables[2]?.rows.changed ?? []];
    assertEquals(changed.sort((a, b) => String(a.before[0]) < String(b.before[0]) ? -1 : 1), [
      { before: ["a", 1], after: ["a", 5] },
      { before: ["c", "9007199254740993"], after: ["c", "9007199254740994"] },
    ]);
    assert(/no primary key; undo in the branch/.test(tables[0]?.obstacle ?? ""));
  });
});

test("a diff's statements carry over new, dropped and changed tables, indexes, views and triggers", async () => {
  await withBranches(async (world) => {
    await world.trunk("CREATE TABLE old (a)");
    await world.trunk("CREATE INDEX by_name ON items (name)");
    await world.trunk("CREATE VIEW cheap AS SELECT * FROM items WHERE price < 15");
    await carriesOver(world, [
      'CREATE TABLE orders (id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES items (id), "odd ""name" TEXT)',
      "CREATE INDEX by_item ON orders (item_id)",
      "DROP TABLE old",
      "DROP INDEX by_name",
      "CREATE INDEX by_name ON items (name, price)",
      "DROP VIEW cheap",
      "CREATE VIEW cheap AS SELECT id, name FROM items WHERE price < 25",
      "CREATE TRIGGER count_up AFTER INSERT ON orders BEGIN UPDATE items SET price = price + 1; END",
      "PRAGMA user_version = 7",
    ]);
    assertEquals(await world.trunk("PRAGMA user_version"), [[7]]);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
  });
});

test("a diff's statements add columns, rename columns and tables, and keep the trunk's rows", async () => {
  await withBranches(async (world) => {
    await world.trunk("CREATE TABLE lines (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id))");
    await world.trunk("CREATE VIEW names AS SELECT name FROM items");
    await world.trunk("INSERT INTO lines VALUES (1, 1), (2, 3)");
    const statements = await carriesOver(world, [
      "ALTER TABLE items ADD COLUMN colour TEXT DEFAULT 'a, b'",
      "ALTER TABLE items ADD COLUMN weight REAL NOT NULL DEFAULT 1.5",
      "ALTER TABLE items RENAME COLUMN price TO cents",
      "ALTER TABLE items RENAME TO goods",
    ]);
    assert(!statements.some((sql) => sql.startsWith("DROP TABLE")), statements.join(";\n"));
    assertEquals(await world.trunk("SELECT id, name, cents, colour, weight FROM goods WHERE id = 2"), [
      [2, "ink", 20, "a, b", 1.5],
    ]);
    assertEquals(await world.trunk("SELECT count(*) FROM lines JOIN goods ON goods.id = item"), [[2]]);
  });
});

test("a column that was dropped and another that was added are no rename: the old values do not come back", async () => {
  await withBranches(async (world) => {
    const statements = await carriesOver(world, [
      "ALTER TABLE items DROP COLUMN price",
      "ALTER TABLE items ADD COLUMN stock INTEGER",
    ]);
    assert(!statements.some((sql) => sql.includes("RENAME")), statements.join(";\n"));
    assertEquals(await world.trunk("SELECT id, name, stock FROM items ORDER BY id"), [
      [1, "pen", null],
      [2, "ink", null],
      [3, "cap", null],
    ]);
  });
});

test("a column that was renamed while another was dropped keeps its values", async () => {
  await withBranches(async (world) => {
    await carriesOver(world, [
      "ALTER TABLE items RENAME COLUMN name TO title",
      "ALTER TABLE items DROP COLUMN price",
    ]);
    assertEquals(await world.trunk("SELECT id, title FROM items ORDER BY id"), [[1, "pen"], [2, "ink"], [
      3,
      "cap",
    ]]);
  });
});

test("a diff's statements make a table anew where it cannot be altered, around its rows", async () => {
  await withBranches(async (world) => {
    await world.trunk(
      "CREATE TABLE lines (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items ON DELETE CASCADE)",
    );
    await world.trunk("CREATE INDEX by_price ON items (price)");
    await world.trunk("CREATE VIEW names AS SELECT name FROM items");
    await world.trunk("CREATE TRIGGER seen AFTER UPDATE ON items BEGIN SELECT 1; END");
    await world.trunk("INSERT INTO lines VALUES (1, 1), (2, 3)");
    await carriesOver(world, [
      "CREATE TABLE next (id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name <> ''), price TEXT UNIQUE)",
      "DROP VIEW names",
      "DROP TRIGGER seen",
      "INSERT INTO next SELECT * FROM items",
      "ALTER TABLE lines RENAME TO kept",
      "DROP TABLE kept",
      "DROP TABLE items",
      "ALTER TABLE next RENAME TO items",
      "CREATE TABLE lines (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items ON DELETE CASCADE)",
      "CREATE VIEW names AS SELECT name FROM items",
      "CREATE INDEX by_price ON items (price)",
    ]);
    assertEquals(await world.trunk("SELECT id, name, price FROM items ORDER BY id"), [
      [1, "pen", "10"],
      [2, "ink", "20"],
      [3, "cap", "30"],
    ]);
    assertEquals(await world.trunk("SELECT id, item FROM lines"), [[1, 1], [2, 3]]);
  });
});

test("a full-text table is compared by its rows, and an index over another table not at all", async () => {
  await withBranches(async (world) => {
    await world.trunk("CREATE VIRTUAL TABLE pages USING fts5 (title, body)");
    await world.trunk("CREATE VIRTUAL TABLE found USING fts5 (name, content='items', content_rowid='id')");
    await world.trunk("INSERT INTO pages (rowid, title, body) VALUES (1, 'a', 'one'), (2, 'b', 'two')");
    await world.claim();
    await world.branch("pr-1", "UPDATE pages SET body = 'three' WHERE rowid = 2");
    await world.branch("pr-1", "INSERT INTO found (rowid, name) VALUES (1, 'pen')");
    const diff = await world.diff("pr-1");
    assertEquals(diff.schema.statements, []);
    assertEquals(diff.tables.map((one) => [one.table, one.changed, one.added, one.removed]), [[
      "pages",
      1,
      0,
      0,
    ]]);
  });
});

test("a diff is for whoever reaches the branch or administers the trunk", async () => {
  await withBranches(async (world) => {
    const claim = await world.claim();
    await world.claim({ ref: "pr-2" });
    assertEquals((await world.call("GET", "branches/pr-1/diff", undefined, claim.token)).status, 200);
    assertEquals((await world.call("GET", "branches/pr-2/diff", undefined, claim.token)).status, 404);
    const scoped = await world.shop.mint("read", {
      scopes: [{ databaseId: world.shop.database.id, branchRef: "main", role: "read" }],
    });
    const refused = await world.call("GET", "branches/pr-1/diff", undefined, scoped.token);
    assertEquals([refused.status, refused.body.code], [403, "out_of_scope"]);
  });
});
