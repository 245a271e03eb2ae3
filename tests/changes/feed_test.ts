// The feed of changes: every commit of every kind leaves a row, in order, and a follower is told of each or told of a gap.
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { worldIn } from "../transactions/transaction_world.ts";
import { changesWorld, kernel } from "./changes_world.ts";

const { test, run } = oneStore();
Deno.test("changes are told by polls and streams", run);

test("each write leaves one change, with what it did; reads and writes that change nothing leave none", async () => {
  await using world = await changesWorld();
  const { tenant, poll } = world;
  const beginning = await poll();
  assertEquals(beginning.data, []);
  for (
    const sql of [
      "CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT UNIQUE)",
      "INSERT INTO a (v) VALUES ('1'), ('2'), ('3')",
      "SELECT * FROM a",
      "UPDATE a SET v = v || 'x' WHERE id < 3",
      "UPDATE a SET v = 'y' WHERE id = 99",
      "DELETE FROM a WHERE id = 1",
      "INSERT INTO a (id, v) VALUES (2, 'z') ON CONFLICT (id) DO UPDATE SET v = 'z'",
      "INSERT INTO missing VALUES (1)",
      "DROP TABLE a",
    ]
  ) await tenant.query(sql);
  const { data, cursor } = await poll();
  assertEquals(data.map(kernel), [
    ["a", "schema", 0],
    ["a", "insert", 3],
    ["a", "update", 2],
    ["a", "delete", 1],
    ["a", "insert,update", 1],
    ["a", "delete,schema", data.at(-1)?.rows ?? 0],
  ]);
  const [first] = data;
  assert(first && Math.abs(Date.parse(first.at) - Date.now()) < 60_000, first?.at);
  assertEquals(data.map(({ id }) => Number(id.split("-")[1])), [1, 2, 3, 4, 5, 6]);
  assertEquals(cursor, data.at(-1)?.id);
  const behind = await poll(`?since=${data[2]?.id}`);
  assertEquals(behind.data, data.slice(3));
  assertEquals(await poll(`?since=${cursor}`), { data: [], cursor });
  assertEquals((await poll("?since=now")).cursor, cursor);
  assertEquals((await poll(`?since=${beginning.cursor}`)).data, data);
});

test("a batch is one change of all of its tables; what is undone leaves none", async () => {
  await using world = await changesWorld();
  const { tenant, poll } = world;
  await tenant.setup(
    "CREATE TABLE a (id INTEGER PRIMARY KEY)",
    "CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE)",
    "CREATE TABLE c (id)",
    "CREATE TRIGGER t AFTER INSERT ON b BEGIN INSERT INTO c VALUES (new.id); END",
  );
  const { cursor } = await poll();
  await tenant.batch([["INSERT INTO a VALUES (1), (2)"], ["INSERT INTO b VALUES (1, 1), (2, 1)"]]);
  await tenant.batch([["DELETE FROM a WHERE id = 2"], ["INSERT INTO a VALUES (1)"]], {
    transaction: true,
  });
  await tenant.query("DELETE FROM a WHERE id = 1");
  const dry = await tenant.query("DELETE FROM a", [], { headers: { "X-Dry-Run": "1" } });
  assertEquals(dry.status, 200, dry.text);
  const { data } = await poll(`?since=${cursor}`);
  assertEquals(data.map(kernel), [["a,b,c", "insert", 6], ["a,b", "delete", 3]]);
});

test("a table that is renamed is told under both names, to who follows either, and stands so in the audit", async () => {
  await using world = await changesWorld();
  const { tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY, v)", "INSERT INTO a VALUES (1, 1)");
  const { cursor } = await poll();
  await tenant.setup("ALTER TABLE a RENAME TO z", "ALTER TABLE z RENAME COLUMN v TO w");
  await tenant.batch([["CREATE TABLE made (id)"], ['ALTER TABLE made RENAME TO "in Use"']], {
    transaction: true,
  });
  const { data } = await poll(`?since=${cursor}`);
  const tables = ["a,z", "z", "in Use,made"];
  assertEquals(data.map((change) => change.tables.join()), tables);
  assertEquals((await poll(`?since=${cursor}&tables=in%20Use`)).data.length, 1);
  assertEquals((await poll(`?since=${cursor}&tables=z`)).data.length, 2);
  const audit = await tenant.query("SELECT tables FROM _service_meta_audit ORDER BY id DESC LIMIT 3");
  const told: string[][] = JSON.parse(audit.text).data.rows;
  assertEquals(told.map(([names]) => JSON.parse(names ?? "").join()).reverse(), tables);
});

