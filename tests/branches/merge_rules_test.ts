// Rules count for what a merge does to the trunk exactly as for statements that do the same, whatever the branch has
// changed and whenever the trunk changes.
import { assertEquals, assertMatch } from "@std/assert";
import { money } from "../money/money_world.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { testCases } from "../testing/cases.ts";
import { heldBy } from "../writes/write_world.ts";
import { type BranchWorld, reportOf } from "./branch_world.ts";
import { branchIn, mergeBranch, type MergeOptions, onBranch, withBranch } from "./merge_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("rules count for what a merge does to the trunk exactly as for statements that do the same", run);

const rulesOf = ({ shop }: BranchWorld) => `/api/namespaces/${shop.slug}/databases/main/rules`;

/** Denies what happens to `items`, unless the settings have something else. */
async function addRule(world: BranchWorld, settings: object): Promise<string> {
  const { app, shop } = world;
  const rule = { tableGlob: "items", effect: "deny", ...settings };
  const answer = await app.request("POST", rulesOf(world), { token: shop.token, body: rule });
  assertEquals(answer.status, 201, answer.text);
  return JSON.parse(answer.text).data.id;
}

async function removeRule(world: BranchWorld, id: string): Promise<void> {
  const { app, shop } = world;
  assertEquals((await app.request("DELETE", `${rulesOf(world)}/${id}`, { token: shop.token })).status, 200);
}

/** Runs something on the trunk right behind the first look that a merge takes, before it merges. */
function behindTheLook({ app }: BranchWorld, change: () => Promise<unknown>): void {
  const { branches } = app.deps.tenants;
  const merge = branches.merge.bind(branches);
  let looks = 0;
  branches.merge = async (trunk, options) => {
    const outcome = await merge(trunk, options);
    if (options.dryRun && looks++ === 0) await change();
    return outcome;
  };
}

const SETUP = [
  "CREATE INDEX by_price ON items (price)",
  "CREATE TABLE kids (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id) ON DELETE CASCADE)",
  "INSERT INTO kids VALUES (1, 2)",
  "CREATE VIEW cheap AS SELECT id FROM items WHERE id < 100",
  "CREATE TRIGGER seen AFTER INSERT ON kids BEGIN SELECT 1; END",
];

interface Change {
  /** Several are one batch for who runs them without a branch. */
  readonly sql: string | readonly string[];
  readonly mode: "schema" | "data";
  /** Each of these rules stops it. */
  readonly stops: readonly object[];
  /** All of these together let it pass. */
  readonly passes: readonly object[];
}

