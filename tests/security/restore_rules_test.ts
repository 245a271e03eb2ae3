// A restore does to tables what statements would have to do: rules deny it, or hold it for a person.
import { assert, assertEquals } from "@std/assert";
import { heldBy, withWrites, type WriteWorld } from "../writes/write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("a restore does to tables what statements would have to do", run);

/** Three tables as a snapshot has them; since then one has other rows, one another column, and one is new. */
async function restorable(world: WriteWorld): Promise<void> {
  await world.setup(
    "CREATE TABLE cust (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO cust VALUES (1, 'ann'), (2, 'bob'), (3, 'cid')",
    "CREATE TABLE kept (id INTEGER PRIMARY KEY)",
    "CREATE TABLE wide (id INTEGER PRIMARY KEY)",
  );
  assertEquals((await world.post("snapshots", { label: "then" })).status, 201);
  await world.setup(
    "DELETE FROM cust WHERE id = 1",
    "UPDATE cust SET name = 'BOB' WHERE id = 2",
    "INSERT INTO cust VALUES (4, 'dan')",
    "ALTER TABLE wide ADD COLUMN note TEXT",
    "CREATE TABLE fresh (id INTEGER PRIMARY KEY)",
    "INSERT INTO fresh VALUES (1), (2)",
  );
}

const restore = (world: WriteWorld, more: object = {}) =>
  world.post("restore", { snapshot: "then", ...more });
const names = (world: WriteWorld) =>
  world.rows("SELECT group_concat(name) FROM (SELECT name FROM cust ORDER BY id)");

/** The action and table of each hit of an answer. */
function hitsIn(text: string): string[] {
  const hits: { action: string; table: string }[] = JSON.parse(text).hits;
  return hits.map(({ action, table }) => `${action} ${table}`).sort();
}

async function approvalOf(world: WriteWorld, id: string) {
  const path = `/api/namespaces/${world.shop.slug}/approvals?state=pending`;
  const { text } = await world.app.request("GET", path, { token: world.app.operatorKey });
  const found: { id: string; restore: unknown; look: number; affectedRows: unknown }[] =
    JSON.parse(text).data;
  return found.find((one) => one.id === id);
}

test("a rule that denies what a restore would do to a table denies the restore, and nothing changes", async () => {
  const cases = [
    {
      rule: { tableGlob: "*" },
      hits: ["delete cust", "delete fresh", "insert cust", "schema fresh", "schema wide", "update cust"],
    },
    { rule: { tableGlob: "fresh" }, hits: ["delete fresh", "schema fresh"] },
    { rule: { tableGlob: "cust", actions: ["insert"] }, hits: ["insert cust"] },
    { rule: { tableGlob: "wide", actions: ["schema"] }, hits: ["schema wide"] },
    // What a change of the schema does is not told by a number of rows.
    { rule: { tableGlob: "wide", minRows: 1000 }, hits: ["schema wide"] },
    { rule: { tableGlob: "cust", minRows: 5 }, hits: ["delete cust", "insert cust", "update cust"] },
    { rule: { tableGlob: "cust", unboundedOnly: true }, hits: ["delete cust", "insert cust", "update cust"] },
  ];
  for (const { rule, hits } of cases) {
    await withWrites(async (world) => {
      await restorable(world);
      await world.rule({ effect: "deny", ...rule });
      const admin = await world.shop.mint("admin");
      const answer = await world.post("restore", { snapshot: "then" }, { token: admin.token });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
      assertEquals(hitsIn(answer.text), hits);
      assertEquals(await names(world), [["BOB,cid,dan"]]);
      assertEquals(await world.rows("SELECT count(*) FROM fresh"), [[2]]);
      const labels = JSON.parse(
        (await world.app.request("GET", `${world.shop.database.path}/snapshots`, { token: world.shop.token }))
          .text,
      );
      assert(!labels.data.some(({ label }: { label: string }) => label.includes("-restore-")));
      const log = await world.rows(
        "SELECT status, error_kind FROM _service_meta_query_log WHERE operation = 'restore'",
      );
      assertEquals(log, [["error", "rule_denied"]]);
    });
  }
});

