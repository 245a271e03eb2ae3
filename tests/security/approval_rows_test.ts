// What was approved is what runs: the same rows with the same values, in the same tables, or somebody looks again.
import { assertEquals } from "@std/assert";
import { oneStore, testCases } from "../testing/cases.ts";
import { type Held, heldBy, withWrites, writesIn, type WriteWorld } from "../writes/write_world.ts";

const { run, test } = oneStore();
Deno.test("approval rows", run);

interface Swap {
  readonly name: string;
  /** Beside `cust`, which has three rows. */
  readonly setup?: readonly string[];
  readonly sql: string;
  readonly params?: readonly unknown[];
  readonly rule?: object;
  /** What happens between the approval and its redemption. */
  readonly meanwhile: readonly string[];
}

const CUST = [
  "CREATE TABLE cust (id INTEGER PRIMARY KEY, name TEXT, flag INTEGER)",
  "INSERT INTO cust VALUES (1, 'ann', 1), (2, 'bob', 0), (3, 'cid', 0)",
];

async function approvedIn(world: WriteWorld, { setup = [], sql, params = [], rule = {} }: Swap) {
  await world.setup(...CUST, ...setup);
  await world.rule({ tableGlob: "*", effect: "require_approval", ...rule });
  const held = heldBy(await world.shop.query(sql, [...params]));
  assertEquals((await world.decide(held.id, "approve")).status, 200);
  return held;
}

/** Rules are set aside, so that everything an attacker may be able to do can be tried. */
async function withoutRules(world: WriteWorld, statements: readonly string[]): Promise<void> {
  const path = `/api/namespaces/${world.shop.slug}/databases/main/rules`;
  const { text } = await world.app.request("GET", path, { token: world.shop.token });
  const ids: string[] = JSON.parse(text).data.map((rule: { id: string }) => rule.id);
  const enable = async (enabled: boolean) => {
    for (const id of ids) {
      const options = { token: world.shop.token, body: { enabled } };
      assertEquals((await world.app.request("PATCH", `${path}/${id}`, options)).status, 200);
    }
  };
  await enable(false);
  await world.setup(...statements);
  await enable(true);
}

