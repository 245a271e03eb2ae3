// Merging a branch into its trunk: what comes over, what is a conflict, what is refused, and that it is all or nothing.
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { type BranchWorld, reportOf, withBranches } from "./branch_world.ts";

const ITEMS = "SELECT id, name, price FROM items ORDER BY id";

interface MergeOptions {
  readonly mode?: "schema" | "data";
  readonly onConflict?: "abort" | "theirs" | "ours";
  readonly dryRun?: boolean;
}

function merge({ call }: BranchWorld, options: MergeOptions = {}): Promise<ApiAnswer> {
  return call("POST", "branches/pr-1/merge", { mode: "data", onConflict: "abort", ...options });
}

async function withBranch(
  body: (world: BranchWorld) => Promise<void>,
  setup: readonly string[] = [],
): Promise<void> {
  await withBranches(async (world) => {
    for (const sql of setup) await world.trunk(sql);
    await world.claim();
    await body(world);
  });
}

async function onBranch(world: BranchWorld, ...statements: readonly string[]): Promise<void> {
  for (const sql of statements) await world.branch("pr-1", sql);
}

Deno.test("a merge of rows brings added, removed and changed rows over what the trunk changed elsewhere", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "INSERT INTO items VALUES (4, 'nib', 5)",
      "DELETE FROM items WHERE id = 1",
      "UPDATE items SET price = 21 WHERE id = 2",
    );
    await world.trunk("UPDATE items SET name = 'Ink' WHERE id = 2");
    await world.trunk("INSERT INTO items VALUES (5, 'own', 1)");
    const answer = await merge(world);
    assertEquals(answer.status, 200, answer.text);
    const report = reportOf(answer);
    assertEquals([report.rowsWritten, report.conflicts.count], [3, 0]);
    assertMatch(String(report.snapshot), /^auto-\d{8}T\d{9}Z-merge-pr_1$/);
    assertEquals(await world.trunk(ITEMS), [[2, "Ink", 21], [3, "cap", 30], [4, "nib", 5], [5, "own", 1]]);
    const again = reportOf(await merge(world));
    assertEquals([again.rowsWritten, again.conflicts.count, again.snapshot], [0, 0, null]);
  });
});

Deno.test("a merge leaves one log and one audit row in the trunk, and a snapshot that undoes it", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "DELETE FROM items");
    const { snapshot } = reportOf(await merge(world));
    const log = await world.trunk(
      "SELECT q.operation, q.status, q.rows_written, a.tables FROM _service_meta_audit a " +
        "JOIN _service_meta_query_log q ON q.id = a.query_log_id WHERE a.operation = 'merge'",
    );
    assertEquals(log, [["merge", "ok", 3, '["items"]']]);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[0]]);
    assertEquals((await world.call("POST", "restore", { snapshot })).status, 200);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
  });
});

Deno.test("a dry run reports what the merge would do and changes nothing", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 0", "CREATE TABLE extra (a INTEGER PRIMARY KEY)");
    await world.trunk("UPDATE items SET price = 99 WHERE id = 1");
    const before = await world.trunk(ITEMS);
    const snapshots = (await world.call("GET", "snapshots")).text;
    const rows = reportOf(await merge(world, { dryRun: true }));
    assertEquals([rows.conflicts.count, rows.tables[0]?.changed, rows.snapshot], [1, 3, null]);
    assertEquals(rows.tables, (await world.diff("pr-1")).tables);
    const schema = reportOf(await merge(world, { mode: "schema", dryRun: true }));
    assertEquals([schema.statementsRun, schema.snapshot], [1, null]);
    assertEquals(await world.trunk(ITEMS), before);
    assertEquals(await world.trunk("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), [[0]]);
    assertEquals((await world.call("GET", "snapshots")).text, snapshots);
    assertEquals(await world.trunk("SELECT count(*) FROM _service_meta_audit WHERE operation = 'merge'"), [[
      0,
    ]]);
  });
});

