// Snapshots through the API: taken before what destroys, listed, restored in place and into a new database.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member, rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const { run, test, testOneProcess } = oneStore();
Deno.test("snapshots", run);

interface Listed {
  readonly label: string;
  readonly automatic: boolean;
  readonly sizeBytes: number;
}

async function withShop(body: (shop: TestNamespace, app: StartedApp) => Promise<void>): Promise<void> {
  await using app = await startApp();
  const shop = await app.namespace();
  await shop.query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
  await shop.query("INSERT INTO items VALUES (1, 'pen'), (2, 'ink')");
  await body(shop, app);
}

function post(app: StartedApp, shop: TestNamespace, operation: string, body: unknown, token = shop.token) {
  return app.request("POST", `${shop.database.path}/${operation}`, { token, body });
}

async function labels(app: StartedApp, shop: TestNamespace): Promise<Listed[]> {
  const { body } = await app.request("GET", `${shop.database.path}/snapshots`, { token: shop.token });
  assert(Array.isArray(body.data));
  return body.data;
}

test("every destructive statement is preceded by a snapshot with its verb and table", async () => {
  await withShop(async (shop) => {
    for (
      const [sql, ending] of [
        ["CREATE TABLE other (a)", "create-other"],
        ["UPDATE items SET name = 'x'", "update-items"],
        ["UPDATE items SET name = 'x' WHERE id IS id", "update-items"],
        ["DELETE FROM other WHERE 1 = 1", "delete-other"],
        ["REPLACE INTO items VALUES (1, 'pen')", "-items"],
        ["INSERT OR REPLACE INTO items VALUES (1, 'pen')", "-items"],
        ["CREATE INDEX by_name ON items (name)", "create-items"],
        ["REINDEX by_name", "reindex-items"],
        ['DROP INDEX "BY_NAME"', "drop-items"],
        ["CREATE TRIGGER keep AFTER DELETE ON items BEGIN DELETE FROM other; END", "create-items"],
        ["DROP TRIGGER keep", "drop-items"],
        ["CREATE VIEW seen AS SELECT * FROM items", "create-seen"],
        ["DROP VIEW seen", "drop-seen"],
        ["ALTER TABLE Other ADD COLUMN b", "alter-Other"],
        ["ALTER TABLE Other DROP COLUMN b", "alter-Other"],
        ["DELETE FROM items", "delete-items"],
        ["DROP TABLE items", "drop-items"],
      ] as const
    ) {
      const { body } = await shop.query(sql);
      assertMatch(String(body.meta?.snapshot), /^auto-\d{8}T\d{9}Z-[a-z]+-\w+$/, sql);
      assert(body.meta?.snapshot?.endsWith(ending), `${sql}: ${body.meta?.snapshot}`);
    }
    for (
      const sql of [
        "SELECT 1",
        "INSERT INTO other VALUES (1)",
        "UPDATE other SET a = 2 WHERE a = 1",
        "DELETE FROM other WHERE a = 2",
        "PRAGMA user_version = 3",
      ]
    ) assertEquals((await shop.query(sql)).body.meta?.snapshot, null, sql);
  });
});

test("X-Service-No-Snapshot: 1 does without, and any other value is refused", async () => {
  await withShop(async (shop, app) => {
    const before = (await labels(app, shop)).length;
    const headers = { "x-service-no-snapshot": "1" };
    const answer = await shop.query("DELETE FROM items", [], { headers });
    assertEquals(answer.body.meta?.snapshot, null);
    assertEquals((await labels(app, shop)).length, before);
    const odd = await shop.query("DELETE FROM items", [], { headers: { "x-service-no-snapshot": "yes" } });
    assertEquals([odd.status, odd.body.code], [400, "validation_failed"]);
  });
});

