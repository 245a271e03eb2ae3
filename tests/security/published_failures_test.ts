// What agents and their tools have done to databases elsewhere, tried here. The table of routes/docs/security.md names the rest of it.
import { assert, assertEquals } from "@std/assert";
import { member } from "../testing/test_namespace.ts";
import { heldBy, withWrites, type WriteWorld } from "../writes/write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what agents and their tools have done to databases elsewhere", run);

const people = [
  "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
  "CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id) ON DELETE CASCADE)",
  "CREATE VIEW everybody AS SELECT * FROM people",
  "CREATE TRIGGER through INSTEAD OF DELETE ON everybody BEGIN DELETE FROM people WHERE id = old.id; END",
  "INSERT INTO people VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy')",
  "INSERT INTO notes VALUES (1, 1), (2, 3)",
];

/** Everything that a caller could have changed. */
async function contents({ rows }: WriteWorld): Promise<string> {
  const parts = [
    "SELECT * FROM people",
    "SELECT * FROM notes",
    "SELECT name, sql FROM sqlite_schema ORDER BY 1",
  ];
  return JSON.stringify(await Promise.all(parts.map(rows)));
}

test("a freeze holds for every token and every way of writing, and the agent cannot lift it", async () => {
  await withWrites(async (world) => {
    const { app, shop, setup, rule, post } = world;
    await setup(...people);
    const agent = await shop.mint("admin", {
      scopes: [{ databaseId: shop.database.id, branchRef: "main", role: "admin" }],
    });
    const proposed = await world.propose("DELETE FROM people WHERE id = 2", [], { token: agent.token });
    const freeze = await rule({ tableGlob: "*", effect: "deny", note: "code freeze" });
    const before = await contents(world);
    const writer = await shop.mint("write");
    for (const token of [agent.token, shop.token, writer.token]) {
      for (const sql of ["DELETE FROM people", "UPDATE people SET name = ''", "DELETE FROM everybody"]) {
        for (
          const answer of [
            await shop.query(sql, [], { token }),
            await shop.batch([["SELECT 1"], [sql]], { token, transaction: false }),
          ]
        ) assertEquals([answer.status, answer.body.code], [403, "rule_denied"], `${sql}: ${answer.text}`);
      }
    }
    for (
      const sql of [
        "DROP TABLE people",
        "DROP VIEW everybody",
        "ALTER TABLE people DROP COLUMN name",
        "CREATE TABLE x (a)",
      ]
    ) {
      const answer = await shop.query(sql, [], { token: agent.token });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], `${sql}: ${answer.text}`);
    }
    const applied = await world.apply(proposed.executionToken, { token: agent.token });
    assertEquals([applied.status, applied.body.code], [403, "rule_denied"]);
    const rules = `/api/namespaces/${shop.slug}/databases/main/rules/${freeze}`;
    for (const [method, body] of [["DELETE"], ["PATCH", { enabled: false }]] as const) {
      const answer = await app.request(method, rules, { token: agent.token, ...(body ? { body } : {}) });
      assertEquals([answer.status, answer.body.code], [403, "out_of_scope"], answer.text);
    }
    const branch = await post("claim_branch", { purpose: "work in spite of it" }, { token: agent.token });
    assertEquals(branch.status, 201, branch.text);
    const work = await app.request("POST", `${shop.database.path}@${member(branch, "branchRef")}/query`, {
      token: member(branch, "token"),
      body: { sql: "DELETE FROM people" },
    });
    assertEquals(work.status, 200, "work goes on on a copy");
    const merged = await post(`branches/${member(branch, "branchRef")}/merge`, {
      mode: "data",
      onConflict: "theirs",
    }, { token: agent.token });
    assertEquals([merged.status, merged.body.code], [403, "rule_denied"], merged.text);
    assertEquals(await contents(world), before);
  });
});

test("a thousand made-up rows are held, at once, in a batch and one by one", async () => {
  await withWrites(async (world) => {
    const { shop, setup, rule } = world;
    await setup(...people);
    await rule({ tableGlob: "people", actions: ["insert"], effect: "require_approval" });
    const before = await contents(world);
    const thousand = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 1000)";
    const held = heldBy(await shop.query(`${thousand} INSERT INTO people (name) SELECT 'user ' || i FROM c`));
    const made = (at: number) => [`INSERT INTO people (name) VALUES ('user ${at}')`] as const;
    heldBy(await shop.batch(Array.from({ length: 100 }, (_, at) => made(at))));
    for (let at = 0; at < 10; at++) heldBy(await shop.query(...made(at)));
    assertEquals(await contents(world), before);
    const shown = await world.app.request("GET", `/api/namespaces/${shop.slug}/approvals?state=pending`, {
      token: world.app.operatorKey,
    });
    const waiting: { id: string; affectedRows: number }[] = JSON.parse(shown.text).data;
    assertEquals(waiting.find(({ id }) => id === held.id)?.affectedRows, 1000);
  });
});