Deno.test("rows that both sides changed stop a merge with 409, the report of all of them, and nothing kept", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE items SET price = 11 WHERE id = 1",
      "UPDATE items SET price = 22 WHERE id = 2",
      "DELETE FROM items WHERE id = 3",
      "INSERT INTO items VALUES (4, 'theirs', 4), (5, 'free', 5)",
    );
    for (
      const sql of [
        "UPDATE items SET price = 12 WHERE id = 1",
        "DELETE FROM items WHERE id = 2",
        "UPDATE items SET price = 33 WHERE id = 3",
        "INSERT INTO items VALUES (4, 'ours', 4)",
      ]
    ) await world.trunk(sql);
    const before = await world.trunk(ITEMS);
    const answer = await merge(world);
    assertEquals([answer.status, answer.body.code], [409, "merge_conflict"], answer.text);
    const conflicts = [...reportOf(answer).conflicts.items].sort((a, b) =>
      Number(a.key[0]) - Number(b.key[0])
    );
    assertEquals(conflicts.map(({ key, ancestor, ours, theirs }) => ({ key, ancestor, ours, theirs })), [
      { key: [1], ancestor: [1, "pen", 10], ours: [1, "pen", 12], theirs: [1, "pen", 11] },
      { key: [2], ancestor: [2, "ink", 20], ours: null, theirs: [2, "ink", 22] },
      { key: [3], ancestor: [3, "cap", 30], ours: [3, "cap", 33], theirs: null },
      { key: [4], ancestor: null, ours: [4, "ours", 4], theirs: [4, "theirs", 4] },
    ]);
    assertEquals(await world.trunk(ITEMS), before);
    const ours = reportOf(await merge(world, { onConflict: "ours" }));
    assertEquals([ours.conflicts.count, ours.rowsWritten], [4, 1]);
    assertEquals(await world.trunk(ITEMS), [...before, [5, "free", 5]]);
  });
});

Deno.test("with theirs the branch's side of every conflict counts", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE items SET price = 11 WHERE id = 1",
      "UPDATE items SET price = 22 WHERE id = 2",
      "DELETE FROM items WHERE id = 3",
      "INSERT INTO items VALUES (4, 'theirs', 4)",
    );
    await world.trunk("UPDATE items SET price = 99 WHERE id <> 2");
    await world.trunk("DELETE FROM items WHERE id = 2");
    await world.trunk("INSERT INTO items VALUES (4, 'ours', 5)");
    assertEquals(reportOf(await merge(world, { onConflict: "theirs" })).conflicts.count, 4);
    assertEquals(await world.trunk(ITEMS), [[1, "pen", 11], [2, "ink", 22], [4, "theirs", 4]]);
  });
});

Deno.test("triggers and cascades do not happen a second time when their effects are merged", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "INSERT INTO items VALUES (4, 'nib', 5)",
      "DELETE FROM items WHERE id = 1",
    );
    assertEquals((await merge(world)).status, 200);
    assertEquals(await world.trunk("SELECT text FROM history ORDER BY id"), [["new 4"]]);
    assertEquals(await world.trunk("SELECT id FROM lines"), [[2]]);
    await world.trunk("INSERT INTO items VALUES (6, 'own', 1)");
    assertEquals(await world.trunk("SELECT text FROM history ORDER BY id"), [["new 4"], ["new 6"]]);
  }, [
    "CREATE TABLE history (id INTEGER PRIMARY KEY, text TEXT)",
    "CREATE TABLE lines (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id) ON DELETE CASCADE)",
    "INSERT INTO lines VALUES (1, 1), (2, 2)",
    "CREATE TRIGGER note AFTER INSERT ON items BEGIN INSERT INTO history (text) VALUES ('new ' || new.id); END",
  ]);
});

Deno.test("a merge never leaves a row that refers to nothing, whatever onConflict says", async () => {
  for (const onConflict of ["abort", "theirs", "ours"] as const) {
    await withBranch(async (world) => {
      await onBranch(world, "DELETE FROM items WHERE id = 3");
      await world.trunk("INSERT INTO lines VALUES (1, 3)");
      const answer = await merge(world, { onConflict });
      assertEquals([answer.status, answer.body.code], [409, "merge_conflict"]);
      assertEquals(reportOf(answer).conflicts.items.map(({ kind, table }) => [kind, table]), [
        ["foreign_key", "lines"],
      ]);
      assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
    }, ["CREATE TABLE lines (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id))"]);
  }
});