test("whoever applies a proposal decides about its snapshot; elsewhere the header is refused, not ignored", async () => {
  await withShop(async (shop, app) => {
    const headers = { "x-service-no-snapshot": "1" };
    const post = (operation: string, body: unknown, more = {}) =>
      app.request("POST", `${shop.database.path}/${operation}`, { token: shop.token, body, ...more });
    const propose = async (sql: string) => ({
      executionToken: member(await post("propose", { sql }), "executionToken"),
    });
    const before = (await labels(app, shop)).length;
    const token = await propose("DELETE FROM items");
    const odd = await post("apply", token, { headers: { "x-service-no-snapshot": "yes" } });
    assertEquals([odd.status, odd.body.issues?.[0]?.path], [400, "X-Service-No-Snapshot"]);
    const without = await post("apply", token, { headers });
    assertEquals([without.status, without.body.meta?.snapshot], [200, null], without.text);
    assertEquals((await labels(app, shop)).length, before);
    const applied = await post("apply", await propose("DELETE FROM items"));
    assertMatch(String(applied.body.meta?.snapshot), /^auto-/);
    const proposed = await post("propose", { sql: "DELETE FROM items" }, { headers });
    const later = await post("apply", { executionToken: member(proposed, "executionToken") });
    assertMatch(String(later.body.meta?.snapshot), /^auto-/);
  });
});

test("a batch has one snapshot, of the state before its first statement", async () => {
  await withShop(async (shop, app) => {
    const { body } = await shop.batch([
      ["INSERT INTO items VALUES (3, 'cap')"],
      ["DELETE FROM items"],
      ["DROP TABLE items"],
    ], { transaction: true });
    const label = body.meta?.snapshot;
    assert(label?.includes("-delete-items"), String(label));
    assertEquals((await post(app, shop, "restore", { snapshot: label })).status, 200);
    assertEquals(rowsOf(await shop.query("SELECT name FROM items ORDER BY id")), [["pen"], ["ink"]]);
  });
});

test("a statement that fails leaves no snapshot behind", async () => {
  await withShop(async (shop, app) => {
    await shop.query("CREATE TRIGGER keep BEFORE DELETE ON items BEGIN SELECT raise(ABORT, 'kept'); END");
    const before = await labels(app, shop);
    assertEquals((await shop.query("DELETE FROM items")).status, 400);
    assertEquals(await labels(app, shop), before);
  });
});

test("restoring in place can be undone, and neither loses log, audit or kept answers", async () => {
  await withShop(async (shop, app) => {
    const asked = await post(app, shop, "snapshots", { label: "before" });
    assertEquals([asked.status, member(asked, "label")], [201, "before"]);
    const key = { headers: { "idempotency-key": "k1" } };
    const inserted = await shop.query("INSERT INTO items VALUES (3, 'cap')", [], key);
    await shop.query("DROP TABLE items");
    const restored = await post(app, shop, "restore", { snapshot: "before" });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[2]]);
    const log = await shop.query(
      "SELECT count(*) FROM _service_meta_query_log WHERE id = ?",
      [inserted.body.meta?.queryLogId],
    );
    assertEquals(rowsOf(log), [[1]]);
    const audit = await shop.query("SELECT count(*) FROM _service_meta_audit WHERE tables LIKE '%items%'");
    assertEquals(rowsOf(audit), [[5]]);
    const again = await shop.query("INSERT INTO items VALUES (3, 'cap')", [], key);
    assertEquals([again.headers.get("idempotency-replayed"), again.text], ["true", inserted.text]);
    const undone = await post(app, shop, "restore", { snapshot: member(restored, "undo") });
    assertEquals(undone.status, 200);
    assertEquals((await shop.query("SELECT count(*) FROM items")).body.errorDetail?.kind, "unknown_table");
  });
});