test("what a schema reset dropped comes back from its snapshot, rows and all", async () => {
  await withWrites(async (world) => {
    const { app, shop, setup, post } = world;
    await setup(...people);
    const before = await contents(world);
    for (const table of ["notes", "people"]) {
      const writer = await shop.mint("write");
      const refused = await shop.query(`DROP TABLE ${table}`, [], { token: writer.token });
      assertEquals([refused.status, refused.body.code], [403, "role_too_low"]);
    }
    const dropped = await shop.batch([["DROP TABLE notes"], ["DROP VIEW everybody"], ["DROP TABLE people"]]);
    assertEquals(dropped.status, 200, dropped.text);
    assertEquals(await world.rows("SELECT name FROM sqlite_schema WHERE name = 'people'"), []);
    const snapshot = dropped.body.meta?.snapshot;
    assert(snapshot);
    const restored = await post("restore", { snapshot });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(await contents(world), before);
    const log = await app.request("GET", `${shop.database.path}/query_log?pageSize=50`, {
      token: shop.token,
    });
    assert(log.text.includes("DROP TABLE people"), "what was done stands in the log after the restore too");
  });
});

test("stacked statements, comments and prefixes get a reader past nothing", async () => {
  await withWrites(async (world) => {
    const { shop, setup } = world;
    await setup(...people);
    const reader = await shop.mint("read");
    const before = await contents(world);
    const attempts: readonly [sql: string, code: string][] = [
      ["COMMIT; DROP TABLE people; --", "multiple_statements"],
      ["SELECT 1; DELETE FROM people", "multiple_statements"],
      ["SELECT 1;;;/* */;UPDATE people SET name = ''", "multiple_statements"],
      ["COMMIT", "statement_refused"],
      ["ROLLBACK", "statement_refused"],
      ["/* SELECT */ DELETE FROM people", "role_too_low"],
      ["-- SELECT\nDELETE FROM people", "role_too_low"],
      ["WITH x AS (SELECT 1) DELETE FROM people", "role_too_low"],
      ["WITH x AS (SELECT 1) INSERT INTO people (name) SELECT 'x' RETURNING id", "role_too_low"],
      ["PRAGMA writable_schema = 1", "statement_refused"],
      ["PRAGMA query_only = 0", "statement_refused"],
      ["EXPLAIN PRAGMA user_version = 7", "statement_refused"],
    ];
    for (const [sql, code] of attempts) {
      const answer = await shop.query(sql, [], { token: reader.token });
      assert([400, 403].includes(answer.status), `${sql}: ${answer.text}`);
      assertEquals(answer.body.code, code, `${sql}: ${answer.text}`);
      const batch = await shop.batch([["SELECT 1"], [sql]], { token: reader.token, transaction: false });
      assertEquals(batch.body.code, code, `${sql}: ${batch.text}`);
    }
    assertEquals(await contents(world), before);
  });
});

test("an id that is empty, dotted, doubled or encoded reaches no database", async () => {
  await withWrites(async ({ app, shop, setup }) => {
    await setup(...people);
    const other = await app.namespace("other");
    const ids = [
      "",
      "%20",
      ".",
      "..",
      "%2e%2e",
      "..%2fother",
      "main%00",
      "main%2f..%2fmain",
      "@",
      "@main",
      "main@",
      "main@@x",
      "%00",
    ];
    for (const id of [...ids, other.database.id, `${shop.database.id}x`]) {
      for (
        const path of [`/v1/db/acme/${id}/query`, `/v1/db/${id}/main/query`, `/v1/db/acme@${id}/main/query`]
      ) {
        const answer = await app.request("POST", path, {
          token: shop.token,
          body: { sql: "SELECT * FROM people" },
        });
        assert([400, 403, 404].includes(answer.status), `${path}: ${answer.status} ${answer.text}`);
        assertEquals(answer.body.success, false);
      }
    }
    assertEquals((await other.query("SELECT * FROM people")).body.errorDetail?.kind, "unknown_table");
  });
});
