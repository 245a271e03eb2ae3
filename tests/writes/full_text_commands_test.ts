// Commands to a full-text table, which look like INSERTs, seen by rules, roles, snapshots and proposals: they count as
// what they do, whatever way they come.
import { assert, assertEquals } from "@std/assert";
import { withWrites, type WriteWorld } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("commands to a full-text table", run);

const SETUP = [
  "CREATE TABLE docs (id INTEGER PRIMARY KEY, body TEXT)",
  "INSERT INTO docs VALUES (1, 'red fox'), (2, 'blue fox'), (3, 'grey wolf')",
  "CREATE VIRTUAL TABLE f USING fts5(body, content='docs', content_rowid='id')",
  "INSERT INTO f(f) VALUES ('rebuild')",
] as const;

const FOXES = "SELECT count(*) FROM f WHERE f MATCH 'fox'";

/** Every way in which a command that empties the index can be written. */
const EMPTYING: readonly (readonly [sql: string, params?: readonly unknown[]])[] = [
  ["INSERT INTO f(f) VALUES ('delete-all')"],
  ['insert into main."F"("F") values(\'DELETE-ALL\')'],
  ["INSERT INTO f AS x (f) VALUES (('delete-all'))"],
  ["INSERT INTO [f](rank, `f`) VALUES (NULL, 'delete-all')"],
  ["REPLACE INTO f(f) VALUES ('delete-all')"],
  ["INSERT OR IGNORE INTO f(f) VALUES ('delete-all')"],
  ["INSERT INTO f(f) VALUES (?)", ["delete-all"]],
  ["INSERT INTO f(rowid, f) VALUES (?2, ?1)", ["Delete-All", 7]],
  ["INSERT INTO f(f) VALUES (?)", [{ $blob: btoa("delete-all") }]],
  ["INSERT INTO f(f) VALUES ('delete' || '-all')"],
  ["INSERT INTO f(f) SELECT 'delete-all'"],
  ["INSERT INTO f(f) SELECT ? UNION ALL SELECT NULL WHERE 0", ["delete-all"]],
  ["WITH c(x) AS (SELECT 'delete-all') INSERT INTO f(f) SELECT x FROM c"],
  ["INSERT INTO f(f) VALUES ('optimize'), ('delete-all')"],
  ["INSERT INTO f(f) SELECT word FROM words"],
];

async function made({ setup }: WriteWorld): Promise<void> {
  await setup(...SETUP, "CREATE TABLE words (word TEXT)", "INSERT INTO words VALUES ('delete-all')");
}

test("a rule on deletes denies every way of emptying a full-text index", async () => {
  await withWrites(async (world) => {
    await made(world);
    await world.rule({ tableGlob: "f", actions: ["delete"], effect: "deny" });
    for (const [sql, params = []] of EMPTYING) {
      const answer = await world.post("query", { sql, params });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], `${sql}: ${answer.text}`);
    }
    const batch = await world.post("batch", {
      statements: [{ sql: "DELETE FROM docs WHERE 0" }, { sql: EMPTYING[0]?.[0] }],
    });
    assertEquals([batch.status, batch.body.code], [403, "rule_denied"], batch.text);
    const removing = "INSERT INTO f(f, rowid, body) VALUES (?, 1, 'red fox')";
    const one = await world.post("query", { sql: removing, params: ["delete"] });
    assertEquals([one.status, one.body.code], [403, "rule_denied"], one.text);
    assertEquals(await world.rows(FOXES), [[2]]);
  });
});

test("a full-text index that is emptied can be had back: its snapshot is named after what the command does", async () => {
  await withWrites(async (world) => {
    await made(world);
    for (const [sql, params = []] of EMPTYING) {
      const answer = await world.post("query", { sql, params });
      assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
      const { meta } = JSON.parse(answer.text);
      assert(meta.snapshot !== null, sql);
      if (sql === EMPTYING[0]?.[0]) assert(meta.snapshot.endsWith("-delete-f"), meta.snapshot);
      assertEquals(await world.rows(FOXES), [[0]], sql);
      await world.setup("INSERT INTO f(f) VALUES ('rebuild')");
    }
    const { path } = world.shop.database;
    const emptied = await world.post("query", { sql: "INSERT INTO f(f) VALUES ('delete-all')" });
    const { snapshot } = JSON.parse(emptied.text).meta;
    const restored = await world.app.request("POST", `${path}/restore`, {
      token: world.shop.token,
      body: { snapshot },
    });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(await world.rows(FOXES), [[2]]);
  });
});