const swaps: readonly Swap[] = [
  {
    name: "the flag is on another row",
    sql: "DELETE FROM cust WHERE flag = 1",
    meanwhile: ["UPDATE cust SET flag = id = 2"],
  },
  {
    name: "the row has other values than those that were seen",
    sql: "DELETE FROM cust WHERE id = 1",
    meanwhile: ["UPDATE cust SET name = 'zoe' WHERE id = 1"],
  },
  {
    name: "the value that is written comes from a row that has changed",
    setup: ["CREATE TABLE src (v INTEGER)", "INSERT INTO src VALUES (5)"],
    sql: "UPDATE cust SET flag = (SELECT v FROM src) WHERE id = 1",
    meanwhile: ["UPDATE src SET v = 500"],
  },
  {
    name: "two rows have exchanged their values",
    sql: "UPDATE cust SET flag = 9 WHERE name IN ('ann', 'bob')",
    meanwhile: [
      "UPDATE cust SET name = 'tmp' WHERE id = 1",
      "UPDATE cust SET name = 'ann' WHERE id = 3",
      "UPDATE cust SET name = 'cid' WHERE id = 1",
    ],
  },
  {
    name: "another table has the name",
    setup: [
      "CREATE TABLE junk (id INTEGER PRIMARY KEY, name TEXT, flag INTEGER)",
      "INSERT INTO junk SELECT * FROM cust",
    ],
    sql: "DELETE FROM junk WHERE flag = 1",
    meanwhile: ["ALTER TABLE junk RENAME TO junk2", "ALTER TABLE cust RENAME TO junk"],
  },
  {
    name: "another table of the same text, renamed before and after, has the name",
    setup: [
      "ALTER TABLE cust RENAME TO c1",
      "ALTER TABLE c1 RENAME TO cust",
      "CREATE TABLE c2 (id INTEGER PRIMARY KEY, name TEXT, flag INTEGER)",
      "INSERT INTO c2 SELECT * FROM cust",
    ],
    sql: "DELETE FROM cust WHERE flag = 1",
    meanwhile: ["ALTER TABLE cust RENAME TO c3", "ALTER TABLE c2 RENAME TO cust"],
  },
  {
    name: "a table of another definition with the same rows has the name, and it is dropped",
    setup: ["CREATE TABLE junk (x)"],
    sql: "DROP TABLE junk",
    meanwhile: ["ALTER TABLE junk RENAME TO kept", "ALTER TABLE cust RENAME TO junk"],
  },
  {
    name: "a trigger has come that takes another row",
    sql: "UPDATE cust SET flag = 2 WHERE id = 1",
    meanwhile: [
      "CREATE TRIGGER sly AFTER UPDATE ON cust BEGIN UPDATE cust SET flag = 7 WHERE id = 3; END",
    ],
  },
  {
    name: "a trigger has changed what it writes, to as many rows",
    setup: [
      "CREATE TABLE log (what TEXT)",
      "CREATE TRIGGER sly AFTER UPDATE ON cust BEGIN INSERT INTO log VALUES ('fine'); END",
    ],
    sql: "UPDATE cust SET flag = 2 WHERE id = 1",
    meanwhile: [
      "DROP TRIGGER sly",
      "CREATE TRIGGER sly AFTER UPDATE ON cust BEGIN INSERT INTO log VALUES ('evil'); END",
    ],
  },
  {
    name: "a view is about other rows",
    setup: [
      "CREATE VIEW old AS SELECT * FROM cust WHERE flag = 1",
      "CREATE TRIGGER old_gone INSTEAD OF DELETE ON old BEGIN DELETE FROM cust WHERE id = old.id; END",
    ],
    sql: "DELETE FROM old",
    meanwhile: [
      "DROP VIEW old",
      "CREATE VIEW old AS SELECT * FROM cust WHERE id = 2",
      "CREATE TRIGGER old_gone INSTEAD OF DELETE ON old BEGIN DELETE FROM cust WHERE id = old.id; END",
    ],
  },
  {
    name: "a foreign key takes other rows along",
    setup: [
      "CREATE TABLE line (id INTEGER PRIMARY KEY, cust INTEGER REFERENCES cust ON DELETE CASCADE)",
      "INSERT INTO line VALUES (10, 1), (11, 2)",
    ],
    sql: "DELETE FROM cust WHERE id = 1",
    meanwhile: ["UPDATE line SET cust = CASE cust WHEN 1 THEN 2 ELSE 1 END"],
  },
  {
    name: "a row without a primary key is another one",
    setup: ["CREATE TABLE loose (a, b)", "INSERT INTO loose VALUES ('x', 1), ('y', 0)"],
    sql: "DELETE FROM loose WHERE b = 1",
    meanwhile: ["UPDATE loose SET b = 1 - b"],
  },
  {
    name: "a key of several columns names another row",
    setup: [
      "CREATE TABLE pair (a TEXT, b TEXT, v, PRIMARY KEY (a, b)) WITHOUT ROWID",
      "INSERT INTO pair VALUES ('1', '2', 0), ('1,2', '', 1)",
    ],
    sql: "DELETE FROM pair WHERE v = 1",
    meanwhile: ["UPDATE pair SET v = 1 - v"],
  },
  {
    name: "a value is of another type",
    setup: ["CREATE TABLE typed (id INTEGER PRIMARY KEY, v)", "INSERT INTO typed VALUES (1, 5)"],
    sql: "DELETE FROM typed WHERE id = 1",
    meanwhile: ["UPDATE typed SET v = '5'"],
  },
  {
    name: "the inserted rows are others",
    setup: ["CREATE TABLE src (v TEXT)", "INSERT INTO src VALUES ('fine')"],
    sql: "INSERT INTO cust (name) SELECT v FROM src",
    meanwhile: ["UPDATE src SET v = 'evil'"],
  },
  {
    name: "the key of an inserted row is another one, which the statement tells",
    setup: ["CREATE TABLE grants (id INTEGER PRIMARY KEY)"],
    sql: "INSERT INTO grants SELECT id FROM cust WHERE flag = 1",
    meanwhile: ["UPDATE cust SET flag = id = 2"],
  },
  {
    name: "a conflict replaces another row",
    setup: [
      "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE, v)",
      "INSERT INTO tag VALUES (1, 'a', 'junk'), (2, 'b', 'dear')",
    ],
    sql: "INSERT OR REPLACE INTO tag VALUES (9, 'a', 'new')",
    meanwhile: [
      "UPDATE tag SET name = 'c' WHERE id = 1",
      "UPDATE tag SET name = 'a' WHERE id = 2",
      "UPDATE tag SET name = 'b' WHERE id = 1",
    ],
  },
  {
    name: "a full-text index holds other words",
    setup: [
      "CREATE VIRTUAL TABLE docs USING fts5(body)",
      "INSERT INTO docs(rowid, body) VALUES (1, 'junk'), (2, 'dear')",
    ],
    sql: "DELETE FROM docs WHERE docs MATCH 'junk'",
    meanwhile: [
      "UPDATE docs SET body = 'other' WHERE rowid = 1",
      "UPDATE docs SET body = 'junk' WHERE rowid = 2",
    ],
  },
  {
    name: "a full-text index that keeps no text is filled with other words",
    setup: [
      "CREATE TABLE src (id INTEGER PRIMARY KEY, v TEXT)",
      "INSERT INTO src VALUES (1, 'fine')",
      "CREATE VIRTUAL TABLE docs USING fts5(body, content = '')",
    ],
    sql: "INSERT INTO docs(rowid, body) SELECT id, v FROM src",
    meanwhile: ["UPDATE src SET v = 'evil'"],
  },
  {
    name: "a row of such an index gets other words",
    setup: [
      "CREATE TABLE src (id INTEGER PRIMARY KEY, v TEXT)",
      "INSERT INTO src VALUES (1, 'fine')",
      "CREATE VIRTUAL TABLE docs USING fts5(body, co='', contentless_delete=1, detail=none)",
      "INSERT INTO docs(rowid, body) VALUES (1, 'old'), (2, 'other')",
    ],
    sql: "UPDATE docs SET body = (SELECT v FROM src) WHERE rowid = 1",
    meanwhile: ["UPDATE src SET v = 'evil'"],
  },
  {
    name: "an index over another table takes out other words",
    setup: [
      "CREATE TABLE src (v TEXT)",
      "INSERT INTO src VALUES ('fine')",
      "CREATE VIRTUAL TABLE \"a'docs\" USING fts5(name, content='cust', content_rowid='id')",
      "INSERT INTO \"a'docs\"(rowid, name) VALUES (1, 'fine evil')",
    ],
    sql: "INSERT INTO \"a'docs\"(\"a'docs\", rowid, name) SELECT 'delete', 1, v FROM src",
    meanwhile: ["UPDATE src SET v = 'evil'"],
  },
  {
    name: "a table that is made would hold other values, as many",
    sql: "CREATE TABLE copy AS SELECT name, flag FROM cust WHERE flag = 0",
    meanwhile: ["UPDATE cust SET name = 'zoe' WHERE id = 2"],
  },
  {
    name: "a table that is dropped holds other values, as many",
    setup: ["CREATE TABLE junk AS SELECT * FROM cust"],
    sql: "DROP TABLE junk",
    meanwhile: ["UPDATE junk SET name = 'zoe' WHERE id = 2"],
  },
  {
    name: "a full-text index without text and sizes would hold other words",
    setup: [
      "CREATE VIRTUAL TABLE docs_words USING fts5(a, content='', columnsize=0)",
      "INSERT INTO docs_words (rowid, a) VALUES (1, 'kept')",
    ],
    sql: "INSERT INTO docs_words (rowid, a) SELECT 2, name FROM cust WHERE id = 1",
    meanwhile: ["UPDATE cust SET name = 'zoe' WHERE id = 1"],
  },
  {
    name: "the clock has moved on, or chance has",
    sql: "UPDATE cust SET name = hex(randomblob(16)) WHERE id = 1",
    meanwhile: [],
  },
];