const [inserts, updates, deletes, schema] = ["insert", "update", "delete", "schema"].map((action) => ({
  actions: [action],
}));
const changes: readonly Change[] = [
  {
    ...{ sql: "CREATE INDEX by_name ON items (name)", mode: "schema" },
    ...{
      stops: [{ ...schema }],
      passes: [{ ...deletes }, { unboundedOnly: true }, { tableGlob: "by_name" }],
    },
  },
  { sql: "DROP INDEX by_price", mode: "schema", stops: [{ ...schema }], passes: [{ ...deletes }] },
  {
    ...{ sql: "CREATE TRIGGER t AFTER UPDATE ON items BEGIN DELETE FROM items; END", mode: "schema" },
    ...{ stops: [{ ...schema }], passes: [{ ...deletes }, { tableGlob: "t" }] },
  },
  { sql: "DROP TRIGGER seen", mode: "schema", stops: [{ tableGlob: "kids" }], passes: [{}] },
  {
    sql: ["DROP TRIGGER seen", "CREATE TRIGGER seen AFTER INSERT ON items BEGIN DELETE FROM items; END"],
    ...{ mode: "schema", stops: [{ ...schema }, { tableGlob: "kids" }], passes: [{ ...deletes }] },
  },
  {
    ...{ sql: ["DROP INDEX by_price", "CREATE INDEX by_price ON kids (item)"], mode: "schema" },
    ...{ stops: [{ ...schema }, { tableGlob: "kids" }], passes: [{ ...deletes }] },
  },
  { sql: "CREATE TABLE more (a)", mode: "schema", stops: [{ tableGlob: "more" }], passes: [{}] },
  {
    ...{ sql: "DROP TABLE kids", mode: "schema" },
    stops: [
      { tableGlob: "kids", ...deletes },
      { tableGlob: "kids", ...schema },
      { tableGlob: "kids", unboundedOnly: true },
    ],
    passes: [{}, { tableGlob: "kids", ...inserts }],
  },
  {
    ...{ sql: "DROP VIEW cheap", mode: "schema" },
    ...{ stops: [{ tableGlob: "cheap", ...deletes }], passes: [{}] },
  },
  {
    ...{ sql: "ALTER TABLE items ADD COLUMN colour TEXT", mode: "schema" },
    stops: [{ ...schema }],
    passes: [{ ...inserts }, { ...updates }, { ...deletes }, { tableGlob: "kids" }],
  },
  {
    ...{ sql: "ALTER TABLE items RENAME COLUMN name TO title", mode: "schema" },
    stops: [{ ...schema }],
    passes: [{ ...updates }, { ...deletes }, { tableGlob: "cheap" }],
  },
  {
    ...{ sql: "ALTER TABLE items RENAME TO things", mode: "schema" },
    ...{ stops: [{ ...schema }], passes: [{ ...deletes }, { tableGlob: "kids" }, { tableGlob: "by_price" }] },
  },
  {
    // A merge makes the table anew around its rows, and what stands on it.
    ...{ sql: "ALTER TABLE items DROP COLUMN name", mode: "schema" },
    stops: [{ ...schema }],
    passes: [{ ...inserts }, { ...deletes }, { tableGlob: "cheap" }, { tableGlob: "kids" }, {
      tableGlob: "_rebuild*",
    }],
  },
  {
    ...{ sql: "DELETE FROM items WHERE id = 2", mode: "data" },
    ...{ stops: [{ ...deletes }, { tableGlob: "kids" }, { minRows: 2 }], passes: [{ ...updates }] },
  },
  {
    ...{ sql: "UPDATE items SET price = price + 1 WHERE id < 3", mode: "data" },
    ...{ stops: [{ ...updates }, { minRows: 2 }], passes: [{ ...deletes }, { minRows: 3 }] },
  },
  {
    ...{ sql: "INSERT INTO items VALUES (7, 'nib', 1)", mode: "data" },
    ...{ stops: [{ ...inserts }], passes: [{ ...updates }, { unboundedOnly: true }] },
  },
];

testCases("a merge meets the rules that the statement meets", {
  cases: changes,
  nameOf: ({ sql }) => [sql].flat().join("; "),
  run: async (app, slug, { sql, mode, stops, passes }) => {
    const statements = [sql].flat();
    const direct = ({ shop }: BranchWorld) => shop.batch(statements.map((one) => [one]));
    const world = await branchIn(app, slug, SETUP);
    await onBranch(world, ...statements);
    for (const rule of stops) {
      const id = await addRule(world, rule);
      for (const answer of [await mergeBranch(world, { mode }), await direct(world)]) {
        const message = `${JSON.stringify(rule)} ${answer.text}`;
        assertEquals([answer.status, answer.body.code], [403, "rule_denied"], message);
      }
      await removeRule(world, id);
    }
    for (const rule of passes) await addRule(world, rule);
    const merged = await mergeBranch(world, { mode });
    assertEquals(merged.status, 200, merged.text);
    const unmerged = await branchIn(app, `${slug}-direct`, SETUP);
    for (const rule of passes) await addRule(unmerged, rule);
    const answer = await direct(unmerged);
    assertEquals(answer.status, 200, answer.text);
  },
});

test("a table of which a merge keeps no column is emptied, and a rule that denies deletions says no", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "DROP TABLE kids", "CREATE TABLE kids (name TEXT)");
    await addRule(world, { tableGlob: "kids", ...deletes });
    const denied = await mergeBranch(world, { mode: "schema" });
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    assertEquals(await world.trunk("SELECT id, item FROM kids"), [[1, 2]]);
  }, SETUP);
});

