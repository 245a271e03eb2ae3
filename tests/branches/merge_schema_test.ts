// Merging the schema of a branch into its trunk, what follows from it, and who may merge.
import { assertEquals } from "@std/assert";
import { reportOf } from "./branch_world.ts";
import { mergeBranch, onBranch, withBranch } from "./merge_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("merging the schema of a branch into its trunk", run);

test("a merge of the schema carries it over beside the trunk's own changes; then the rows follow", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "ALTER TABLE items ADD COLUMN colour TEXT DEFAULT 'none'",
      "ALTER TABLE items ADD COLUMN state TEXT DEFAULT open",
      "CREATE TABLE tags (id INTEGER PRIMARY KEY, tag TEXT)",
      "INSERT INTO tags VALUES (1, 'new')",
      "UPDATE items SET colour = 'red' WHERE id = 1",
    );
    await world.trunk("CREATE INDEX by_name ON items (name)");
    await world.trunk("CREATE TABLE own (a)");
    const early = await mergeBranch(world);
    assertEquals([early.status, early.body.code], [400, "merge_refused"]);
    const answer = await mergeBranch(world, { mode: "schema" });
    assertEquals(answer.status, 200, answer.text);
    assertEquals(reportOf(answer).statementsRun, 3);
    assertEquals(
      await world.trunk("SELECT name FROM sqlite_schema WHERE name IN ('own', 'by_name', 'tags') ORDER BY 1"),
      [["by_name"], ["own"], ["tags"]],
    );
    assertEquals(await world.trunk("SELECT DISTINCT colour, state FROM items"), [["none", "open"]]);
    const rows = await mergeBranch(world);
    assertEquals(rows.status, 200, rows.text);
    assertEquals(await world.trunk("SELECT colour FROM items ORDER BY id"), [["red"], ["none"], ["none"]]);
    assertEquals(await world.trunk("SELECT tag FROM tags"), [["new"]]);
  });
});

test("a table that both sides changed is a conflict of the schema, which ours and theirs settle", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "ALTER TABLE items ADD COLUMN colour TEXT");
    await world.trunk("ALTER TABLE items ADD COLUMN weight REAL");
    const answer = await mergeBranch(world, { mode: "schema" });
    assertEquals([answer.status, answer.body.code], [409, "merge_conflict"]);
    assertEquals(reportOf(answer).conflicts.items.map(({ kind, table }) => [kind, table]), [[
      "schema",
      "items",
    ]]);
    assertEquals(reportOf(await mergeBranch(world, { mode: "schema", onConflict: "ours" })).statementsRun, 0);
    assertEquals((await mergeBranch(world, { mode: "schema", onConflict: "theirs" })).status, 200);
    const columns = await world.trunk("SELECT name FROM pragma_table_info('items')");
    assertEquals(columns, [["id"], ["name"], ["price"], ["colour"]]);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
  });
});

test("a schema that the trunk's rows do not allow is the error of its statement, and nothing is kept", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "CREATE UNIQUE INDEX one_price ON items (price)", "CREATE TABLE extra (a)");
    await world.trunk("INSERT INTO items VALUES (9, 'same', 10)");
    const answer = await mergeBranch(world, { mode: "schema" });
    assertEquals([answer.status, answer.body.errorDetail?.kind], [400, "unique_violation"], answer.text);
    assertEquals(await world.trunk("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), [[0]]);
  });
});

test("statements that were understood before a merge are understood by the merged schema", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "ALTER TABLE items RENAME COLUMN price TO cents");
    assertEquals(await world.trunk("SELECT sum(price) FROM items"), [[60]]);
    assertEquals((await mergeBranch(world, { mode: "schema" })).status, 200);
    assertEquals(
      (await world.shop.query("SELECT price FROM items")).body.errorDetail?.kind,
      "unknown_column",
    );
    assertEquals(await world.trunk("SELECT sum(cents) FROM items"), [[60]]);
  });
});

test("full-text indexes over merged tables find what was merged", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE items SET name = 'fountain' WHERE id = 1",
      "UPDATE pages SET body = 'sea' WHERE rowid = 1",
    );
    assertEquals((await mergeBranch(world)).status, 200);
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

test("a rule that denies what a merge would write stops it before anything is written", async () => {
  await withBranch(async (world) => {
    const rule = await world.app.request("POST", "/api/namespaces/acme/databases/main/rules", {
      token: world.shop.token,
      body: { tableGlob: "ite*", actions: ["delete"], effect: "deny" },
    });
    assertEquals(rule.status, 201, rule.text);
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 1");
    assertEquals((await mergeBranch(world)).status, 200);
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const stopped = await mergeBranch(world);
    assertEquals([stopped.status, stopped.body.code], [403, "rule_denied"], stopped.text);
    assertEquals((await mergeBranch(world, { dryRun: true })).status, 200);
    assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
  });
});

test("only an admin of the trunk merges, and what a merge asks for is checked", async () => {
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

test("what is said about the trunk's tables and columns follows the renames of a merge", async () => {
  await withBranch(async (world) => {
    const described = {
      tables: [{
        table: "items",
        description: "Goods",
        columns: [{ column: "price", description: "In cents" }],
      }],
    };
    assertEquals((await world.call("PUT", "describe", described)).status, 200);
    await onBranch(
      world,
      "ALTER TABLE items RENAME COLUMN price TO cents",
      'ALTER TABLE items RENAME TO "all goods"',
    );
    const merged = await mergeBranch(world, { mode: "schema" });
    assertEquals([merged.status, reportOf(merged).statementsRun], [200, 2], merged.text);
    const said = "SELECT table_name, column_name, description FROM _service_meta_description ORDER BY 1, 2";
    assertEquals(await world.trunk(said), [["all goods", "", "Goods"], ["all goods", "cents", "In cents"]]);
  });
});