testCases("an approved write does to rows what was seen, or waits for another look", {
  cases: swaps,
  nameOf: ({ name }) => `when ${name}`,
  run: async (app, slug, swap) => {
    const world = await writesIn(app, slug);
    const held = await approvedIn(world, swap);
    await withoutRules(world, swap.meanwhile);
    const tables = await world.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_service%' ESCAPE '\\' AND name NOT LIKE '%docs\\_%' ESCAPE '\\' ORDER BY name",
    );
    const all = () =>
      Promise.all(
        tables.map(([name]) =>
          world.rows(`SELECT rowid, * FROM "${name}"`).catch(() => world.rows(`SELECT * FROM "${name}"`))
        ),
      );
    const before = await all();
    const answer = await world.redeem(held.approvalToken);
    assertEquals([answer.status, answer.body.code], [409, "effect_changed"], answer.text);
    assertEquals(await all(), before);
    // Nothing of the service's stays behind, and what is approved by the new look runs.
    const path = `/api/namespaces/${world.shop.slug}/approvals?state=pending`;
    const look = await world.app.request("GET", path, { token: world.app.operatorKey });
    assertEquals(JSON.parse(look.text).data[0].look, 1);
  },
}, test);

testCases("an approved write runs when nothing of it has changed", {
  cases: swaps.slice(0, -1),
  nameOf: ({ name }) => `not ${name}`,
  run: async (app, slug, swap) => {
    const world = await writesIn(app, slug);
    const held = await approvedIn(world, swap);
    await withoutRules(world, ["CREATE TABLE elsewhere (x)", "INSERT INTO elsewhere VALUES (1)"]);
    const answer = await world.redeem(held.approvalToken);
    assertEquals(answer.status, 200, answer.text);
    const left = await world.rows(
      "SELECT name FROM sqlite_schema WHERE name LIKE '\\_service\\_meta\\_foot%' ESCAPE '\\'",
    );
    assertEquals(left, []);
  },
}, test);

