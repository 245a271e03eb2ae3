// One approval for the person who decides: everything that tells what would happen, and another look at it.
import { isEmbedded } from "../testing/tenant_settings.ts";
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { signIn } from "../testing/person.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { type DecisionWorld, decisionWorld, shownIn } from "./decision_world.ts";
import { heldBy } from "./write_world.ts";

const { run, test } = oneStore();
Deno.test("approval page", run);

testSteps("one approval shows", decisionWorld, {
  "who asks what of which rows, by which rule, and what it costs to look": async (world) => {
    const sql = "UPDATE items SET price = price - ? WHERE id IN (1, 2)";
    const { id } = await world.hold(sql, [5]);
    const shown = await world.show(id);
    assertEquals(shown.statements, [{ sql, params: [5] }]);
    const { tokenName, tokenId, database, branchRef, operation, tolerance, state, look } = shown;
    assertEquals({ tokenName, tokenId, database, branchRef, operation, tolerance, state, look }, {
      ...{ tokenName: "test", tokenId: world.agent.id, database: "main", branchRef: "main" },
      ...{ operation: "query", tolerance: 0, state: "pending", look: 0 },
    });
    const { affected, cascaded, rowsRead } = shown.effect;
    assertEquals([affected, cascaded], [2, 0]);
    assert(rowsRead !== null && rowsRead >= 2);
    assertEquals(shown.preview, {
      ...{ table: "items", columns: ["id", "name", "price"], keys: ["id"] },
      before: [[1, "item 1", 10], [2, "item 2", 20]],
      after: [[1, "item 1", 5], [2, "item 2", 15]],
    });
    const rules = shown["rules"] as { tableGlob: string; minRows: unknown; note: unknown }[];
    assertEquals(rules.map(({ tableGlob, minRows, note }) => [tableGlob, minRows, note]), [
      ["items", null, "Prices are checked by a person"],
    ]);
    assert(JSON.stringify(shown["plan"]).includes("items"));
    assertEquals([shown["decidedBy"], shown.outcome], [null, null]);
    assertEquals(shown["askedAt"], shown["lookedAt"]);
  },
  "up to 200 rows, and the rows of triggers and keys as cascaded": async ({ hold, show }) => {
    const { preview, effect } = await show((await hold("DELETE FROM items WHERE id < 250")).id);
    assertEquals([preview?.before.length, preview?.after], [200, []]);
    assertEquals([preview?.before[0], preview?.before[199]], [[1, "item 1", 10], [200, "item 200", 2000]]);
    assertEquals([effect.affected, effect.cascaded], [249, 3]);
  },
  "fewer rows where their values are long": async ({ hold, show }) => {
    const sql = "UPDATE items SET name = hex(zeroblob(6000)) WHERE id <= 100";
    const { preview } = await show((await hold(sql)).id);
    assertEquals([preview?.before.length, preview?.after.length], [10, 10]);
    assertEquals(preview?.after.map(([id]) => id), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  },
  "no more rows than 8 MiB of values, of all statements together": async ({ app, shop, agent, show }) => {
    // Texts and blobs in turns, of 2,000,000 characters each.
    const long = "CASE id % 2 WHEN 0 THEN hex(zeroblob(1000000)) ELSE zeroblob(1500000) END";
    const statements = [
      { sql: `UPDATE items SET name = ${long} WHERE id <= 10` },
      { sql: "DELETE FROM items WHERE id <= 10" },
    ];
    const answer = await app.request("POST", `${shop.database.path}/batch`, {
      token: agent.token,
      body: { statements, transaction: true },
    });
    const { effects, effect } = await show(heldBy(answer).id);
    const [changed, deleted] = effects as {
      ownRows: number;
      preview: { before: unknown[]; after: unknown[] } | null;
    }[];
    assertEquals([changed?.ownRows, deleted?.ownRows, effect.affected], [10, 10, 20]);
    const shown = [changed, deleted].map((one) =>
      one?.preview && [one.preview.before.length, one.preview.after.length]
    );
    // A remote server sends less than that at once: then one row of each statement.
    assertEquals(shown, isEmbedded() ? [[5, 5], null] : [[1, 1], [1, 0]]);
  },
  "the rows that an INSERT adds, behind those that it changes": async ({ hold, show, rows }) => {
    const previewOf = async (sql: string, params: unknown[] = []) => {
      const { preview } = await show((await hold(sql, params)).id);
      return preview && [preview.before, preview.after];
    };
    assertEquals(await previewOf("INSERT INTO items (name, price) VALUES ('a', 1), (?, 2)", ["b"]), [
      [],
      [[301, "a", 1], [302, "b", 2]],
    ]);
    const upsert = "INSERT INTO items VALUES (400, 'a', 1), (2, 'b', 2), (401, 'c', 3), (2, 'd', 4) " +
      "ON CONFLICT (id) DO UPDATE SET price = excluded.price";
    assertEquals(await previewOf(upsert), [
      [[2, "item 2", 20]],
      [[2, "item 2", 4], [400, "a", 1], [401, "c", 3]],
    ]);
    assertEquals(await previewOf("REPLACE INTO main.items VALUES (3, 'r', 1)"), [
      [[3, "item 3", 30]],
      [[3, "r", 1]],
    ]);
    const copied = "WITH old AS (SELECT * FROM items WHERE id < 250) " +
      "INSERT INTO items (name, price) SELECT name, -price FROM old RETURNING name";
    const [before, after = []] = await previewOf(copied) ?? [];
    assertEquals([before, after.length, after[0], after[199]], [
      [],
      200,
      [301, "item 1", -10],
      [500, "item 200", -2000],
    ]);
    assertEquals(await rows("SELECT count(*) FROM items"), [[300]]);
  },
  "the rows of an INSERT that runs with many sets, and none where a trigger takes one away": async (
    world,
  ) => {
    const { app, shop, agent, show, hold } = world;
    const batch = await app.request("POST", `${shop.database.path}/batch`, {
      token: agent.token,
      body: {
        sql: "INSERT INTO items VALUES (?, ?, 0) ON CONFLICT (id) DO UPDATE SET price = 0",
        paramSets: [[500, "a"], [1, "b"], [501, "c"], [2, "d"]],
        transaction: true,
      },
    });
    const { preview } = await show(heldBy(batch).id);
    assertEquals([preview?.before, preview?.after], [
      [[1, "item 1", 10], [2, "item 2", 20]],
      [[1, "item 1", 0], [2, "item 2", 0], [500, "a", 0], [501, "c", 0]],
    ]);
    await shop.setup(
      "CREATE TABLE spare (k TEXT, n INTEGER, PRIMARY KEY (k, n)) WITHOUT ROWID",
      "CREATE TRIGGER t AFTER INSERT ON spare WHEN new.n = 0 BEGIN DELETE FROM spare WHERE n = 0; END",
    );
    const rule = { tableGlob: "spare", effect: "require_approval" };
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    assertEquals((await app.request("POST", path, { token: shop.token, body: rule })).status, 201);
    const added = await show((await hold("INSERT INTO spare VALUES ('y', 1), ('it''s', 2)")).id);
    assertEquals([added.preview?.before, added.preview?.after], [[], [["y", 1], ["it's", 2]]]);
    const taken = await show((await hold("INSERT INTO spare VALUES ('x', 0), ('y', 1)")).id);
    assertEquals([taken.preview, taken.effect.affected], [null, 2]);
  },
  "every statement of a batch": async ({ app, shop, agent, show }) => {
    const statements = [
      { sql: "DELETE FROM notes WHERE id = ?", params: [1] },
      { sql: "UPDATE items SET name = 'x' WHERE id = 3" },
    ];
    const answer = await app.request("POST", `${shop.database.path}/batch`, {
      token: agent.token,
      body: { statements, transaction: true },
    });
    const shown = await show(heldBy(answer).id);
    const effects = shown["effects"] as { preview: { table: string } | null }[];
    assertEquals(shown["operation"], "batch");
    assertEquals(effects.map(({ preview }) => preview?.table), ["notes", "items"]);
    assertEquals([shown.effect.affected, shown.statements.length], [2, 2]);
  },
  "a person who asks by name, not as a token": async (world) => {
    const held = await world.hold("DELETE FROM items WHERE id = 3");
    const { approvals } = world.app.deps.query;
    const { id: namespaceId = "" } = await world.app.deps.control.namespaces.bySlug(world.shop.slug) ?? {};
    const mara = await signIn(world.app, {
      role: "editor",
      namespace: world.shop.slug,
      email: "mara@example.com",
    });
    const record = await approvals.byId(namespaceId, held.id);
    assert(record && await approvals.move(record, "pending", { requestedBy: mara.id }));
    assertEquals((await world.show(held.id))["tokenName"], "mara@example.com");
  },
  "nothing for an id that is unknown": async ({ call }) => {
    for (const id of ["apv_0", "x"]) {
      for (const [method, verb] of [["GET"], ["POST", "look"], ["POST", "approve"]] as const) {
        const answer = await call(method, id, verb);
        assertEquals([answer.status, answer.body.code], [404, "approval_not_found"]);
      }
    }
  },
}, test);

const changed = (world: DecisionWorld) => world.shop.setup("UPDATE notes SET item = 9 WHERE id = 3");

testSteps("another look at what waits", decisionWorld, {
  "is the same look where nothing has changed, and costs nothing": async (world) => {
    const { id } = await world.hold("DELETE FROM items WHERE id = 8");
    const before = await world.show(id);
    await changed(world);
    await world.shop.setup("UPDATE notes SET item = 8 WHERE id = 3");
    const log = "SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE 'DELETE FROM items%'";
    const logged = await world.rows(log);
    const { lookedAt, ...after } = await world.look(id);
    const { lookedAt: askedAt, ...same } = before;
    assertEquals(after, same);
    assert(String(lookedAt) >= String(askedAt));
    assertEquals(await world.rows(log), logged);
  },
  "is a new one where cascades differ, and the old one can no longer be approved": async (world) => {
    const { id } = await world.hold("DELETE FROM items WHERE id = 8");
    await changed(world);
    const looked = await world.look(id);
    assertEquals([looked.look, looked.state, looked.effect.cascaded], [1, "pending", 0]);
    const stale = await world.call("POST", id, "approve", { body: { look: 0 } });
    assertEquals([stale.status, stale.body.code], [409, "effect_changed"]);
    assertEquals(shownIn(await world.call("POST", id, "approve", { body: { look: 1 } })).state, "approved");
  },
  "is what an approval stands for; it is repeated as it was, or refused": async (world) => {
    const held = await world.hold("DELETE FROM items WHERE id = 6");
    const approve = (body: object) => world.call("POST", held.id, "approve", { body });
    const first = shownIn(await approve({ look: 0, snapshot: true }));
    assertEquals(shownIn(await approve({ look: 0, snapshot: true })), first);
    for (const other of [{}, { look: 0, snapshot: false }, { look: 1, snapshot: true }]) {
      const refused = await approve(other);
      assertEquals([refused.status, refused.body.code], [409, "approval_decided"], JSON.stringify(other));
    }
    assertEquals(await world.show(held.id), first);
    const denied = await world.hold("DELETE FROM items WHERE id = 5");
    const deny = (reason: string) => world.call("POST", denied.id, "deny", { body: { reason } });
    const stands = shownIn(await deny("Not now"));
    assertEquals(shownIn(await deny("Never")), stands);
  },
  "lets the write run that was approved after it": async (world) => {
    const held = await world.hold("UPDATE items SET price = price + 1 WHERE id < 3");
    await world.shop.setup("CREATE TABLE other (a)");
    const own = await world.shop.query("UPDATE items SET price = 0 WHERE id = 2");
    const other = heldBy(own);
    await world.approve(other.id);
    const redeemed = await world.app.request("POST", `${world.shop.database.path}/redeem_approval`, {
      token: world.shop.token,
      body: { approvalToken: other.approvalToken },
    });
    assertEquals(redeemed.status, 200, redeemed.text);
    const { look, preview } = await world.look(held.id);
    assertEquals([look, preview?.before[1]?.[2], preview?.after[1]?.[2]], [1, 0, 1]);
    await world.approve(held.id);
    assertEquals((await world.redeem(held)).status, 200);
    assertEquals(await world.rows("SELECT price FROM items WHERE id < 3"), [[11], [1]]);
  },
  "tells the error that the write would meet now, and it goes on waiting": async (world) => {
    const { id } = await world.hold("INSERT INTO items VALUES (?, 'new', 1)", [999]);
    const insert = heldBy(await world.shop.query("INSERT INTO items VALUES (999, 'other', 1)"));
    await world.approve(insert.id);
    const path = `${world.shop.database.path}/redeem_approval`;
    const body = { approvalToken: insert.approvalToken };
    assertEquals((await world.app.request("POST", path, { token: world.shop.token, body })).status, 200);
    const answer = await world.call("POST", id, "look");
    assertEquals([answer.status, answer.body.errorDetail?.kind], [400, "unique_violation"], answer.text);
    assertEquals((await world.show(id)).state, "pending");
  },
  "is only for what waits": async (world) => {
    const { id } = await world.hold("DELETE FROM items WHERE id = 8");
    assertEquals((await world.call("POST", id, "deny")).status, 200);
    assertEquals((await world.call("POST", id, "look")).body.code, "approval_decided");
  },
  "works for a merge and for a restore": async ({ app, shop, show, look }) => {
    const post = (path: string, body: unknown) =>
      app.request("POST", `${shop.database.path}${path}`, { token: shop.token, body });
    assertEquals((await post("/snapshots", { label: "then" })).status, 201);
    assertEquals((await post("/claim_branch", { purpose: "prices", ref: "prices" })).status, 201);
    const onBranch = await post("@prices/query", { sql: "UPDATE items SET price = 1 WHERE id = 1" });
    assertEquals(onBranch.status, 200, onBranch.text);
    const merge = heldBy(await post("/branches/prices/merge", { mode: "data", onConflict: "abort" }));
    const merged = await look(merge.id);
    assertEquals([merged.look, merged["operation"]], [0, "merge"]);
    await post("@prices/query", { sql: "UPDATE items SET price = 1 WHERE id = 2" });
    assertEquals([(await look(merge.id)).look, (await show(merge.id)).affectedRows], [1, 2]);
    await shop.setup("INSERT INTO notes VALUES (9, 1)");
    const rule = { tableGlob: "notes", effect: "require_approval" };
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    assertEquals((await app.request("POST", path, { token: shop.token, body: rule })).status, 201);
    const restore = heldBy(await post("/restore", { snapshot: "then" }));
    const restored = await look(restore.id);
    assertEquals([restored.look, restored["operation"], restored.affectedRows], [0, "restore", 1]);
  },
}, test);

testSteps("what became of an approved write", decisionWorld, {
  "is told with its rows, its log row and who approved it": async (world) => {
    const held = await world.hold("UPDATE items SET price = 0 WHERE id < 4");
    const approved = await world.approve(held.id);
    assertEquals([approved["decidedBy"], approved["decidedByName"]], ["operator", "the operator"]);
    const answer = await world.redeem(held);
    const { state, outcome } = await world.show(held.id);
    assertEquals([state, outcome?.["kind"], outcome?.["rowsWritten"]], ["redeemed", "ran", 3]);
    assertEquals([outcome?.["queryLogId"], outcome?.["snapshot"]], [answer.body.meta?.queryLogId, null]);
  },
  "can be undone where a snapshot was wanted first": async (world) => {
    const held = await world.hold("UPDATE items SET price = 0 WHERE id < 4");
    await world.approve(held.id, { snapshot: true });
    const answer = await world.redeem(held);
    const { outcome } = await world.show(held.id);
    assertMatch(String(outcome?.["snapshot"]), /^auto-\d{8}T\d{9}Z-update-items$/);
    assertEquals(answer.body.meta?.snapshot, outcome?.["snapshot"]);
    await world.shop.setup("INSERT INTO notes VALUES (9, 1)");
    const shown = await world.call("GET", held.id, "undo");
    const { digest, rows, tables } = shown.body.data as { digest: string; rows: number; tables: unknown[] };
    assertEquals([rows, tables.length], [4, 2]);
    const byAgent = await world.call("POST", held.id, "undo", { token: world.shop.token });
    assertEquals(byAgent.body.code, "person_required");
    await world.shop.setup("INSERT INTO notes VALUES (10, 1)");
    const stale = await world.call("POST", held.id, "undo", { body: { digest } });
    assertEquals([stale.status, stale.body.code], [409, "effect_changed"]);
    // The rule that has held the write does not hold its undo: a person decides about it here.
    const undone = shownIn(await world.call("POST", held.id, "undo"));
    assertEquals((undone.outcome?.["undone"] as { byName: string }).byName, "the operator");
    assertEquals(await world.rows("SELECT price FROM items WHERE id < 4"), [[10], [20], [30]]);
    assertEquals((await world.call("POST", held.id, "undo")).body.code, "nothing_to_undo");
  },
  "cannot be undone where no snapshot was taken, or a rule denies it": async (world) => {
    const held = await world.hold("UPDATE items SET price = 0 WHERE id < 4");
    await world.approve(held.id);
    assertEquals((await world.call("GET", held.id, "undo")).body.code, "nothing_to_undo");
    await world.redeem(held);
    assertEquals((await world.call("POST", held.id, "undo")).body.code, "nothing_to_undo");
    const other = await world.hold("UPDATE items SET price = 1 WHERE id < 4");
    await world.approve(other.id, { snapshot: true });
    assertEquals((await world.redeem(other)).status, 200);
    const body = { tableGlob: "items", effect: "deny", actions: ["update"] };
    const path = `/api/namespaces/${world.shop.slug}/databases/main/rules`;
    await world.app.request("POST", path, { token: world.shop.token, body });
    assertEquals((await world.call("POST", other.id, "undo")).body.code, "rule_denied");
    assertEquals(await world.rows("SELECT price FROM items WHERE id < 4"), [[1], [1], [1]]);
  },
  "is told with both figures where it came back": async (world) => {
    const held = await world.hold("DELETE FROM items WHERE id = 7");
    await world.approve(held.id, { snapshot: true });
    await world.shop.setup("DELETE FROM notes WHERE id = 1");
    assertEquals((await world.redeem(held)).body.code, "effect_changed");
    const { state, outcome, look, ...more } = await world.show(held.id);
    const { kind, approvedRows, affectedRows } = outcome ?? {};
    assertEquals([state, look, kind, approvedRows, affectedRows], ["pending", 1, "came_back", 3, 2]);
    assertEquals([more["decidedBy"], more["decidedAt"], more["snapshotFirst"]], [null, null, false]);
    assertNotEquals(more["lookedAt"], more["askedAt"]);
    await world.approve(held.id);
    assertEquals((await world.redeem(held)).status, 200);
    assertEquals((await world.show(held.id)).outcome?.["kind"], "ran");
  },
  "is told by its error where the engine refused it": async (world) => {
    const held = await world.hold("INSERT INTO items VALUES (?, 'new', 1)", [999]);
    await world.approve(held.id);
    const other = heldBy(await world.shop.query("INSERT INTO items VALUES (999, 'other', 1)"));
    await world.approve(other.id);
    const path = `${world.shop.database.path}/redeem_approval`;
    const body = { approvalToken: other.approvalToken };
    assertEquals((await world.app.request("POST", path, { token: world.shop.token, body })).status, 200);
    assertEquals((await world.redeem(held)).body.errorDetail?.kind, "unique_violation");
    const { state, outcome } = await world.show(held.id);
    assertEquals([state, outcome?.["kind"], outcome?.["code"]], ["redeemed", "failed", "sql_error"]);
  },
}, test);