test("a restore leaves one row in the log and one in the audit trail, also where it is asked for again", async () => {
  await withShop(async (shop, app) => {
    await post(app, shop, "snapshots", { label: "before" });
    await shop.query("CREATE TABLE later (a)");
    const headers = { "plan-key": "plan", "plan-step": "back" };
    const restore = () =>
      app.request("POST", `${shop.database.path}/restore`, {
        ...{ token: shop.token, headers, body: { snapshot: "before" } },
      });
    const first = await restore();
    assertEquals([first.status, (await restore()).text], [200, first.text]);
    assertEquals((await post(app, shop, "restore", { snapshot: "none" })).status, 404);
    const trail =
      "SELECT a.operation, a.tables, a.token_id, a.rows_written, l.status, l.token_id, l.db_id, l.sql " +
      "FROM _service_meta_audit a JOIN _service_meta_query_log l ON l.id = a.query_log_id WHERE a.operation = 'restore'";
    const row = ["restore", '["items","later"]', shop.id, 0, "ok", shop.id, shop.database.id];
    assertEquals(rowsOf(await shop.query(trail)), [[...row, "-- snapshot before of main"]]);
    await post(app, shop, "restore", { snapshot: member(first, "undo") });
    assertEquals(rowsOf(await shop.query(`SELECT count(*) FROM (${trail})`)), [[2]]);
    const log = await app.request("GET", `${shop.database.path}/query_log`, { token: shop.token });
    assertEquals(log.text.match(/"operation":"restore"/g)?.length, 2, log.text);
  });
});

test("after a restore, statements are understood by the schema that is there now", async () => {
  await withShop(async (shop, app) => {
    await post(app, shop, "snapshots", { label: "narrow" });
    await shop.query("ALTER TABLE items ADD COLUMN price INTEGER");
    assertEquals((await shop.query("SELECT price FROM items")).status, 200);
    await post(app, shop, "restore", { snapshot: "narrow" });
    assertEquals((await shop.query("SELECT price FROM items")).body.errorDetail?.kind, "unknown_column");
    await shop.query("ALTER TABLE items ADD COLUMN colour TEXT");
    assertEquals((await shop.query("SELECT price FROM items")).body.errorDetail?.kind, "unknown_column");
    assertEquals((await shop.query("SELECT colour FROM items")).status, 200);
  });
});

testOneProcess(
  "after a restore, a schema that comes as the one before it came is not taken for it",
  async () => {
    await withShop(async (shop, app) => {
      await shop.setup("CREATE TABLE a (x)", "CREATE TABLE b (x)");
      const rule = { tableGlob: "b", effect: "deny" };
      const added = await app.request("POST", `/api/namespaces/${shop.slug}/databases/main/rules`, {
        token: shop.token,
        body: rule,
      });
      assertEquals(added.status, 201, added.text);
      const snapshot = (label: string) => post(app, shop, "snapshots", { label });
      const restore = async (label: string) => {
        const answer = await post(app, shop, "restore", { snapshot: label });
        assertEquals(answer.status, 200, answer.text);
      };
      await snapshot("without");
      // Each is as many changes of the schema away from what both began with.
      for (const table of ["a", "b"]) {
        await shop.setup(
          `CREATE TRIGGER more AFTER INSERT ON items BEGIN INSERT INTO ${table} VALUES (1); END`,
        );
        await snapshot(table);
        await restore("without");
      }
      for (const [table, status] of [["a", 200], ["b", 403], ["a", 200]] as const) {
        await restore(table);
        const answer = await shop.query("INSERT INTO items (name) VALUES ('x')");
        assertEquals(answer.status, status, answer.text);
      }
    });
  },
);

testOneProcess(
  "after a restore, a role that was too low for a statement is judged by the schema that is there now",
  async () => {
    await withShop(async (shop, app) => {
      await shop.setup("CREATE TABLE found (found)");
      await post(app, shop, "snapshots", { label: "plain" });
      // What was a row is a command of the index, which a writer must not give.
      await shop.setup("DROP TABLE found", "CREATE VIRTUAL TABLE found USING fts5(text)");
      const { token } = await shop.mint("write");
      const sql = "INSERT INTO found (found) VALUES ('rebuild')";
      const insert = () => shop.query(sql, [], { token });
      const refused = await insert();
      assertEquals([refused.status, refused.body.code], [403, "role_too_low"], refused.text);
      assertEquals((await post(app, shop, "restore", { snapshot: "plain" })).status, 200);
      const door = await app.request("POST", `/hrana/${shop.slug}/main/v2/pipeline`, {
        ...{ token, body: { requests: [{ type: "describe", sql }] } },
      });
      assertEquals(JSON.parse(door.text).results[0].type, "ok", door.text);
      const answer = await insert();
      assertEquals(answer.status, 200, answer.text);
    });
  },
);