const runs: readonly (Swap & { readonly status?: number })[] = [
  {
    name: "a row is inserted whose key the engine makes, after others have come",
    sql: "INSERT INTO cust (name, flag) VALUES ('dan', 4)",
    meanwhile: ["INSERT INTO cust (name) VALUES ('eve'), ('fay')"],
  },
  {
    name: "a row is inserted into a table without a primary key, after others have come",
    setup: ["CREATE TABLE loose (a)"],
    sql: "INSERT INTO loose VALUES (1)",
    meanwhile: ["INSERT INTO loose VALUES (2)"],
  },
  {
    name: "a trigger writes a log with keys of the engine's",
    setup: [
      "CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT)",
      "CREATE TRIGGER logged AFTER UPDATE ON cust BEGIN INSERT INTO log (what) VALUES ('update ' || OLD.name); END",
    ],
    sql: "UPDATE cust SET flag = 2 WHERE id = 1",
    meanwhile: ["UPDATE cust SET flag = 3 WHERE id = 2"],
  },
  {
    name: "a table is made of the same rows in another order",
    sql: "CREATE TABLE copy AS SELECT name, flag FROM cust",
    meanwhile: ["UPDATE cust SET id = 9 WHERE id = 1"],
  },
  {
    name: "a table is made of one row more than was seen, and the rule tolerates one",
    sql: "CREATE TABLE copy AS SELECT name FROM cust",
    rule: { tolerance: 1 },
    meanwhile: ["INSERT INTO cust (name) VALUES ('eve')"],
  },
  {
    name: "a column is filled with the time by its default, later",
    setup: [
      "CREATE TABLE event (id INTEGER PRIMARY KEY, what TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP, " +
      "day REAL DEFAULT (julianday()), clock TEXT DEFAULT (time()), hour TEXT DEFAULT CURRENT_TIME, both TEXT DEFAULT (datetime()))",
    ],
    sql: "INSERT INTO event (what) VALUES ('paid')",
    meanwhile: [
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2500000) INSERT INTO event (what) SELECT count(*) FROM c",
    ],
  },
  {
    name: "other rows of its table have changed",
    sql: "UPDATE cust SET flag = 9 WHERE id = 1",
    meanwhile: ["DELETE FROM cust WHERE id = 2", "UPDATE cust SET name = 'new' WHERE id = 3"],
  },
  {
    name: "values are long, of every type and beyond what a number holds",
    setup: [
      "CREATE TABLE wide (k TEXT COLLATE NOCASE PRIMARY KEY, a, b, c, g AS (length(a)))",
      "INSERT INTO wide VALUES ('K', randomblob(300000), 9223372036854775807, 9e999), ('l', 0.1, -0.0, NULL)",
    ],
    sql: "UPDATE wide SET b = -b, c = c",
    meanwhile: [],
  },
  {
    name: "one row more is touched than was seen, and the rule tolerates one",
    sql: "UPDATE cust SET flag = 9 WHERE flag = 1",
    rule: { tolerance: 1 },
    meanwhile: ["UPDATE cust SET flag = 1 WHERE id = 2"],
  },
  {
    name: "two rows more are touched, and the rule tolerates one",
    sql: "UPDATE cust SET flag = 9 WHERE flag = 1",
    rule: { tolerance: 1 },
    meanwhile: ["UPDATE cust SET flag = 1"],
    status: 409,
  },
  {
    name: "one row has gone and another has come, and the rule tolerates one",
    sql: "UPDATE cust SET flag = 9 WHERE flag = 1",
    rule: { tolerance: 1 },
    meanwhile: ["UPDATE cust SET flag = id = 2"],
    status: 409,
  },
  {
    name: "a row that was seen has another value, and the rule tolerates many",
    sql: "UPDATE cust SET flag = 9 WHERE flag = 1",
    rule: { tolerance: 100 },
    meanwhile: ["UPDATE cust SET name = 'zoe' WHERE id = 1"],
    status: 409,
  },
];

