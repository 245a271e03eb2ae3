// Merging rows of a branch into its trunk: what comes over, what is a conflict, and that it is all or nothing.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { money, nano } from "../money/money_world.ts";
import { reportOf } from "./branch_world.ts";
import { mergeBranch, onBranch, withBranch } from "./merge_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("merging rows of a branch into its trunk", run);

const ITEMS = "SELECT id, name, price FROM items ORDER BY id";

test("a merge of rows brings added, removed and changed rows over what the trunk changed elsewhere", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "INSERT INTO items VALUES (4, 'nib', 5)",
      "DELETE FROM items WHERE id = 1",
      "UPDATE items SET price = 21 WHERE id = 2",
    );
    await world.trunk("UPDATE items SET name = 'Ink' WHERE id = 2");
    await world.trunk("INSERT INTO items VALUES (5, 'own', 1)");
    const answer = await mergeBranch(world);
    assertEquals(answer.status, 200, answer.text);
    const report = reportOf(answer);
    assertEquals([report.rowsWritten, report.conflicts.count], [3, 0]);
    assertMatch(String(report.snapshot), /^auto-\d{8}T\d{9}Z-merge-pr_1$/);
    assertEquals(await world.trunk(ITEMS), [[2, "Ink", 21], [3, "cap", 30], [4, "nib", 5], [5, "own", 1]]);
    const again = reportOf(await mergeBranch(world));
    assertEquals([again.rowsWritten, again.conflicts.count, again.snapshot], [0, 0, null]);
  });
});

test("a preview says that rows were merged before, for those that the trunk has deleted since come in again", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO items VALUES (4, 'nib', 5)");
    const preview = async () => reportOf(await mergeBranch(world, { dryRun: true }));
    assertEquals((await preview()).mergedBefore, undefined);
    const done = reportOf(await mergeBranch(world));
    assertEquals([done.rowsWritten, done.mergedBefore], [1, undefined]);
    await world.trunk("DELETE FROM items WHERE id = 4");
    const again = await preview();
    assertEquals(again.rowsWritten, 1);
    assertMatch(String(again.mergedBefore), /^\d{4}-\d\d-\d\dT/);
    const reset = await world.call("POST", "branches/pr-1/reset");
    assertEquals(reset.status, 200, reset.text);
    await onBranch(world, "INSERT INTO items VALUES (6, 'own', 5)");
    assertEquals((await preview()).mergedBefore, undefined);
  });
});

test("a merge leaves one log and one audit row in the trunk, and a snapshot that undoes it", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "DELETE FROM items");
    const { snapshot } = reportOf(await mergeBranch(world));
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

test("a merge and a dry run of it tell what they cost, and where their log row is", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 0", "INSERT INTO items VALUES (4, 'nib', 5)");
    const spent = async () => {
      await world.app.deps.query.meter.tick();
      return (await money(world.app, world.shop)).used;
    };
    for (const dryRun of [true, false]) {
      const used = await spent();
      const { body: { meta }, text } = await mergeBranch(world, { dryRun });
      assert(meta, text);
      const { rowsRead, rowsWritten, costUsd, statementCount, snapshot, rowsReadBasis } = meta;
      assertEquals([rowsWritten, statementCount, rowsReadBasis], [dryRun ? 0 : 4, 1, "engine"]);
      assert(rowsRead >= 7, text);
      assertEquals(nano(costUsd), 500 + rowsRead * 5 + rowsWritten * 2000);
      assertEquals(await spent() - used, nano(costUsd));
      assert(Number.isInteger(meta.durationMs));
      assertEquals(snapshot, JSON.parse(text).data.snapshot);
      assertEquals(
        await world.trunk(
          "SELECT operation, status, rows_read, rows_written, sql FROM _service_meta_query_log WHERE id = ?",
          [meta.queryLogId],
        ),
        [["merge", "ok", rowsRead, rowsWritten, `-- ${dryRun ? "dry run: " : ""}data of branch pr-1`]],
      );
    }
  });
});