test("what a full-text index holds that keeps no text counts for rules as a table's rows", async () => {
  await withWrites(async (world) => {
    await world.setup(
      "CREATE TABLE kept (id INTEGER PRIMARY KEY)",
      "CREATE VIRTUAL TABLE words USING fts5(body, c='')",
      "INSERT INTO words(rowid, body) VALUES (1, 'old')",
    );
    assertEquals((await world.post("snapshots", { label: "then" })).status, 201);
    await world.rule({ tableGlob: "words", effect: "require_approval", actions: ["update"] });
    assertEquals((await restore(world)).status, 200);
    await world.setup(
      "INSERT INTO words(words, rowid, body) VALUES ('delete', 1, 'old')",
      "INSERT INTO words(rowid, body) VALUES (1, 'new')",
    );
    const held = heldBy(await restore(world));
    await world.setup("INSERT INTO words(rowid, body) VALUES (2, 'newer')");
    await world.decide(held.id, "approve");
    const answer = await world.redeem(held.approvalToken);
    assertEquals([answer.status, answer.body.code], [409, "effect_changed"], answer.text);
    assertEquals(await world.rows("SELECT rowid FROM words('new OR newer')"), [[1], [2]]);
    await world.decide(held.id, "approve", { look: 1 });
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
    assertEquals(await world.rows("SELECT rowid FROM words('old')"), [[1]]);
  });
});

test("rules for other tables, actions and numbers of rows let a restore pass", async () => {
  const rules = [
    { tableGlob: "kept" },
    { tableGlob: "wide", actions: ["insert", "update", "delete"] },
    { tableGlob: "cust", minRows: 6 },
    { tableGlob: "*", enabled: false },
  ];
  await withWrites(async (world) => {
    await restorable(world);
    for (const rule of rules) await world.rule({ effect: "deny", ...rule });
    const answer = await restore(world);
    assertEquals(answer.status, 200, answer.text);
    assertEquals(await names(world), [["ann,bob,cid"]]);
  });
});

test("a restore into a new database touches no table, whatever the rules", async () => {
  await withWrites(async (world) => {
    await restorable(world);
    await world.rule({ tableGlob: "*", effect: "deny" });
    assertEquals((await restore(world, { into: "copy" })).status, 201);
  });
});

test("a restore that a rule holds shows a person tables and rows, and runs once when approved", async () => {
  await withWrites(async (world) => {
    await restorable(world);
    await world.rule({ tableGlob: "cust", effect: "require_approval" });
    const held = heldBy(await restore(world));
    assertEquals(await names(world), [["BOB,cid,dan"]]);
    const shown = await approvalOf(world, held.id);
    assertEquals(shown?.affectedRows, 5);
    const told = JSON.stringify(shown?.restore);
    for (
      const part of [
        '"snapshot":"then"',
        '"table":"cust"',
        '"added":1',
        '"ann"',
        '"dan"',
        '"BOB"',
        '"wide"',
        '"fresh"',
      ]
    ) {
      assert(told.includes(part), `${part} in ${told}`);
    }
    assertEquals((await world.redeem(held.approvalToken)).body.code, "approval_pending");
    await world.decide(held.id, "approve");
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.redeem(held.approvalToken)));
    assertEquals(
      answers.filter(({ status }) => status === 200).length,
      1,
      answers.map(({ text }) => text).join(),
    );
    assertEquals(await names(world), [["ann,bob,cid"]]);
    const undo: string = JSON.parse(answers.find(({ status }) => status === 200)?.text ?? "").data.undo;
    assert(undo.startsWith("auto-"));
  });
});