test("a writer may delete from a full-text index; every other command, and one that cannot be read, takes an admin", async () => {
  await withWrites(async (world) => {
    await made(world);
    // The engine folds the case of A to Z alone: a kelvin sign and a k are two names.
    await world.setup('CREATE VIRTUAL TABLE "\u212a" USING fts5(k)');
    const { token } = await world.shop.mint("write");
    const as = (sql: string, params: readonly unknown[] = []) =>
      world.post("query", { sql, params }, { token });
    for (
      const sql of ["INSERT INTO f(f, rowid, body) VALUES ('delete', 1, 'red fox')", EMPTYING[0]?.[0] ?? ""]
    ) {
      const answer = await as(sql);
      assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
    }
    for (
      const [sql, params] of [
        ["INSERT INTO f(f) VALUES ('rebuild')"],
        ["INSERT INTO f(f) VALUES ('optimize')"],
        ["INSERT INTO f(f, rank) VALUES ('merge', 500)"],
        ["INSERT INTO f(f) VALUES ('integrity-check')"],
        ["INSERT INTO f(f, rank) VALUES ('pgsz', 64)"],
        ["INSERT INTO f(f) VALUES (?)", ["rebuild"]],
        ["INSERT INTO f(f) VALUES (?)", [3]],
        ["INSERT INTO f(f) VALUES ('delete' || '-all')"],
        ["INSERT INTO \"\u212a\" (k, \"\u212a\") VALUES ('delete', 'rebuild')"],
        ["INSERT INTO f(f) SELECT word FROM words"],
      ] as const
    ) {
      const answer = await as(sql, params ?? []);
      assertEquals([answer.status, answer.body.code], [403, "role_too_low"], `${sql}: ${answer.text}`);
    }
    const batch = await world.post("batch", {
      statements: [{ sql: "INSERT INTO words VALUES ('x')" }, { sql: "INSERT INTO f(f) VALUES ('rebuild')" }],
    }, { token });
    assertEquals(batch.body.code, "role_too_low", batch.text);
  });
});

test("a command counts for rules as what it does and as nothing else", async () => {
  await withWrites(async (world) => {
    await made(world);
    await world.setup("CREATE TABLE word (word TEXT)");
    const schema = await world.rule({ tableGlob: "f", actions: ["schema"], effect: "deny" });
    const denied = await world.post("query", { sql: "INSERT INTO f(f) VALUES ('rebuild')" });
    assertEquals(JSON.parse(denied.text).hits.map((hit: { action: string }) => hit.action), ["schema"]);
    await world.setup("INSERT INTO f(f) VALUES ('delete-all')");
    const path = `/api/namespaces/${world.shop.slug}/databases/main/rules/${schema}`;
    await world.app.request("DELETE", path, { token: world.shop.token });

    await world.rule({ tableGlob: "f", actions: ["insert"], effect: "deny" });
    await world.rule({ tableGlob: "word", actions: ["delete", "schema"], effect: "deny" });
    await world.setup(
      "INSERT INTO f(f) VALUES ('rebuild')",
      "INSERT INTO f(f) VALUES ('delete-all')",
      // A table that only has a column of its own name.
      "INSERT INTO word(word) VALUES ('delete-all')",
    );
    for (
      const [sql, params = []] of [
        ["INSERT INTO f(rowid, body) VALUES (9, 'x')"],
        ["INSERT INTO f VALUES ('delete-all')"],
        ["INSERT INTO f(f, rowid, body) VALUES (NULL, 9, 'x')"],
        ["INSERT INTO f(f, rowid, body) VALUES (?, 9, 'x')", [null]],
      ] as const
    ) {
      const answer = await world.post("query", { sql, params });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], sql);
    }
  });
});

test("commands inside triggers are seen, and one that the caller's value chooses is taken for the worst", async () => {
  await withWrites(async (world) => {
    await made(world);
    await world.setup(
      "CREATE TRIGGER gone AFTER DELETE ON docs BEGIN INSERT INTO f(f, rowid, body) VALUES ('delete', old.id, old.body); END",
      "CREATE TRIGGER come AFTER INSERT ON docs BEGIN INSERT INTO f(rowid, body) VALUES (new.id, new.body); " +
        "INSERT INTO f(f, rank) VALUES ('merge', 16); END",
      "CREATE VIEW command (word) AS SELECT 'x'",
      "CREATE TRIGGER told INSTEAD OF INSERT ON command BEGIN INSERT INTO f(f) VALUES (new.word); END",
      "CREATE VIEW wipe (word) AS SELECT 'x'",
      "CREATE TRIGGER wiped INSTEAD OF INSERT ON wipe BEGIN INSERT INTO f(f) VALUES ('delete-all'); END",
    );
    const { token } = await world.shop.mint("write");
    const command = { sql: "INSERT INTO command VALUES ('delete-all')" };
    assertEquals((await world.post("query", command, { token })).body.code, "role_too_low");
    // What an admin has written into a trigger is theirs: those who write the table need no more than that.
    const insert = await world.post("query", { sql: "INSERT INTO docs VALUES (4, 'fox')" }, { token });
    assertEquals(insert.status, 200, insert.text);
    const wiped = await world.post("query", { sql: "INSERT INTO wipe VALUES (1)" }, { token });
    assertEquals(wiped.status, 200, wiped.text);
    assert(JSON.parse(wiped.text).meta.snapshot !== null);
    await world.setup("INSERT INTO f(f) VALUES ('rebuild')");

    await world.rule({ tableGlob: "f", actions: ["delete"], effect: "deny" });
    for (const sql of ["DELETE FROM docs WHERE id = 1", command.sql, "INSERT INTO wipe VALUES (1)"]) {
      const answer = await world.post("query", { sql });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], `${sql}: ${answer.text}`);
    }
    await world.setup("INSERT INTO docs VALUES (5, 'fox')");
    assertEquals(await world.rows(FOXES), [[4]]);
  });
});