test("writes that come while a restore runs are kept by it or come after it, and none is lost", async () => {
  await withShop(async (shop, app) => {
    await post(app, shop, "snapshots", { label: "start" });
    const writes = Array.from(
      { length: 60 },
      (_, n) => shop.query("INSERT INTO items VALUES (?, 'new') RETURNING id", [100 + n]),
    );
    const restored = await post(app, shop, "restore", { snapshot: "start" });
    assertEquals(restored.status, 200, restored.text);
    const answers = await Promise.all(writes);
    for (const answer of answers) assertEquals(answer.status, 200, answer.text);
    const present = rowsOf(await shop.query("SELECT id FROM items WHERE id >= 100")).map(([id]) => id);
    await post(app, shop, "restore", { snapshot: member(restored, "undo") });
    const undone = rowsOf(await shop.query("SELECT id FROM items WHERE id >= 100")).map(([id]) => id);
    const found = [...present, ...undone].map(Number).sort((a, b) => a - b);
    assertEquals(found, Array.from({ length: 60 }, (_, n) => 100 + n));
  });
});

test("a snapshot becomes a database of its own, whose log begins with that", async () => {
  await withShop(async (shop, app) => {
    await post(app, shop, "snapshots", { label: "copy-me" });
    await shop.query("DELETE FROM items");
    const made = await post(app, shop, "restore", { snapshot: "copy-me", into: "copy" });
    assertEquals([made.status, member(made, "slug")], [201, "copy"]);
    const ask = async (sql: string) =>
      rowsOf(
        await app.request("POST", `/v1/db/${shop.slug}/copy/query`, { token: shop.token, body: { sql } }),
      );
    assertEquals(await ask("SELECT count(*) FROM items"), [[2]]);
    const audit = "SELECT operation, tables, token_id FROM _service_meta_audit";
    assertEquals(await ask(audit), [["restore", '["items"]', shop.id]]);
    const [row] = await ask("SELECT operation, status, db_id, sql FROM _service_meta_query_log");
    assertEquals(row, ["restore", "ok", member(made, "id"), "-- snapshot copy-me of main"]);
    assertEquals(rowsOf(await shop.query(`SELECT count(*) FROM (${audit}) WHERE operation = 'restore'`)), [[
      0,
    ]]);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[0]]);
    const taken = await post(app, shop, "restore", { snapshot: "copy-me", into: "copy" });
    assertEquals([taken.status, taken.body.code], [409, "slug_taken"]);
  });
});

test("labels are checked, used once, and unknown ones are 404; only an admin restores", async () => {
  await withShop(async (shop, app) => {
    for (const label of ["auto-x", "", "a b", "../x", "x".repeat(101)]) {
      assertEquals((await post(app, shop, "snapshots", { label })).status, 400, label);
    }
    assertEquals((await post(app, shop, "snapshots", { label: "one" })).status, 201);
    assertEquals((await post(app, shop, "snapshots", { label: "one" })).status, 409);
    assertEquals((await post(app, shop, "restore", { snapshot: "none" })).body.code, "snapshot_not_found");
    const writer = await shop.mint("write");
    assertEquals((await post(app, shop, "restore", { snapshot: "one" }, writer.token)).status, 403);
    const reader = await shop.mint("read");
    assertEquals((await post(app, shop, "snapshots", { label: "two" }, reader.token)).status, 403);
    const scoped = await shop.mint("admin", {
      scopes: [{ databaseId: shop.database.id, branchRef: "main", role: "admin" }],
    });
    const into = await post(app, shop, "restore", { snapshot: "one", into: "new" }, scoped.token);
    assertEquals([into.status, into.body.code], [403, "out_of_scope"]);
  });
});