test("an approved restore whose database has changed meanwhile waits for another look", async () => {
  const changes = [
    "UPDATE cust SET name = 'eve' WHERE id = 4",
    "INSERT INTO fresh VALUES (3)",
    "CREATE INDEX i ON cust (name)",
  ];
  for (const change of changes) {
    await withWrites(async (world) => {
      await restorable(world);
      await world.rule({ tableGlob: "cust", actions: ["delete"], effect: "require_approval", tolerance: 10 });
      const held = heldBy(await restore(world));
      await world.decide(held.id, "approve");
      await world.setup(change);
      const changed = await world.redeem(held.approvalToken);
      assertEquals([changed.status, changed.body.code], [409, "effect_changed"], changed.text);
      assertEquals(await world.rows("SELECT count(*) FROM cust"), [[3]]);
      assertEquals((await approvalOf(world, held.id))?.look, 1);
      await world.decide(held.id, "approve", { look: 1 });
      assertEquals((await world.redeem(held.approvalToken)).status, 200);
      assertEquals(await names(world), [["ann,bob,cid"]]);
    });
  }
});

test("an approved restore that a newer rule denies is denied, and one that it holds anew waits", async () => {
  await withWrites(async (world) => {
    await restorable(world);
    await world.rule({ tableGlob: "cust", effect: "require_approval" });
    const first = heldBy(await restore(world));
    await world.decide(first.id, "approve");
    await world.rule({ tableGlob: "fresh", effect: "require_approval" });
    assertEquals((await world.redeem(first.approvalToken)).body.code, "effect_changed");
    await world.decide(first.id, "approve", { look: 1 });
    await world.rule({ tableGlob: "wide", effect: "deny" });
    assertEquals((await world.redeem(first.approvalToken)).body.code, "rule_denied");
    assertEquals((await world.redeem(first.approvalToken)).body.code, "approval_denied");
    assertEquals(await names(world), [["BOB,cid,dan"]]);
  });
});

test("writes beside a restore under rules are judged with it or stay out of it", async () => {
  await withWrites(async (world) => {
    await restorable(world);
    await world.rule({ tableGlob: "kept", effect: "deny" });
    const [answer, ...writes] = await Promise.all([
      restore(world),
      ...Array.from(
        { length: 10 },
        (_, at) => world.shop.query("INSERT INTO cust (name) VALUES (?)", [`w${at}`]),
      ),
    ]);
    assertEquals(answer.status, 200, answer.text);
    assertEquals(writes.map(({ status }) => status), writes.map(() => 200));
  });
});

test("what is written between the look of a rule and the restore is looked at too", async () => {
  await withWrites(async (world) => {
    await restorable(world);
    await world.rule({ tableGlob: "cust", effect: "deny", minRows: 12 });
    const { tenants } = world.app.deps.query;
    const open = tenants.open.bind(tenants);
    let looks = 0;
    tenants.open = (ids) =>
      new Proxy(open(ids), {
        get: (database, name) => {
          const member = Reflect.get(database, name);
          if (name !== "compareSnapshot") {
            return typeof member === "function" ? member.bind(database) : member;
          }
          return async (snapshot: string) => {
            const effect = await database.compareSnapshot(snapshot);
            if (++looks === 1) {
              await world.setup(
                "INSERT INTO cust SELECT value, 'new' FROM json_each('[11,12,13,14,15,16,17,18,19]')",
              );
            }
            return effect;
          };
        },
      });
    const answer = await restore(world);
    assertEquals([answer.status, answer.body.code, looks], [403, "rule_denied", 2], answer.text);
    assertEquals(await world.rows("SELECT count(*) FROM cust"), [[12]]);
  });
});

test("a deleted database never takes the place of a living one", async () => {
  await withWrites(async (world) => {
    const { app, shop } = world;
    const path = `/api/namespaces/${shop.slug}/databases`;
    const options = { token: shop.token };
    assertEquals(
      (await app.request("DELETE", `${path}/main`, { ...options, body: { confirm: "main" } })).status,
      200,
    );
    assertEquals(
      (await app.request("POST", path, { ...options, body: { slug: "main", name: "Main" } })).status,
      201,
    );
    const answer = await app.request("POST", `${path}/restore`, { ...options, body: { slug: "main" } });
    assertEquals([answer.status, answer.body.code], [409, "slug_taken"], answer.text);
  });
});