const USERS = ["CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE)"];
const ALL_USERS = "SELECT id, email FROM users ORDER BY id";
const theirs: MergeOptions = { onConflict: "theirs" };

test("rows of the trunk that a merge removes for a conflict are told, billed, and denied like a deletion", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO users VALUES (9, 'a'), (10, 'new')");
    await world.trunk("INSERT INTO users VALUES (8, 'a'), (7, 'own')");
    const dry = reportOf(await mergeBranch(world, { ...theirs, dryRun: true }));
    assertEquals(dry.writes, [
      { action: "delete", table: "users", rows: 1 },
      { action: "insert", table: "users", rows: 2 },
    ]);
    assertEquals(dry.rowsWritten, 3);
    await addRule(world, { tableGlob: "users", actions: ["delete"] });
    const denied = await mergeBranch(world, theirs);
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    assertEquals(JSON.parse(denied.text).hits[0].action, "delete");
    assertEquals(await world.trunk(ALL_USERS), [[7, "own"], [8, "a"]]);
    assertEquals((await mergeBranch(world, { onConflict: "ours" })).status, 200);
    assertEquals(await world.trunk(ALL_USERS), [[7, "own"], [8, "a"], [10, "new"]]);
  }, USERS);
});

test("a merge that a rule stops names every kind of write that it does", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE users SET email = 'x' WHERE id = 1");
    await onBranch(world, "DELETE FROM users WHERE id = 2");
    await onBranch(world, "INSERT INTO users VALUES (3, 'c')");
    await addRule(world, { tableGlob: "*" });
    const denied = await mergeBranch(world);
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    const hits = JSON.parse(denied.text).hits.map(({ table, action }: Record<string, string>) =>
      `${action} ${table}`
    );
    assertEquals(hits.sort(), ["delete users", "insert users", "update users"]);
  }, [...USERS, "INSERT INTO users VALUES (1, 'a'), (2, 'b')"]);
});

test("an updated row that takes another row's value counts with the row that goes for it", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE users SET email = 'x' WHERE id = 1");
    await world.trunk("INSERT INTO users VALUES (2, 'x')");
    const merged = reportOf(await mergeBranch(world, theirs));
    assertEquals(merged.writes, [
      { action: "delete", table: "users", rows: 1 },
      { action: "update", table: "users", rows: 1 },
    ]);
    assertEquals(await world.trunk(ALL_USERS), [[1, "x"]]);
    const audit = "SELECT rows_written FROM _service_meta_audit WHERE operation = 'merge'";
    assertEquals(await world.trunk(audit), [[2]]);
  }, [...USERS, "INSERT INTO users VALUES (1, 'one')"]);
});

test("rows that exchange unique values count as updated", async () => {
  await withBranch(async (world) => {
    await onBranch(
      world,
      "UPDATE users SET email = 'x' WHERE id = 1",
      "UPDATE users SET email = 'a' WHERE id = 2",
      "UPDATE users SET email = 'b' WHERE id = 1",
    );
    await addRule(world, { tableGlob: "users", actions: ["insert", "delete"] });
    assertEquals(reportOf(await mergeBranch(world)).writes, [{ action: "update", table: "users", rows: 2 }]);
  }, [...USERS, "INSERT INTO users VALUES (1, 'a'), (2, 'b')"]);
});

test("a rule from so many rows on counts the rows that conflicts remove", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO users SELECT value, 'k' || value FROM json_each('[101,102,103]')");
    await world.trunk("INSERT INTO users SELECT value, 'k' || (value + 100) FROM json_each('[1,2,3]')");
    await addRule(world, { tableGlob: "users", effect: "require_approval", minRows: 6 });
    const held = heldBy(await mergeBranch(world, theirs));
    const list = await world.app.request("GET", "/api/namespaces/acme/approvals", {
      token: world.app.operatorKey,
    });
    const [shown] = JSON.parse(list.text).data;
    assertEquals([shown.id, shown.affectedRows, shown.merge.report.rowsWritten], [held.id, 6, 6]);
    assertEquals(await world.trunk("SELECT count(*), max(id) FROM users"), [[3, 3]]);
    await addRule(world, { tableGlob: "users", minRows: 7 });
    heldBy(await mergeBranch(world, theirs));
    await addRule(world, { tableGlob: "users", minRows: 5 });
    assertEquals((await mergeBranch(world, theirs)).body.code, "rule_denied");
  }, USERS);
});