test("concurrent writes are told in order, none twice and none left out", async () => {
  await using world = await changesWorld();
  const { tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)");
  const { cursor } = await poll();
  const stream = await world.open(`?since=${cursor}`);
  await Promise.all(Array.from({ length: 60 }, (_, id) => tenant.query("INSERT INTO a VALUES (?)", [id])));
  const { data } = await poll(`?since=${cursor}`);
  assertEquals(data.reduce((sum, { rows }) => sum + rows, 0), 60);
  const seqs = data.map(({ id }) => Number(id.split("-")[1]));
  assertEquals(seqs, seqs.map((_, at) => (seqs[0] ?? 0) + at));
  const events = await stream.events(data.length);
  assertEquals(events.map(({ change }) => change), [...data]);
  await stream.close();
});

test("approved writes, execution tokens and interactive transactions are told once, at their commit", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)", "INSERT INTO a VALUES (1), (2), (3)");
  const { cursor } = await poll();
  const post = async (path: string, body: object, token = tenant.token) =>
    JSON.parse((await app.request("POST", path, { token, body })).text);
  const proposed = await post(`${tenant.database.path}/propose`, { sql: "DELETE FROM a WHERE id = 1" });
  assertEquals((await poll(`?since=${cursor}`)).data, []);
  await post(`${tenant.database.path}/apply`, { executionToken: proposed.data.executionToken });
  await post(`/api/namespaces/acme/databases/main/rules`, {
    tableGlob: "a",
    actions: ["delete"],
    effect: "require_approval",
  });
  const held = JSON.parse((await tenant.query("DELETE FROM a WHERE id = 2")).text);
  const approvalId = held.approvalUrl.split("/").at(-1);
  await post(`/api/namespaces/acme/approvals/${approvalId}/approve`, {}, app.operatorKey);
  await post(`${tenant.database.path}/redeem_approval`, { approvalToken: held.approvalToken });
  const { data } = await poll(`?since=${cursor}`);
  assertEquals(data.map(kernel), [["a", "delete", 1], ["a", "delete", 1]]);
});

test("an interactive transaction is told at its commit, without what it has undone", async () => {
  await using world = await changesWorld();
  const { app, poll } = world;
  const { tenant, begin } = await worldIn(app, "talks");
  const { token, database: { path } } = tenant;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)");
  const { cursor } = await poll("", { token, path });
  const transaction = await begin("immediate");
  await transaction.exec("INSERT INTO a VALUES (10), (11)");
  await transaction.savepoint("savepoint", "one");
  await transaction.exec("DROP TABLE a");
  await transaction.savepoint("rollback to", "one");
  await transaction.exec("CREATE TABLE b (x)");
  assertEquals((await poll(`?since=${cursor}`, { token, path })).data, []);
  const waiting = poll(`?since=${cursor}&waitSec=25`, { token, path });
  await transaction.commit();
  assertEquals((await waiting).data.map(kernel), [["a,b", "insert,schema", 2]]);
  const given = await begin("immediate");
  await given.exec("INSERT INTO a VALUES (20)");
  await given.rollback();
  assertEquals((await poll(`?since=${cursor}`, { token, path })).data.length, 1);
});

test("a poll waits for the next change and is answered with it; a bad since is refused", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  const waiting = poll("?waitSec=25");
  await tenant.query("CREATE TABLE a (id)");
  assertEquals((await waiting).data.map(kernel), [["a", "schema", 0]]);
  const { cursor } = await poll();
  const filtered = poll(`?since=${cursor}&tables=B,c&waitSec=25`);
  await tenant.query("INSERT INTO a VALUES (1)");
  await tenant.query("CREATE TABLE b (id)");
  assertEquals((await filtered).data.map(kernel), [["b", "schema", 0]]);
  for (
    const search of ["since=x", "since=1-x", "since=-1", "waitSec=26", "waitSec=-1", "tables=", "other=1"]
  ) {
    const answer = await app.request("GET", `${tenant.database.path}/changes?${search}`, {
      token: tenant.token,
    });
    assertEquals([search, answer.status], [search, 400]);
  }
});

test("a poll whose token is revoked while it waits is told nothing of what comes then", async () => {
  await using world = await changesWorld();
  const { app, tenant } = world;
  await tenant.setup("CREATE TABLE a (id)");
  const reader = await tenant.mint("read");
  const begun = Promise.withResolvers<void>();
  const feeds = app.deps.changes;
  const follow = feeds.follow.bind(feeds);
  feeds.follow = (target) => {
    begun.resolve();
    return follow(target);
  };
  const waiting = app.request("GET", `${tenant.database.path}/changes?since=now&waitSec=25`, {
    token: reader.token,
  });
  await begun.promise;
  const gone = await app.request("DELETE", `/api/namespaces/acme/tokens/${reader.id}`, {
    token: tenant.token,
  });
  assertEquals(gone.status, 200, gone.text);
  await tenant.query("INSERT INTO a VALUES (1)");
  const { status, body } = await waiting;
  assertEquals([status, body.code, body.data], [401, "invalid_bearer", undefined]);
});