testCases("an approved write runs or waits by what has changed of its rows", {
  cases: runs,
  nameOf: ({ name, status }) => `it ${status ? "waits" : "runs"} when ${name}`,
  run: async (app, slug, run) => {
    const world = await writesIn(app, slug);
    const held = await approvedIn(world, run);
    await withoutRules(world, run.meanwhile);
    const answer = await world.redeem(held.approvalToken);
    assertEquals(answer.status, run.status ?? 200, answer.text);
  },
}, test);

test("a batch that changes the schema before it changes rows is bound to the rows", async () => {
  await withWrites(async (world) => {
    await world.setup(...CUST);
    await world.rule({ tableGlob: "cust", effect: "require_approval" });
    const statements = [
      { sql: "ALTER TABLE cust ADD COLUMN note TEXT" },
      { sql: "UPDATE cust SET note = 'x' WHERE flag = 1" },
      { sql: "DELETE FROM cust WHERE flag = 1" },
    ];
    for (const transaction of [true, false]) {
      const held = heldBy(await world.post("batch", { statements, transaction }));
      await world.decide(held.id, "approve");
      await withoutRules(world, ["UPDATE cust SET flag = id = 2"]);
      const answer = await world.redeem(held.approvalToken);
      assertEquals([answer.status, answer.body.code], [409, "effect_changed"], answer.text);
      await withoutRules(world, ["UPDATE cust SET flag = id = 1"]);
    }
    assertEquals(await world.rows("SELECT * FROM cust"), [[1, "ann", 1], [2, "bob", 0], [3, "cid", 0]]);
  });
});

test("what is approved by the second look runs, and what is billed and logged of it are its own rows", async () => {
  await withWrites(async (world) => {
    const held = await approvedIn(world, { name: "", sql: "DELETE FROM cust WHERE flag = 1", meanwhile: [] });
    await withoutRules(world, ["UPDATE cust SET flag = 1 WHERE id = 2"]);
    assertEquals((await world.redeem(held.approvalToken)).body.code, "effect_changed");
    assertEquals((await world.decide(held.id, "approve", { look: 1 })).status, 200);
    const answer = await world.redeem(held.approvalToken);
    assertEquals([answer.status, JSON.parse(answer.text).meta.rowsWritten], [200, 2], answer.text);
    assertEquals(await world.rows("SELECT id FROM cust"), [[3]]);
    const log = "SELECT status, error_kind, rows_written FROM _service_meta_query_log " +
      "WHERE operation = 'redeem_approval' ORDER BY id";
    assertEquals(await world.rows(log), [["error", "effect_changed", 2], ["ok", null, 2]]);
  });
});

test("a name like the service's own opens nothing to a statement, with or without rules", async () => {
  await withWrites(async (world) => {
    await world.setup(...CUST);
    const name = "_service_meta_footprint_0_after_update";
    const texts = [
      `WITH ${name} AS (SELECT * FROM _service_meta_replay) SELECT * FROM ${name}`,
      `WITH ${name} AS MATERIALIZED (SELECT count(*) FROM _service_meta_replay) SELECT * FROM ${name}`,
      `SELECT * FROM (SELECT key FROM _service_meta_replay LIMIT 1) AS ${name}`,
      `WITH ${name} AS MATERIALIZED (SELECT _service_meta_footprint('cust', 'begins')) SELECT * FROM ${name}`,
      `WITH ${name} AS MATERIALIZED (SELECT load_extension('x')) SELECT * FROM ${name}`,
      `DELETE FROM cust WHERE id IN (WITH ${name} AS MATERIALIZED (SELECT id FROM _service_meta_replay) SELECT id FROM ${name})`,
    ];
    for (const rule of [null, { tableGlob: "*", effect: "require_approval" }]) {
      if (rule) await world.rule(rule);
      for (const sql of texts) {
        const answer = await world.shop.query(sql);
        assertEquals(
          [403, 400].includes(answer.status) && answer.body.code !== "approval_required",
          true,
          `${sql}: ${answer.text}`,
        );
      }
    }
  });
});