Deno.test("rows that exchange unique values are merged, and a value that the trunk took is a conflict", async () => {
  const setup = [
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE)",
    "INSERT INTO users VALUES (1, 'a'), (2, 'b'), (3, 'c')",
  ];
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE users SET email = 'x' WHERE id = 1",
      "UPDATE users SET email = 'a' WHERE id = 2",
      "UPDATE users SET email = 'b' WHERE id = 1",
    );
    assertEquals((await merge(world)).status, 200);
    assertEquals(await world.trunk("SELECT email FROM users ORDER BY id"), [["b"], ["a"], ["c"]]);
    await onBranch(world, "INSERT INTO users VALUES (10, 'new')");
    await world.trunk("INSERT INTO users VALUES (11, 'new')");
    const stopped = await merge(world);
    assertEquals([stopped.status, reportOf(stopped).conflicts.items[0]?.kind], [409, "constraint"]);
    assertEquals((await merge(world, { onConflict: "ours" })).status, 200);
    assertEquals(await world.trunk("SELECT id FROM users WHERE email = 'new'"), [[11]]);
    assertEquals((await merge(world, { onConflict: "theirs" })).status, 200);
    assertEquals(await world.trunk("SELECT id FROM users WHERE email = 'new'"), [[10]]);
  }, setup);
});

Deno.test("rows of a table without a primary key are refused with the reason", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO notes VALUES ('two')", "UPDATE items SET price = 1");
    const answer = await merge(world);
    assertEquals([answer.status, answer.body.code], [400, "merge_refused"]);
    assert(answer.body.error?.includes("primary key"), answer.body.error);
    assertEquals(await world.trunk("SELECT sum(price) FROM items"), [[60]]);
  }, ["CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('one')"]);
});

Deno.test("a merge of the schema carries it over beside the trunk's own changes; then the rows follow", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "ALTER TABLE items ADD COLUMN colour TEXT DEFAULT 'none'",
      "CREATE TABLE tags (id INTEGER PRIMARY KEY, tag TEXT)",
      "INSERT INTO tags VALUES (1, 'new')",
      "UPDATE items SET colour = 'red' WHERE id = 1",
    );
    await world.trunk("CREATE INDEX by_name ON items (name)");
    await world.trunk("CREATE TABLE own (a)");
    const early = await merge(world);
    assertEquals([early.status, early.body.code], [400, "merge_refused"]);
    const answer = await merge(world, { mode: "schema" });
    assertEquals(answer.status, 200, answer.text);
    assertEquals(reportOf(answer).statementsRun, 2);
    assertEquals(
      await world.trunk("SELECT name FROM sqlite_schema WHERE name IN ('own', 'by_name', 'tags') ORDER BY 1"),
      [["by_name"], ["own"], ["tags"]],
    );
    assertEquals(await world.trunk("SELECT DISTINCT colour FROM items"), [["none"]]);
    const rows = await merge(world);
    assertEquals(rows.status, 200, rows.text);
    assertEquals(await world.trunk("SELECT colour FROM items ORDER BY id"), [["red"], ["none"], ["none"]]);
    assertEquals(await world.trunk("SELECT tag FROM tags"), [["new"]]);
  });
});

Deno.test("a table that both sides changed is a conflict of the schema, which ours and theirs settle", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "ALTER TABLE items ADD COLUMN colour TEXT");
    await world.trunk("ALTER TABLE items ADD COLUMN weight REAL");
    const answer = await merge(world, { mode: "schema" });
    assertEquals([answer.status, answer.body.code], [409, "merge_conflict"]);
    assertEquals(reportOf(answer).conflicts.items.map(({ kind, table }) => [kind, table]), [[
      "schema",
      "items",
    ]]);
    assertEquals(reportOf(await merge(world, { mode: "schema", onConflict: "ours" })).statementsRun, 0);
    assertEquals((await merge(world, { mode: "schema", onConflict: "theirs" })).status, 200);
    const columns = await world.trunk("SELECT name FROM pragma_table_info('items')");
    assertEquals(columns, [["id"], ["name"], ["price"], ["colour"]]);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
  });
});