test("a restore raises the epoch, and whoever follows is told to begin anew", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id)", "INSERT INTO a VALUES (1)");
  const post = (path: string, body: object) =>
    app.request("POST", `${tenant.database.path}${path}`, { token: tenant.token, body });
  await post("/snapshots", { label: "one" });
  await tenant.setup("INSERT INTO a VALUES (2)", "CREATE TABLE b (id)");
  const before = await poll();
  const stream = await world.open(`?since=${before.cursor}`);
  const waiting = poll(`?since=${before.cursor}&waitSec=25`);
  const restored = await post("/restore", { snapshot: "one" });
  assertEquals(restored.status, 200, restored.text);
  const { data, cursor } = await waiting;
  assertEquals(data.map(({ kinds }) => kinds.join()), ["reset", "restore"]);
  assertEquals(data[1]?.tables, ["a", "b"]);
  assertEquals((await stream.events(2)).map(({ event }) => event), ["reset", "change"]);
  await stream.close();
  const [epoch, seq] = cursor.split("-").map(Number);
  const [formerEpoch, formerSeq] = before.cursor.split("-").map(Number);
  assert((epoch ?? 0) > (formerEpoch ?? 0) && (seq ?? 0) > (formerSeq ?? 0), `${cursor} ${before.cursor}`);
  await tenant.setup("INSERT INTO a VALUES (3)");
  const later = await poll(`?since=${before.data[0]?.id}`);
  assertEquals(later.data.map(({ kinds }) => kinds.join()), ["reset", "restore", "insert"]);
  assertEquals((await poll(`?since=${cursor}`)).data.map(kernel), [["a", "insert", 1]]);
  // What the reset itself has for an id goes on behind it.
  assertEquals((await poll(`?since=${later.data[0]?.id}`)).data, later.data.slice(1));
});

test("changes that are gone, and ids of another database, answer reset first", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id)", ...Array(5).fill("INSERT INTO a VALUES (1)"));
  const { data } = await poll();
  const namespace = await app.deps.control.namespaces.bySlug("acme");
  await app.deps.tenants.open({ databaseId: tenant.database.id, namespaceId: namespace?.id ?? "" }).write([
    { sql: "DELETE FROM _service_meta_change WHERE seq < 4", params: [] },
  ]);
  const kinds = (changes: readonly { kinds: readonly string[] }[]) =>
    changes.map(({ kinds }) => kinds.join());
  assertEquals(kinds((await poll(`?since=${data[0]?.id}`)).data), ["reset", "insert", "insert", "insert"]);
  assertEquals((await poll(`?since=${data[2]?.id}`)).data, data.slice(3));
  assertEquals((await poll()).data, data.slice(3));
  assertEquals(kinds((await poll("?since=1-1")).data).slice(0, 1), ["reset"]);
  assertEquals(kinds((await poll(`?since=${data[0]?.id.split("-")[0]}-999`)).data).slice(0, 1), ["reset"]);
  const other = await tenant.createDatabase("other");
  const empty = await poll(`?since=${data[0]?.id}`, { path: other.path });
  assertEquals([kinds(empty.data), empty.cursor], [["reset"], empty.data[0]?.id]);
  assertEquals((await poll(`?since=${empty.cursor}`, { path: other.path })).data, []);
  // The cursor that earlier versions gave before the first change.
  const former = await poll("?since=0-0", { path: other.path });
  assertEquals([kinds(former.data), former.cursor], [["reset"], empty.cursor]);
  assertEquals(kinds((await poll("?since=0-0")).data).slice(0, 1), ["reset"]);
});