test("a merge that fails, conflicts or is stopped leaves one log row with its kind, as a dry run that conflicts does", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE items SET price = 11 WHERE id = 1",
      "CREATE UNIQUE INDEX one ON items (name)",
    );
    await world.trunk("UPDATE items SET price = 12, name = 'ink' WHERE id = 1");
    const rules = `/api/namespaces/${world.shop.slug}/databases/main/rules`;
    const rule = async (effect: string) => {
      const body = { tableGlob: "items", effect };
      const added = await world.app.request("POST", rules, { token: world.shop.token, body });
      assertEquals(added.status, 201, added.text);
    };
    assertEquals((await mergeBranch(world)).status, 409);
    assertEquals((await mergeBranch(world, { dryRun: true })).status, 200);
    assertEquals((await mergeBranch(world, { mode: "schema" })).status, 400);
    await rule("require_approval");
    assertEquals((await mergeBranch(world)).status, 409);
    assertEquals((await mergeBranch(world, { onConflict: "theirs" })).status, 403);
    await rule("deny");
    assertEquals((await mergeBranch(world, { onConflict: "theirs" })).status, 403);
    assertEquals(
      await world.trunk(
        "SELECT status, error_kind, rows_read > 0, rows_written, sql FROM _service_meta_query_log " +
          "WHERE operation = 'merge' ORDER BY ts, id",
      ),
      [
        ["error", "merge_conflict", 1, 0, "-- data of branch pr-1"],
        ["ok", null, 1, 0, "-- dry run: data of branch pr-1"],
        ["error", "unique_violation", 1, 0, "-- schema of branch pr-1"],
        ["error", "merge_conflict", 1, 0, "-- data of branch pr-1"],
        ["error", "approval_required", 1, 0, "-- data of branch pr-1"],
        ["error", "rule_denied", 1, 0, "-- data of branch pr-1"],
      ],
    );
  });
});

test("a merge of which nobody knows whether it was committed has the log row of its commit, or none", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 11 WHERE id = 1");
    const { branches } = world.app.deps.tenants;
    const merge = branches.merge.bind(branches);
    let commits = false;
    branches.merge = async (trunk, options) => {
      if (commits) await merge(trunk, options);
      throw new AppError("outcome_unknown");
    };
    assertEquals((await mergeBranch(world)).body.code, "outcome_unknown");
    const rows = "SELECT status FROM _service_meta_query_log WHERE operation = 'merge'";
    assertEquals(await world.trunk(rows), []);
    commits = true;
    assertEquals((await mergeBranch(world)).body.code, "outcome_unknown");
    assertEquals(await world.trunk(rows), [["ok"]]);
  });
});

test("a dry run reports what the merge would do and changes nothing", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 0", "CREATE TABLE extra (a INTEGER PRIMARY KEY)");
    await world.trunk("UPDATE items SET price = 99 WHERE id = 1");
    const before = await world.trunk(ITEMS);
    const snapshots = (await world.call("GET", "snapshots")).text;
    const rows = reportOf(await mergeBranch(world, { dryRun: true }));
    assertEquals([rows.conflicts.count, rows.tables[0]?.changed, rows.snapshot], [1, 3, null]);
    assertEquals(rows.tables, (await world.diff("pr-1")).tables);
    const schema = reportOf(await mergeBranch(world, { mode: "schema", dryRun: true }));
    assertEquals([schema.statementsRun, schema.snapshot], [1, null]);
    assertEquals(await world.trunk(ITEMS), before);
    assertEquals(await world.trunk("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), [[0]]);
    assertEquals((await world.call("GET", "snapshots")).text, snapshots);
    assertEquals(await world.trunk("SELECT count(*) FROM _service_meta_audit WHERE operation = 'merge'"), [[
      0,
    ]]);
  });
});