test("of more than fifty snapshots those in the middle of a burst go first and labelled ones stay", async () => {
  await withShop(async (shop, app) => {
    await post(app, shop, "snapshots", { label: "mine" });
    for (let n = 0; n < 55; n++) await shop.query(`CREATE TABLE t${n} (a)`);
    const listed = await labels(app, shop);
    assertEquals(listed.length, 50);
    assert(listed.some((one) => one.label === "mine" && !one.automatic));
    assert(listed[0]?.label.endsWith("create-t54"), listed[0]?.label);
  });
});

// The clock is of one process.
testOneProcess("whoever may write does not write and label away the snapshot of before", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const shop = await app.namespace();
  const writer = await shop.mint("write");
  await shop.query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
  await shop.query("INSERT INTO items VALUES (1, 'pen'), (2, 'ink')");
  await post(app, shop, "snapshots", { label: "mine" });
  clock.turn(120_000);
  const ruin = () => post(app, shop, "query", { sql: "DELETE FROM items" }, writer.token);
  const { body } = await ruin();
  for (let n = 0; n < 55; n++) await ruin();
  for (let n = 0; n < 50; n++) await post(app, shop, "snapshots", { label: `x-${n}` }, writer.token);
  const listed = (await labels(app, shop)).map(({ label }) => label);
  assertEquals(listed.length, 50);
  assert(listed.includes("mine"), "the owner's own is gone");
  assertEquals((await post(app, shop, "restore", { snapshot: body.meta?.snapshot })).status, 200);
  assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[2]]);
});

test("what an answer names as the way back is there however many snapshots with labels there are", async () => {
  await withShop(async (shop, app) => {
    const writer = await shop.mint("write");
    for (let n = 0; n < 50; n++) await post(app, shop, "snapshots", { label: `mine-${n}` }, writer.token);
    const { body } = await shop.query("DELETE FROM items");
    const restored = await post(app, shop, "restore", { snapshot: "mine-49" });
    assertEquals(restored.status, 200, restored.text);
    // Behind the thinning that the restore has set going.
    for (let n = 0; n < 3; n++) await shop.query(`CREATE TABLE t${n} (a)`);
    const listed = (await labels(app, shop)).map(({ label }) => label);
    for (const label of [body.meta?.snapshot, member(restored, "undo"), "mine-49"]) {
      assert(listed.includes(String(label)), `${label} of ${listed}`);
    }
    assertEquals((await post(app, shop, "restore", { snapshot: member(restored, "undo") })).status, 200);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[0]]);
    assertEquals((await post(app, shop, "restore", { snapshot: body.meta?.snapshot })).status, 200);
    assertEquals(rowsOf(await shop.query("SELECT count(*) FROM items")), [[2]]);
  });
});

testOneProcess("a deleted database comes back as it was, under its slug or another one", async () => {
  await withShop(async (shop, app) => {
    const base = `/api/namespaces/${shop.slug}/databases`;
    const gone = await app.request("DELETE", `${base}/main`, {
      token: shop.token,
      body: { confirm: "main" },
    });
    assertEquals(gone.status, 200);
    assertEquals((await shop.query("SELECT 1")).status, 404);
    await shop.createDatabase("main");
    const clash = await app.request("POST", `${base}/restore`, { token: shop.token, body: { slug: "main" } });
    assertEquals(clash.status, 409);
    const back = await app.request("POST", `${base}/restore`, {
      token: shop.token,
      body: { slug: "main", into: "old" },
    });
    assertEquals([back.status, member(back, "id")], [200, shop.database.id]);
    const rows = await app.request("POST", `/v1/db/${shop.slug}/old/query`, {
      token: shop.token,
      body: { sql: "SELECT count(*) FROM items" },
    });
    assertEquals(rowsOf(rows), [[2]]);
    const never = await app.request("POST", `${base}/restore`, {
      token: shop.token,
      body: { slug: "never" },
    });
    assertEquals([never.status, never.body.code], [404, "database_not_found"]);
  });
});