test("a branch has changes of its own, and a merge is a change of the trunk", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)", "INSERT INTO a VALUES (1)");
  const { cursor } = await poll();
  const post = async (path: string, body: object) => {
    const answer = await app.request("POST", `${tenant.database.path}${path}`, { token: tenant.token, body });
    assert(answer.status < 300, answer.text);
  };
  const branch = { path: `${tenant.database.path}@b` };
  await post("/claim_branch", { purpose: "test", ref: "b" });
  assertEquals((await poll("", branch)).data, []);
  await post("@b/query", { sql: "INSERT INTO a VALUES (2), (3)" });
  const inBranch = await poll("", branch);
  assertEquals(inBranch.data.map(kernel), [["a", "insert", 2]]);
  assertEquals((await poll(`?since=${cursor}`)).data, []);
  await post("/branches/b/merge", { mode: "data", onConflict: "abort" });
  assertEquals((await poll(`?since=${cursor}`)).data.map(kernel), [["a", "insert", 2]]);
  await post("/branches/b/reset", {});
  await post("@b/query", { sql: "INSERT INTO a VALUES (9)" });
  const after = await poll(`?since=${inBranch.cursor}`, branch);
  assertEquals(after.data.map(({ kinds }) => kinds.join()), ["reset", "insert"]);
  assertNotEquals(after.cursor, inBranch.cursor);
});

test("another copy answers reset first to who has followed one without a change", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)");
  const token = tenant.token;
  const call = async (method: string, path: string, body: object) => {
    const answer = await app.request(method, path, { token, body });
    assert(answer.status < 300, answer.text);
    return JSON.parse(answer.text).data;
  };
  const { path } = tenant.database;
  const api = "/api/namespaces/acme/databases";
  const claim = () => call("POST", `${path}/claim_branch`, { purpose: "test", ref: "b" });
  const restoreInto = async () => {
    const { label } = await call("POST", `${path}/snapshots`, {});
    await call("POST", `${path}/restore`, { snapshot: label, into: "copy" });
  };
  const remove = (slug: string) => call("DELETE", `${api}/${slug}`, { confirm: slug });
  const again = {
    "main@b": [claim, () => call("POST", `${path}/branches/b/reset`, {}), claim],
    copy: [restoreInto, () => remove("copy").then(restoreInto)],
    new: [
      () => call("POST", api, { slug: "new", name: "New" }),
      () => remove("new").then(() => call("POST", api, { slug: "new", name: "New" })),
    ],
  };
  for (const [slug, [make, ...makeAgain]] of Object.entries(again)) {
    const of = { path: path.replace("/main", `/${slug}`) };
    await make?.();
    let { cursor } = await poll("?since=now", of);
    const kinds = async (since: string) =>
      (await poll(`?since=${since}`, of)).data.map(({ kinds }) => kinds.join());
    let former = cursor;
    for (const anew of makeAgain) {
      assertEquals(await kinds(cursor), [], slug);
      await anew();
      assertEquals(await kinds(cursor), ["reset"], slug);
      former = cursor;
      cursor = (await poll(`?since=${cursor}`, of)).cursor;
      assertNotEquals(cursor, former);
      assertEquals(await poll(`?since=${cursor}`, of), { data: [], cursor });
    }
    await call("POST", `${of.path}/query`, { sql: "CREATE TABLE z (id)" });
    assertEquals([await kinds(cursor), await kinds(former)], [["schema"], ["reset", "schema"]], slug);
  }
});

test("a restore answers reset first to who has followed a copy without a change", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  const post = async (path: string, body: object) => {
    const answer = await app.request("POST", `${tenant.database.path}${path}`, { token: tenant.token, body });
    assert(answer.status < 300, answer.text);
  };
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY)");
  await post("/claim_branch", { purpose: "test", ref: "b" });
  const branch = { path: `${tenant.database.path}@b` };
  await post("@b/snapshots", { label: "one" });
  const { cursor } = await poll("?since=now", branch);
  await post("@b/restore", { snapshot: "one" });
  const found = await poll(`?since=${cursor}`, branch);
  assertEquals(found.data.map(({ kinds }) => kinds.join()), ["reset", "restore"]);
  assertEquals((await poll(`?since=${found.data[0]?.id}`, branch)).data, found.data.slice(1));
});

test("the tables of the service are never told, and no tenant writes the row of a change", async () => {
  await using world = await changesWorld();
  const { app, tenant, poll } = world;
  await tenant.setup("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, v)");
  await app.request("PUT", `${tenant.database.path}/describe`, {
    token: tenant.token,
    body: { tables: [{ table: "a", description: "letters" }] },
  });
  await tenant.setup("INSERT INTO a (v) VALUES (1)", "ALTER TABLE a RENAME TO z");
  const { data } = await poll();
  const names = data.flatMap(({ tables }) => tables);
  assertEquals(names.filter((name) => /^(?:_service|sqlite)/.test(name)), []);
  for (
    const sql of [
      "DELETE FROM _service_meta_change",
      "INSERT INTO _service_meta_change VALUES (99, 1, 1, '[]', 1, 1)",
      "DROP TABLE _service_meta_change",
    ]
  ) assert((await tenant.query(sql)).status >= 400, sql);
});