/** Holds it until its look has come to its end: one that takes too long, as on a busy machine, binds the tables alone. */
async function heldWithItsRows({ app, shop }: WriteWorld, sql: string): Promise<Held> {
  for (let attempt = 0; attempt < 6; attempt++) {
    const held = heldBy(await shop.query(sql));
    const path = `/api/namespaces/${shop.slug}/approvals/${held.id}`;
    const { text } = await app.request("GET", path, { token: app.operatorKey });
    if (JSON.parse(text).data.affectedRows !== null) return held;
  }
  throw new Error("each look has taken more than its time");
}

test("of more than 100,000 rows the count and the keys are bound", async () => {
  await withWrites(async (world) => {
    const fill = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100001)";
    await world.setup(
      "CREATE TABLE big (id INTEGER PRIMARY KEY, f INTEGER)",
      `INSERT INTO big ${fill} SELECT x, 1 FROM c`,
    );
    await world.rule({ tableGlob: "*", effect: "require_approval" });
    const held = await heldWithItsRows(world, "UPDATE big SET f = 2 WHERE f = 1");
    await world.decide(held.id, "approve");
    await withoutRules(world, ["UPDATE big SET id = 200000 WHERE id = 7"]);
    assertEquals((await world.redeem(held.approvalToken)).body.code, "effect_changed");
    await world.decide(held.id, "approve", { look: 1 });
    const answer = await world.redeem(held.approvalToken);
    assertEquals([answer.status, JSON.parse(answer.text).meta.rowsWritten], [200, 100001], answer.text);
  });
});

test("of two approvals of the same rows the second one waits for another look once the first has run", async () => {
  await withWrites(async (world) => {
    await world.setup(...CUST);
    await world.rule({ tableGlob: "*", effect: "require_approval" });
    const one = heldBy(await world.shop.query("UPDATE cust SET flag = flag + 1 WHERE id = 1"));
    const other = heldBy(await world.shop.query("UPDATE cust SET flag = flag * 10 WHERE id = 1"));
    for (const { id } of [one, other]) await world.decide(id, "approve");
    const answers = await Promise.all([one, other].map(({ approvalToken }) => world.redeem(approvalToken)));
    assertEquals(answers.map(({ status }) => status).sort(), [200, 409]);
  });
});

test("of many who redeem at once one runs it, and nothing runs twice", async () => {
  await withWrites(async (world) => {
    const held = await approvedIn(world, {
      name: "",
      sql: "UPDATE cust SET flag = flag + 1 WHERE id = 1",
      meanwhile: [],
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.redeem(held.approvalToken)));
    assertEquals(answers.filter(({ status }) => status === 200).length, 1);
    assertEquals(await world.rows("SELECT flag FROM cust WHERE id = 1"), [[2]]);
  });
});

test("an approval of a time before rows were bound asks for another look", async () => {
  await withWrites(async (world) => {
    const held = await approvedIn(world, { name: "", sql: "DELETE FROM cust WHERE flag = 1", meanwhile: [] });
    const { kv } = world.app.deps;
    for await (const { key, value } of kv.list<Uint8Array>({ prefix: [] })) {
      if (!(value instanceof Uint8Array)) continue;
      const text = new TextDecoder().decode(value);
      if (!text.includes('"footprint"')) continue;
      const { footprint: _, ...old } = JSON.parse(text);
      await kv.set(key, new TextEncoder().encode(JSON.stringify(old)));
    }
    const answer = await world.redeem(held.approvalToken);
    assertEquals([answer.status, answer.body.code], [409, "effect_changed"], answer.text);
    await world.decide(held.id, "approve", { look: 1 });
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
  });
});