test("rows that both sides changed stop a merge with 409, the report of all of them, and nothing kept", async () => {
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
    const answer = await mergeBranch(world);
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
    const ours = reportOf(await mergeBranch(world, { onConflict: "ours" }));
    assertEquals([ours.conflicts.count, ours.rowsWritten], [4, 1]);
    assertEquals(await world.trunk(ITEMS), [...before, [5, "free", 5]]);
  });
});

test("with theirs the branch's side of every conflict counts", async () => {
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
    assertEquals(reportOf(await mergeBranch(world, { onConflict: "theirs" })).conflicts.count, 4);
    assertEquals(await world.trunk(ITEMS), [[1, "pen", 11], [2, "ink", 22], [4, "theirs", 4]]);
  });
});

test("triggers and cascades do not happen a second time when their effects are merged", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "INSERT INTO items VALUES (4, 'nib', 5)",
      "DELETE FROM items WHERE id = 1",
    );
    assertEquals((await mergeBranch(world)).status, 200);
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

test("a merge never leaves a row that refers to nothing, whatever onConflict says", async () => {
  for (const onConflict of ["abort", "theirs", "ours"] as const) {
    await withBranch(async (world) => {
      await onBranch(world, "DELETE FROM items WHERE id = 3");
      await world.trunk("INSERT INTO lines VALUES (1, 3)");
      const answer = await mergeBranch(world, { onConflict });
      assertEquals([answer.status, answer.body.code], [409, "merge_conflict"]);
      assertEquals(reportOf(answer).conflicts.items.map(({ kind, table }) => [kind, table]), [
        ["foreign_key", "lines"],
      ]);
      assertEquals(await world.trunk("SELECT count(*) FROM items"), [[3]]);
    }, ["CREATE TABLE lines (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id))"]);
  }
});

test("rows that exchange unique values are merged, and a value that the trunk took is a conflict", async () => {
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
    assertEquals((await mergeBranch(world)).status, 200);
    assertEquals(await world.trunk("SELECT email FROM users ORDER BY id"), [["b"], ["a"], ["c"]]);
    await onBranch(world, "INSERT INTO users VALUES (10, 'new')");
    await world.trunk("INSERT INTO users VALUES (11, 'new')");
    const stopped = await mergeBranch(world);
    assertEquals([stopped.status, reportOf(stopped).conflicts.items[0]?.kind], [409, "constraint"]);
    assertEquals((await mergeBranch(world, { onConflict: "ours" })).status, 200);
    assertEquals(await world.trunk("SELECT id FROM users WHERE email = 'new'"), [[11]]);
    assertEquals((await mergeBranch(world, { onConflict: "theirs" })).status, 200);
    assertEquals(await world.trunk("SELECT id FROM users WHERE email = 'new'"), [[10]]);
  }, setup);
});

test("with theirs a row that another one has taken the place of comes back with the branch's values", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE users SET email = 'x' WHERE id = 1",
      "UPDATE users SET email = 'y' WHERE id = 2",
    );
    await world.trunk("UPDATE users SET email = 'x', name = 'trunk' WHERE id = 2");
    await world.trunk("INSERT INTO users VALUES (3, 'y', 'three')");
    const { rowsWritten } = reportOf(await mergeBranch(world, { onConflict: "theirs" }));
    const rows = await world.trunk("SELECT id, email, name FROM users ORDER BY id");
    assertEquals(rows, [[1, "x", "one"], [2, "y", "trunk"]]);
    // One updated, one removed and put in again, one removed.
    assertEquals(rowsWritten, 4);
  }, [
    "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT)",
    "INSERT INTO users VALUES (1, 'a', 'one'), (2, 'b', 'two')",
  ]);
});

test("rows of a table without a primary key are refused with the reason", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO notes VALUES ('two')", "UPDATE items SET price = 1");
    const answer = await mergeBranch(world);
    assertEquals([answer.status, answer.body.code], [400, "merge_refused"]);
    assert(answer.body.error?.includes("primary key"), answer.body.error);
    assertEquals(await world.trunk("SELECT sum(price) FROM items"), [[60]]);
  }, ["CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('one')"]);
});