Deno.test("a schema that the trunk's rows do not allow is the error of its statement, and nothing is kept", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "CREATE UNIQUE INDEX one_price ON items (price)", "CREATE TABLE extra (a)");
    await world.trunk("INSERT INTO items VALUES (9, 'same', 10)");
    const answer = await merge(world, { mode: "schema" });
    assertEquals([answer.status, answer.body.errorDetail?.kind], [400, "unique_violation"], answer.text);
    assertEquals(await world.trunk("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), [[0]]);
  });
});

Deno.test("statements that were understood before a merge are understood by the merged schema", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "ALTER TABLE items RENAME COLUMN price TO cents");
    assertEquals(await world.trunk("SELECT sum(price) FROM items"), [[60]]);
    assertEquals((await merge(world, { mode: "schema" })).status, 200);
    assertEquals(
      (await world.shop.query("SELECT price FROM items")).body.errorDetail?.kind,
      "unknown_column",
    );
    assertEquals(await world.trunk("SELECT sum(cents) FROM items"), [[60]]);
  });
});

Deno.test("full-text indexes over merged tables find what was merged", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE items SET name = 'fountain' WHERE id = 1",
      "UPDATE pages SET body = 'sea' WHERE rowid = 1",
    );
    assertEquals((await merge(world)).status, 200);
    assertEquals(await world.trunk("SELECT rowid FROM found WHERE found MATCH 'fountain'"), [[1]]);
    assertEquals(await world.trunk("SELECT rowid FROM found WHERE found MATCH 'pen'"), []);
    assertEquals(await world.trunk("SELECT rowid FROM pages WHERE pages MATCH 'sea'"), [[1]]);
  }, [
    "CREATE VIRTUAL TABLE pages USING fts5 (title, body)",
    "INSERT INTO pages (rowid, title, body) VALUES (1, 'a', 'land')",
    "CREATE VIRTUAL TABLE found USING fts5 (name, content='items', content_rowid='id')",
    "INSERT INTO found (rowid, name) SELECT id, name FROM items",
  ]);
});

Deno.test("every kind of value comes over as it is", async () => {
  await withBranch(async (world) => {
    const values = "id, typeof(v), quote(v) FROM vals ORDER BY id";
    await onBranch(
      world,
      "INSERT INTO vals VALUES (1, 9223372036854775807), (2, -9223372036854775808), (3, 1.0), (4, 9e999), (5, NULL), " +
        "(6, x'00ff'), (7, ''), (8, 'ä😀'), (9, 0.1), (10, '0x10')",
    );
    assertEquals((await merge(world)).status, 200);
    assertEquals(await world.trunk(`SELECT ${values}`), await world.branch("pr-1", `SELECT ${values}`));
  }, ["CREATE TABLE vals (id INTEGER PRIMARY KEY, v)"]);
});

Deno.test("a rule of the trunk that is about what a merge would write stops it before anything is written", async () => {
  await withBranch(async (world) => {
    const rule = await world.app.request("POST", "/api/namespaces/acme/databases/main/rules", {
      token: world.shop.token,
      body: { tableGlob: "ite*", actions: ["delete"], effect: "require_approval" },
    });
    assertEquals(rule.status, 201, rule.text);
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 1");
    assertEquals((await merge(world)).status, 200);
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const stopped = await merge(world);
    assertEquals([stopped.status, stopped.body.code], [403, "rule_denied"], stopped.text);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
  });
});

Deno.test("only an admin of the trunk merges, and what a merge asks for is checked", async () => {
  await withBranch(async (world) => {
    const writer = await world.shop.mint("write");
    const body = { mode: "data", onConflict: "abort" };
    assertEquals((await world.call("POST", "branches/pr-1/merge", body, writer.token)).status, 403);
    for (
      const wrong of [{}, { mode: "all", onConflict: "abort" }, { mode: "data" }, { ...body, dryrun: true }]
    ) {
      assertEquals((await world.call("POST", "branches/pr-1/merge", wrong)).status, 400);
    }
    assertEquals((await world.call("POST", "branches/none/merge", body)).body.code, "branch_not_found");
  });
});