test("a row that the trunk has deleted and the branch changed is an insertion", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 99 WHERE id = 2");
    await world.trunk("DELETE FROM items WHERE id = 2");
    await addRule(world, { actions: ["insert"] });
    const denied = await mergeBranch(world, theirs);
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    assertEquals(await world.trunk("SELECT id FROM items ORDER BY id"), [[1], [3]]);
  });
});

test("what the trunk gets between the look at the rules and the merge is looked at too", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "INSERT INTO users VALUES (9, 'a')");
    await addRule(world, { tableGlob: "users", actions: ["delete"] });
    behindTheLook(world, () => world.trunk("INSERT INTO users VALUES (8, 'a')"));
    const denied = await mergeBranch(world, theirs);
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    assertEquals(await world.trunk(ALL_USERS), [[8, "a"]]);
    assertEquals((await world.call("GET", "snapshots")).text.includes("-merge-"), false);
  }, USERS);
});

test("an approved merge that changes between its look and its run is looked at again, and waits with what it would do now", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 11 WHERE id = 1");
    await addRule(world, { effect: "require_approval" });
    const held = heldBy(await mergeBranch(world));
    const manage = `/api/namespaces/acme/approvals`;
    const asOperator = { token: world.app.operatorKey };
    await world.app.request("POST", `${manage}/${held.id}/approve`, asOperator);
    behindTheLook(world, () => world.branch("pr-1", "UPDATE items SET price = 22 WHERE id = 2"));
    const redeemed = await world.call("POST", "redeem_approval", { approvalToken: held.approvalToken });
    assertEquals([redeemed.status, redeemed.body.code], [409, "effect_changed"], redeemed.text);
    assertEquals([JSON.parse(redeemed.text).approvedRows, JSON.parse(redeemed.text).affectedRows], [1, 2]);
    const [shown] = JSON.parse((await world.app.request("GET", manage, asOperator)).text).data;
    assertEquals([shown.state, shown.affectedRows, shown.merge.report.tables[0].changed], ["pending", 2, 2]);
    assertEquals(await world.trunk("SELECT price FROM items ORDER BY id"), [[10], [20], [30]]);
  });
});

test("an approved merge never overwrites what the trunk gets between its look and its run", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 77 WHERE id < 3");
    await world.trunk("UPDATE items SET price = 5 WHERE id = 1");
    await addRule(world, { effect: "require_approval", minRows: 2 });
    const held = heldBy(await mergeBranch(world, theirs));
    const approve = `/api/namespaces/acme/approvals/${held.id}/approve`;
    await world.app.request("POST", approve, { token: world.app.operatorKey });
    behindTheLook(world, () => world.trunk("UPDATE items SET price = 6 WHERE id = 1"));
    const redeemed = await world.call("POST", "redeem_approval", { approvalToken: held.approvalToken });
    assertEquals([redeemed.status, redeemed.body.code], [409, "effect_changed"], redeemed.text);
    assertEquals(await world.trunk("SELECT price FROM items ORDER BY id"), [[6], [20], [30]]);
  });
});