test("a rule for what is unbounded stops what empties an index, and not the removal of one row", async () => {
  await withWrites(async (world) => {
    await made(world);
    await world.rule({ tableGlob: "f", effect: "deny", unboundedOnly: true });
    await world.setup("INSERT INTO f(f, rowid, body) VALUES ('delete', 1, 'red fox')");
    const answer = await world.post("query", { sql: "INSERT INTO f(f) VALUES ('delete-all')" });
    assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
  });
});

test("proposals, dry runs, held writes and the validator take commands for what they do", async () => {
  await withWrites(async (world) => {
    await made(world);
    assertEquals((await world.propose("INSERT INTO f(f) VALUES ('delete-all')")).action, "write");
    const rebuild = await world.propose("INSERT INTO f(f) VALUES (?)", ["rebuild"]);
    assertEquals([rebuild.action, rebuild.estimatedAffectedRows], ["schema", null]);
    assertEquals((await world.apply(rebuild.executionToken)).status, 200);
    const validated = async (sql: string, params?: readonly unknown[]) => {
      const answer = await world.post("validate", { sql, ...(params ? { params } : {}) });
      const { class: kind, role } = JSON.parse(answer.text).data;
      return [kind, role];
    };
    assertEquals(await validated("INSERT INTO f(f) VALUES ('delete-all')"), ["write", "write"]);
    assertEquals(await validated("INSERT INTO f(f) VALUES (?)", ["delete-all"]), ["write", "write"]);
    assertEquals(await validated("INSERT INTO f(f) VALUES (?)"), ["schema", "admin"]);
    await world.rule({ tableGlob: "f", actions: ["delete"], effect: "require_approval" });
    const held = await world.post("query", { sql: "INSERT INTO f(f) VALUES (?)", params: ["delete-all"] });
    assertEquals([held.status, held.body.code], [403, "approval_required"], held.text);
    assertEquals(await world.rows(FOXES), [[2]]);
  });
});

test("an endpoint that lets its caller choose the command is refused when it is saved", async () => {
  await withWrites(async (world) => {
    await made(world);
    const save = (slug: string, sql: string, input: readonly unknown[]) =>
      world.app.request("POST", `/api/namespaces/${world.shop.slug}/databases/main/endpoints`, {
        token: world.shop.token,
        body: { slug, name: slug, kind: "mutation", method: "POST", output: "rows_written", sql, input },
      });
    const chosen = await save("choose", "INSERT INTO f(f) VALUES (?)", [{ name: "word", type: "text" }]);
    assertEquals([chosen.status, chosen.body.code], [400, "validation_failed"], chosen.text);
    const fixed = await save("wipe", "INSERT INTO f(f) VALUES ('delete-all')", []);
    assertEquals(fixed.status, 201, fixed.text);
    await world.app.request(
      "POST",
      `/api/namespaces/${world.shop.slug}/databases/main/endpoints/wipe/publish`,
      { token: world.shop.token },
    );
    await world.rule({ tableGlob: "f", actions: ["delete"], effect: "deny" });
    const called = await world.app.request("POST", `/p/${world.shop.slug}/main/wipe`, { body: {} });
    assertEquals([called.status, called.body.code], [403, "rule_denied"], called.text);
  });
});

test("an UPDATE of that column and a NULL in it are no commands", async () => {
  await withWrites(async (world) => {
    await made(world);
    await world.setup(
      "CREATE VIRTUAL TABLE own USING fts5(body)",
      "INSERT INTO own(body) VALUES ('red fox')",
    );
    await world.setup("UPDATE own SET own = 'delete-all'");
    assertEquals(await world.rows("SELECT count(*) FROM own WHERE own MATCH 'fox'"), [[1]]);
  });
});

test("X-Max-Affected undoes what empties an index of more rows", async () => {
  await withWrites(async (world) => {
    await made(world);
    const sql = "INSERT INTO f(f) VALUES ('delete-all')";
    const answer = await world.post("query", { sql }, { headers: { "X-Max-Affected": "2" } });
    assertEquals([answer.status, answer.body.code], [400, "too_many_affected"], answer.text);
    assertEquals(await world.rows(FOXES), [[2]]);
  });
});