test("without money no branch is compared or merged, not even for a look; what was approved stays so", async () => {
  await withBranch(async (world) => {
    const { app } = world;
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    await addRule(world, { effect: "require_approval" });
    const held = heldBy(await mergeBranch(world));
    const approve = `/api/namespaces/acme/approvals/${held.id}/approve`;
    await app.request("POST", approve, { token: app.operatorKey });
    await spendAll(world);
    const { branches } = app.deps.tenants;
    let asked = 0;
    const [diff, merge] = [branches.diff.bind(branches), branches.merge.bind(branches)];
    branches.diff = (branch) => (asked++, diff(branch));
    branches.merge = (trunk, options) => (asked++, merge(trunk, options));
    const redeem = () => world.call("POST", "redeem_approval", { approvalToken: held.approvalToken });
    const calls = [
      () => world.call("GET", "branches/pr-1/diff"),
      () => mergeBranch(world),
      () => mergeBranch(world, { dryRun: true }),
      redeem,
      redeem,
    ];
    for (const call of calls) {
      const answer = await call();
      assertEquals([answer.status, answer.body.code], [402, "balance_exhausted"], answer.text);
    }
    assertEquals(asked, 0);
    const credit = { token: app.operatorKey, body: { amountUsd: 1, reference: "more" } };
    assertEquals((await app.request("POST", "/api/namespaces/acme/credits", credit)).status, 201);
    assertEquals((await redeem()).status, 200);
    assertEquals(await world.trunk("SELECT id FROM items ORDER BY id"), [[1], [3]]);
  });
});

async function spendAll({ app, shop }: BranchWorld): Promise<void> {
  const { meter } = app.deps.query;
  const { text } = await app.request("GET", "/api/namespaces/acme", { token: shop.token });
  const admission = await meter.admit(JSON.parse(text).data.id);
  const usage = { databaseId: shop.database.id, requests: 1, rowsRead: 0, rowsWritten: 0 };
  meter.settle(admission, { ...usage, costNanoUsd: 6e9 });
  await meter.tick();
}

test("a merge that rules deny is billed as one call with what its look has read", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 1");
    await addRule(world, {});
    const spent = async () => {
      await world.app.deps.query.meter.tick();
      return (await money(world.app, world.shop)).used;
    };
    const before = await spent();
    assertEquals((await mergeBranch(world)).body.code, "rule_denied");
    const denied = await spent() - before;
    assertEquals(denied > 500 && denied < 1000, true, `${denied}`);
  });
});

const timesOf = ({ headers }: ApiAnswer) => (headers.get("server-timing") ?? "").split(", ");
const stagesOf = (answer: ApiAnswer) => timesOf(answer).map((entry) => entry.split(";")[0]);

test("Server-Timing names the stages of a merge: behind a rule also preview and decide, of every try", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = price + 1 WHERE id = 1");
    const dryRun = await mergeBranch(world, { dryRun: true });
    for (const entry of timesOf(dryRun)) assertMatch(entry, /^[a-z]+;dur=\d+(\.\d+)?$/);
    assertEquals(stagesOf(dryRun), ["reserve", "rules", "execute", "settle", "record"]);
    await addRule(world, { minRows: 100 });
    behindTheLook(world, () => world.branch("pr-1", "UPDATE items SET price = 0 WHERE id = 2"));
    const merged = await mergeBranch(world);
    const tried = ["rules", "preview", "decide", "execute"];
    assertEquals(stagesOf(merged), ["reserve", ...tried, ...tried, "settle", "record"], merged.text);
  });
});

test("rules hold a restore whose rows differ only in bytes that no text shows", async () => {
  await withBranch(async (world) => {
    const { app, shop } = world;
    const post = (operation: string, body: unknown) =>
      app.request("POST", `${shop.database.path}/${operation}`, { token: shop.token, body });
    for (const [before, now] of [["610062", "610063"], ["61fe", "61ff"]]) {
      await world.trunk(`UPDATE t SET v = CAST(x'${before}' AS TEXT)`);
      const snapshot = `before-${now}`;
      assertEquals((await post("snapshots", { label: snapshot })).status, 201);
      await world.trunk(`UPDATE t SET v = CAST(x'${now}' AS TEXT)`);
      const rule = await addRule(world, { tableGlob: "t" });
      const restored = await post("restore", { snapshot });
      assertEquals([restored.status, restored.body.code], [403, "rule_denied"], restored.text);
      await removeRule(world, rule);
      const free = await addRule(world, { tableGlob: "items" });
      assertEquals((await post("restore", { snapshot })).status, 200);
      assertEquals(await world.trunk("SELECT hex(v) FROM t"), [[String(before).toUpperCase()]]);
      await removeRule(world, free);
    }
  }, ["CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1, '')"]);
});
