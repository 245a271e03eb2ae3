// Migration files over HTTP: each is applied once, as a whole, in order, and loses no rows that it does not name.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { migrationDigest } from "../../lib/sql/service/migration_text.ts";
import { usage } from "../money/money_world.ts";
import { assertReplay, step } from "../replay/keyed.ts";
import { testSteps } from "../testing/cases.ts";
import { type File, type MigrationWorld, migrationWorld, refusalOf } from "./migration_world.ts";

const NOTES: File = ["0001_notes.sql", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL);\n"];
const SEED: File = ["0002_seed.sql", "INSERT INTO notes (body) VALUES ('one'), ('two');\n"];
const TAGS: File = [
  "0003_tags.sql",
  "CREATE TABLE tags (id INTEGER PRIMARY KEY);\nCREATE INDEX by_id ON tags (id);\n",
];

/** Parents with children that go with them, and how tools rebuild the parents. */
const FAMILY: File = [
  "0001_family.sql",
  "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);\n" +
  "CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id) ON DELETE CASCADE);\n" +
  "CREATE TABLE likes (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id) ON DELETE SET NULL);\n" +
  "INSERT INTO users VALUES (1, 'ada'), (2, 'bob');\n" +
  "INSERT INTO posts VALUES (1, 1), (2, 1), (3, 2);\n" +
  "INSERT INTO likes VALUES (1, 1);\n",
];
const REBUILD =
  "CREATE TABLE __new_users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);--> statement-breakpoint\n" +
  "INSERT INTO __new_users (id, name) SELECT id, name FROM users;--> statement-breakpoint\n" +
  "DROP TABLE users;--> statement-breakpoint\n" +
  "ALTER TABLE __new_users RENAME TO users;--> statement-breakpoint\n";

const COUNTS =
  "SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM posts), (SELECT count(user_id) FROM likes)";

async function family(world: MigrationWorld, sql: string) {
  await world.apply([FAMILY]);
  return await world.post([FAMILY, ["0002_rebuild.sql", sql]]);
}

testSteps("migrations", migrationWorld, {
  "tell each statement by changes() what the one before it has changed": async ({ apply, rows }) => {
    const said = ["VALUES (changes())", "SELECT changes()", "SELECT changes() WHERE 1"];
    const inserts = said.map((from) => `INSERT INTO said ${from};\n`).join("");
    await apply([NOTES, ["0002_said.sql", `CREATE TABLE said (n);\n${SEED[1]}${inserts}`]]);
    assertEquals(await rows("SELECT n FROM said"), [[2], [1], [1]]);
  },

  "as a step of a plan are answered as they were applied, also where the service died before it kept the answer":
    async (
      { app, post, names },
    ) => {
      const nothing: File = ["0004_nothing.sql", "-- for later"];
      const kinds: readonly (readonly [files: readonly File[], more: Record<string, unknown>])[] = [
        [[NOTES, SEED], {}],
        [[NOTES, SEED, TAGS, nothing], {}],
        [[NOTES, SEED, TAGS, nothing, ["0005_old.sql", "CREATE TABLE old (a)"]], { baseline: true }],
      ];
      for (const [at, [files, more]] of kinds.entries()) {
        const send = () => post(files, more, step("release", String(at)));
        const first = await send();
        for await (const { key } of app.deps.kv.list({ prefix: ["replay"] })) await app.deps.kv.delete(key);
        assertReplay(first, await send(), "plan-replayed");
        assertEquals(await names(), files.map(([name]) => name));
      }
    },

  "tell which indexes and triggers of a table went with it when it was made anew, also to a step of a plan that is repeated":
    async ({ post, apply }) => {
      const warningsOf = (text: string): unknown => JSON.parse(text).meta.warnings;
      const parts = "CREATE INDEX users_name ON users (name);\n" +
        "CREATE INDEX users_both ON users (name, id);\n" +
        "CREATE TRIGGER Kept AFTER INSERT ON posts BEGIN SELECT 1; END;\n" +
        'CREATE TRIGGER "no t" AFTER DELETE ON users BEGIN SELECT 1; END;\n' +
        "CREATE VIEW gone AS SELECT * FROM users;\n" +
        "CREATE TRIGGER into_gone INSTEAD OF INSERT ON gone BEGIN SELECT 1; END;\n";
      const files: File[] = [FAMILY, ["0002_parts.sql", parts]];
      await apply(files);
      const lost = "Make index users_both, trigger no t of users again, where they are wanted: " +
        "they went with the former users";
      files.push([
        "0003_rebuild.sql",
        `PRAGMA foreign_keys=OFF;\nDROP VIEW gone;\n${REBUILD}CREATE INDEX IF NOT EXISTS main.users_name ON users (name);`,
      ]);
      const rehearsed = await post(files, { dryRun: true });
      assertEquals(warningsOf(rehearsed.text), [lost]);
      const first = await post(files, {}, step("rebuild", "1"));
      assertEquals(warningsOf(first.text), [lost]);
      assertReplay(first, await post(files, {}, step("rebuild", "1")), "plan-replayed");
      // The other order of steps, the other forms of names, a view, and what a file drops by its name.
      files.push([
        "0004_more.sql",
        "CREATE INDEX one ON likes (id); CREATE INDEX two ON likes (user_id);" +
        "CREATE VIEW adults AS SELECT * FROM users; CREATE TRIGGER into_adults INSTEAD OF INSERT ON adults BEGIN SELECT 1; END;",
      ]);
      assertEquals(warningsOf((await post(files)).text), undefined);
      files.push([
        "0005_again.sql",
        "DROP INDEX one; ALTER TABLE [likes] RENAME TO old; CREATE TABLE Likes (id INTEGER PRIMARY KEY, user_id INTEGER);" +
        "INSERT INTO likes SELECT * FROM old; DROP TABLE main.old; DROP VIEW IF EXISTS adults; CREATE VIEW adults AS SELECT 1;",
      ]);
      assertEquals(warningsOf((await post(files)).text), [
        "Make index two of likes again, where they are wanted: they went with the former likes",
        "Make trigger into_adults of adults again, where they are wanted: they went with the former adults",
      ]);
      // Many, the first with a long name.
      const many = ["t".repeat(100), ...Array.from({ length: 30 }, (_, at) => `t${at}`)];
      const made = (table: string) => `CREATE TABLE ${table} (a);`;
      files.push([
        "0006_many.sql",
        many.map((table) => `${made(table)} CREATE INDEX i_${table} ON ${table} (a);`).join("\n"),
      ]);
      assertEquals(warningsOf((await post(files)).text), undefined);
      files.push(["0007_anew.sql", many.map((table) => `DROP TABLE ${table}; ${made(table)}`).join("\n")]);
      const told = warningsOf((await post(files)).text);
      assert(Array.isArray(told));
      assertEquals([told.length, told[0]], [
        20,
        "Make the indexes and triggers of a table again, where they are wanted: they went with the former one",
      ]);
    },

  "tell what a statement does that hardly anybody means": async ({ post }) => {
    const { text } = await post([NOTES, ["0002_tags.sql", "CREATE TABLE tags (id SERIAL PRIMARY KEY)"]]);
    assertMatch(String(JSON.parse(text).meta.warnings), /^id stays NULL .* write id INTEGER PRIMARY KEY/);
  },

  "are applied in order, once, and listed with their digests": async ({ apply, names, rows, app, acme }) => {
    const first = await apply([NOTES, SEED]);
    assertEquals([first["applied"], first["pending"], first["drift"]], [
      ["0001_notes.sql", "0002_seed.sql"],
      [],
      null,
    ]);
    assertMatch(String(first["snapshot"]), /^auto-.*-create-notes$/);
    assertEquals((await apply([NOTES, SEED]))["applied"], []);
    assertEquals((await apply([NOTES, SEED, TAGS]))["applied"], ["0003_tags.sql"]);
    assertEquals(await names(), ["0001_notes.sql", "0002_seed.sql", "0003_tags.sql"]);
    assertEquals(await rows("SELECT count(*) FROM notes"), [[2]]);
    const listed = await app.request("GET", `${acme.database.path}/migrations`, { token: acme.token });
    const [row] = JSON.parse(listed.text).data;
    assertMatch(row.sha256, /^[0-9a-f]{64}$/);
    assertMatch(row.appliedAt, /^\d{4}-.*Z$/);
    assertEquals([row.tokenId, row.ran, row.snapshot], [acme.id, true, first["snapshot"]]);
    assertEquals(JSON.parse(listed.text).meta, { drift: [] });
  },
  "may be sent without those that are applied already": async ({ apply, names }) => {
    await apply([NOTES]);
    assertEquals((await apply([TAGS]))["applied"], ["0003_tags.sql"]);
    assertEquals(await names(), ["0001_notes.sql", "0003_tags.sql"]);
  },
  "that fail leave nothing, while files before them stay and are named": async ({ post, names, rows }) => {
    const bad: File = [
      "0002_bad.sql",
      "-- a comment\nINSERT INTO notes (body) VALUES ('kept?');\nINSERT INTO notes\n  VALUES (1, NULL);\n",
    ];
    const refusal = refusalOf(await post([NOTES, bad, TAGS]), 400, "sql_error");
    assertEquals(
      [refusal["file"], refusal["failedIndex"], refusal["line"], refusal["applied"], refusal["pending"]],
      ["0002_bad.sql", 1, 3, ["0001_notes.sql"], ["0002_bad.sql", "0003_tags.sql"]],
    );
    assertEquals(Reflect.get(Object(refusal["errorDetail"]), "kind"), "not_null_violation");
    assertMatch(String(refusal["error"]), /^0002_bad\.sql, line 3: NOT NULL/);
    assertEquals(await names(), ["0001_notes.sql"]);
    assertEquals(await rows("SELECT count(*) FROM notes"), [[0]]);
  },
  "that do not compile name their statement": async ({ post, names }) => {
    const refusal = refusalOf(
      await post([NOTES, ["0002_x.sql", "CREATE TABLE a (b);\nCREATE INDEX i ON a (c);"]]),
      400,
      "sql_error",
    );
    assertEquals([refusal["file"], refusal["failedIndex"], refusal["line"]], ["0002_x.sql", 1, 2]);
    assertEquals(await names(), ["0001_notes.sql"]);
  },
  "cannot be edited, put before others or sent twice": async ({ apply, post, names }) => {
    await apply([NOTES, TAGS]);
    const edited = refusalOf(
      await post([[NOTES[0], `${NOTES[1]}-- edited`], TAGS]),
      409,
      "migration_changed",
    );
    assertEquals(edited["file"], "0001_notes.sql");
    const early = refusalOf(await post([NOTES, SEED, TAGS]), 409, "migration_out_of_order");
    assertEquals([early["file"], early["behind"]], ["0002_seed.sql", "0003_tags.sql"]);
    assertEquals(
      early["error"],
      "Rename 0002_seed.sql so that it comes after 0003_tags.sql; files are applied in the order of their names",
    );
    const turned = refusalOf(
      await post([["0005.sql", "SELECT 1"], ["0004.sql", "SELECT 1"]]),
      409,
      "migration_out_of_order",
    );
    assertEquals(
      turned["error"],
      "Send 0004.sql before 0005.sql, or rename one of them; files are applied in the order of their names",
    );
    refusalOf(await post([["0004.sql", "SELECT 1"], ["0004.sql", "SELECT 1"]]), 400, "validation_failed");
    assertEquals(await names(), ["0001_notes.sql", "0003_tags.sql"]);
  },
  "are ordered by numbers in their names, not by letters": async ({ apply }) => {
    const files: File[] = [["2_a.sql", "CREATE TABLE a (x)"], ["10_b.sql", "CREATE TABLE b (x)"]];
    assertEquals((await apply(files))["applied"], ["2_a.sql", "10_b.sql"]);
    assertEquals((await apply([...files, ["11_c.sql", ""]]))["applied"], ["11_c.sql"]);
  },
  "are the same with other line ends and a byte order mark": async ({ apply, rows }) => {
    await apply([NOTES, SEED]);
    assertEquals(
      (await apply([[NOTES[0], `\uFEFF${NOTES[1].replaceAll("\n", "\r\n")}`], SEED]))["applied"],
      [],
    );
    assertEquals(await rows("SELECT count(*) FROM notes"), [[2]]);
  },
  "may be empty, of comments only, or only read": async ({ apply, names }) => {
    const files: File[] = [["1.sql", ""], ["2.sql", "-- nothing\n/* here */"], ["3.sql", "SELECT 1;"]];
    assertEquals((await apply(files))["applied"], ["1.sql", "2.sql", "3.sql"]);
    assertEquals(await names(), ["1.sql", "2.sql", "3.sql"]);
  },
  "are one transaction whatever BEGIN and COMMIT say": async ({ apply, post, names, rows }) => {
    await apply([[
      "1.sql",
      "BEGIN TRANSACTION;\nCREATE TABLE a (b UNIQUE);\nINSERT INTO a VALUES (1);\nCOMMIT;",
    ]]);
    const two = refusalOf(
      await post([["2.sql", "BEGIN; INSERT INTO a VALUES (2); COMMIT; INSERT INTO a VALUES (1);"]]),
      400,
      "sql_error",
    );
    assertEquals(two["failedIndex"], 3);
    assertEquals(await rows("SELECT b FROM a"), [[1]]);
    for (
      const sql of [
        "COMMIT; DROP TABLE a",
        "BEGIN; COMMIT; COMMIT; DROP TABLE a;",
        "ROLLBACK",
        "SAVEPOINT x",
        "BEGIN; BEGIN;",
        "BEGIN; SELECT 1",
        "END; DROP TABLE a",
      ]
    ) {
      const refusal = refusalOf(await post([["2.sql", sql]]), 400, "validation_failed");
      assertMatch(JSON.stringify(refusal["issues"]), /"files\[0\]\.sql"/, sql);
    }
    assertEquals([await names(), await rows("SELECT b FROM a")], [["1.sql"], [[1]]]);
  },
  "have triggers whole, and semicolons in texts": async ({ apply, rows }) => {
    await apply([NOTES, [
      "0002_trigger.sql",
      "CREATE TRIGGER twice AFTER INSERT ON notes WHEN new.body = ';END;' BEGIN\n" +
      "  -- a comment; with a semicolon\n  INSERT INTO notes (body) SELECT CASE WHEN 1 THEN 'again' END;\nEND;\n" +
      "INSERT INTO notes (body) VALUES (';END;');",
    ]]);
    assertEquals(await rows("SELECT body FROM notes ORDER BY id"), [[";END;"], ["again"]]);
  },
  "rebuild a table with foreign keys off and lose no children": async (world) => {
    const answer = await family(
      world,
      `PRAGMA foreign_keys=OFF;--> statement-breakpoint\n${REBUILD}PRAGMA foreign_keys=ON;`,
    );
    assertEquals(answer.status, 200, answer.text);
    assertEquals(await world.rows(COUNTS), [[2, 3, 1]]);
    assertEquals(await world.rows("SELECT \"notnull\" FROM pragma_table_info('users') WHERE name = 'name'"), [
      [1],
    ]);
  },
  "that defer foreign keys rebuild as well": async (world) => {
    const answer = await family(
      world,
      `PRAGMA defer_foreign_keys=ON;\n${REBUILD}PRAGMA defer_foreign_keys=OFF;`,
    );
    assertEquals(answer.status, 200, answer.text);
    assertEquals(await world.rows(COUNTS), [[2, 3, 1]]);
  },
  "that would lose children are undone with a clear word": async (world) => {
    const refusal = refusalOf(await family(world, REBUILD), 400, "migration_loses_rows");
    assertEquals([refusal["file"], refusal["failedIndex"]], ["0002_rebuild.sql", null]);
    assertMatch(String(refusal["error"]), /posts would have 0 of its 3 rows/);
    assertEquals(await world.rows(COUNTS), [[2, 3, 1]]);
    assertEquals(await world.names(), ["0001_family.sql"]);
  },
  "that would empty references of other rows are undone": async (world) => {
    await world.apply([["0001.sql", FAMILY[1].replace("ON DELETE CASCADE", "")]]);
    await world.apply([["0002.sql", "DELETE FROM posts"]]);
    const refusal = refusalOf(await world.post([["0003.sql", REBUILD]]), 400, "migration_loses_rows");
    assertMatch(String(refusal["error"]), /likes would have 0 of its 1 values of user_id/);
    assertEquals(await world.rows(COUNTS), [[2, 0, 1]]);
  },
  "that would lose children are undone also where a column of them gets another name": async (world) => {
    await world.apply([[
      "0001.sql",
      FAMILY[1].replace(
        "user_id INTEGER REFERENCES users (id) ON DELETE SET NULL",
        "user_id INTEGER REFERENCES users (id) ON DELETE CASCADE, post_id INTEGER REFERENCES posts (id) ON DELETE SET NULL",
      ).replace("INSERT INTO likes VALUES (1, 1)", "INSERT INTO likes VALUES (1, 1, 1)").replace(
        "REFERENCES users (id) ON DELETE CASCADE)",
        ")",
      ),
    ]]);
    const renamed = `ALTER TABLE likes RENAME COLUMN post_id TO about_id;\n${REBUILD}`;
    const refusal = refusalOf(await world.post([["0002.sql", renamed]]), 400, "migration_loses_rows");
    assertMatch(String(refusal["error"]), /likes would have 0 of its 1 rows/);
    assertEquals(await world.rows(COUNTS), [[2, 3, 1]]);
  },
  "take tables with any name": async (world) => {
    await world.apply([[
      "0001.sql",
      "CREATE TABLE constructor (a); INSERT INTO constructor VALUES (1); CREATE TABLE b (c)",
    ]]);
    await world.apply([["0002.sql", "DROP TABLE b"]]);
    assertEquals(await world.rows("SELECT count(*) FROM constructor"), [[1]]);
  },
  "that put a table aside to which an empty one refers are refused before they begin": async (world) => {
    await world.apply([["0001.sql", `${FAMILY[1]}; DELETE FROM posts; DELETE FROM likes`]]);
    const aside =
      "PRAGMA foreign_keys=OFF; ALTER TABLE users RENAME TO old; CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);" +
      "INSERT INTO users SELECT id, name FROM old; DROP TABLE old;";
    const refusal = refusalOf(await world.post([["0002.sql", aside]]), 400, "migration_loses_rows");
    assertEquals([refusal["file"], refusal["failedIndex"]], ["0002.sql", 4]);
    assertMatch(String(refusal["error"]), /would leave likes, posts with references to no table/);
    assertEquals(await world.rows(COUNTS), [[2, 0, 0]]);
  },
  "with a digest that is not theirs are refused": async ({ app, acme, names }) => {
    const [name, sql] = NOTES;
    const send = (sha256: string) =>
      app.request("POST", `${acme.database.path}/migrations`, {
        token: acme.token,
        body: { files: [{ name, sql, sha256 }] },
      });
    const refusal = refusalOf(await send("0".repeat(64)), 400, "validation_failed");
    assertEquals(refusal["issues"], [
      { path: "files[0].sha256", message: `Leave it out; it is not that of ${name}` },
    ]);
    assertEquals(await names(), []);
    assertEquals((await send(migrationDigest(sql))).status, 200);
    const files = [{ name, sql }, { name: "0009_digest.sql", sha256: "0".repeat(64) }];
    for (const more of [{}, { dryRun: true }]) {
      const answer = await app.request("POST", `${acme.database.path}/migrations`, {
        token: acme.token,
        body: { files, ...more },
      });
      assertEquals(refusalOf(answer, 400, "validation_failed")["issues"], [
        { path: "files", message: "Send the sql of each file; sha256 alone is enough for a baseline" },
      ]);
    }
  },
  "of more than a thousand are refused": async ({ app, acme }) => {
    const files = Array.from({ length: 1001 }, (_, at) => ({ name: `${10_000 + at}.sql`, sql: "" }));
    const { database: { path }, token } = acme;
    const answer = await app.request("POST", `${path}/migrations`, { token, body: { files } });
    assertEquals(refusalOf(answer, 400, "validation_failed")["issues"], [
      { path: "files", message: "Send at most 1000 elements" },
    ]);
  },
  "of goose and sql-migrate run their section up": async ({ apply, rows }) => {
    const sections = (tool: string, table: string) =>
      `-- +${tool} Up\nCREATE TABLE ${table} (a);\n-- +${tool} Down\nDROP TABLE ${table};\n`;
    await apply([["0001.sql", sections("goose", "one")], ["0002.sql", sections("migrate", "two")]]);
    assertEquals(await rows("SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM two)"), [[0, 0]]);
  },
  "that rebuild a table with fewer rows are undone, by either way to rebuild": async (world) => {
    const some = REBUILD.replace("FROM users;", "FROM users WHERE id = 1;");
    refusalOf(await family(world, `PRAGMA foreign_keys=OFF;\n${some}`), 400, "migration_loses_rows");
    const away =
      "PRAGMA foreign_keys=OFF; ALTER TABLE users RENAME TO old_users; CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);" +
      "INSERT INTO users SELECT * FROM old_users WHERE id = 1; DROP TABLE old_users;";
    refusalOf(await world.post([["0002_away.sql", away]]), 400, "migration_loses_rows");
    assertEquals(await world.rows(COUNTS), [[2, 3, 1]]);
  },
  "may delete, drop and replace what they name": async (world) => {
    await world.apply([FAMILY]);
    await world.apply([["0002.sql", "DELETE FROM users WHERE id = 2"]]);
    assertEquals(await world.rows(COUNTS), [[1, 2, 1]]);
    await world.apply([[
      "0003.sql",
      "DROP TABLE likes; CREATE TABLE likes (id, user_id); DELETE FROM posts; DROP TABLE users; CREATE TABLE users (id)",
    ]]);
    assertEquals(await world.rows(COUNTS), [[0, 0, 0]]);
    await world.apply([["0004.sql", "CREATE TABLE a (k UNIQUE, v); INSERT INTO a VALUES (1, 1), (2, 2)"]]);
    await world.apply([["0005.sql", "ALTER TABLE a RENAME TO b; CREATE TABLE a (k); DROP TABLE likes"]]);
    await world.apply([["0006.sql", "UPDATE OR REPLACE b SET k = 1"]]);
    assertEquals(await world.rows("SELECT count(*) FROM b"), [[1]]);
  },
  "that leave references broken are undone, those that were broken before stay": async (world) => {
    await world.apply([FAMILY]);
    const breaks: File = ["0002_breaks.sql", "PRAGMA foreign_keys=OFF;\nDELETE FROM users WHERE id = 2;"];
    const refusal = refusalOf(await world.post([breaks]), 400, "sql_error");
    const detail = Object(refusal["errorDetail"]);
    assertEquals([detail.kind, detail.table], ["foreign_key_violation", "posts"]);
    assertEquals(await world.rows(COUNTS), [[2, 3, 1]]);
    const broken = await world.acme.batch([["PRAGMA foreign_keys=OFF"], ["DELETE FROM users WHERE id = 2"]], {
      transaction: true,
    });
    assertEquals(broken.status, 200, broken.text);
    await world.apply([["0002_other.sql", "PRAGMA foreign_keys=OFF; CREATE TABLE other (a)"]]);
  },
  "cannot touch the service's own tables or leave the database": async ({ post, names }) => {
    for (
      const sql of [
        "DELETE FROM _service_meta_migration",
        "DROP TABLE _service_meta_query_log",
        "ATTACH 'x' AS y",
        "PRAGMA journal_mode=DELETE",
        "VACUUM",
        "CREATE TABLE _service_meta_x (a)",
        "INSERT INTO sqlite_sequence VALUES ('a', 1)",
      ]
    ) {
      const refusal = refusalOf(await post([["0001.sql", sql]]), 403, "statement_refused");
      assertEquals(refusal["file"], "0001.sql");
    }
    assertEquals(await names(), []);
  },
  "are recorded without running as a baseline": async ({ apply, acme, rows, app }) => {
    await acme.setup("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL)");
    assertEquals((await apply([NOTES], { baseline: true }))["applied"], ["0001_notes.sql"]);
    assertEquals((await apply([NOTES, SEED]))["applied"], ["0002_seed.sql"]);
    assertEquals(await rows("SELECT count(*) FROM notes"), [[2]]);
    const listed = await app.request("GET", `${acme.database.path}/migrations`, { token: acme.token });
    assertEquals(JSON.parse(listed.text).data.map(({ ran }: { ran: boolean }) => ran), [false, true]);
  },
  "tell what has changed beside them": async ({ apply, acme }) => {
    await apply([NOTES]);
    await acme.setup("CREATE TABLE aside (a)", "ALTER TABLE notes ADD COLUMN more");
    assertEquals((await apply([NOTES]))["drift"], [
      { type: "table", name: "aside", change: "added" },
      { type: "table", name: "notes", change: "changed" },
    ]);
  },
  "need an admin, and go to one branch": async ({ apply, post, acme, app, names, rows }) => {
    await apply([NOTES]);
    const { token } = await acme.mint("write");
    refusalOf(await post([SEED], {}, { token }), 403, "role_too_low");
    const claimed = await app.request("POST", `${acme.database.path}/claim_branch`, {
      token: acme.token,
      body: { purpose: "try", ref: "try" },
    });
    assertEquals(claimed.status, 201, claimed.text);
    const onBranch = await app.request("POST", `${acme.database.path}@try/migrations`, {
      token: acme.token,
      body: { files: [NOTES, SEED].map(([name, sql]) => ({ name, sql })) },
    });
    assertEquals(JSON.parse(onBranch.text).data.applied, ["0002_seed.sql"], onBranch.text);
    assertEquals([await names(), await rows("SELECT count(*) FROM notes")], [["0001_notes.sql"], [[0]]]);
  },
  "by twenty at once run once each": async ({ post, names, rows }) => {
    const more: File[] = Array.from(
      { length: 5 },
      (_, at) => [`001${at}_more.sql`, "INSERT INTO notes (body) VALUES ('more');"],
    );
    const answers = await Promise.all(Array.from({ length: 20 }, () => post([NOTES, SEED, ...more])));
    assertEquals(answers.map(({ status }) => status), answers.map(() => 200));
    const applied = answers.flatMap(({ text }) => JSON.parse(text).data.applied);
    assertEquals(applied.toSorted(), [NOTES, SEED, ...more].map(([name]) => name));
    assertEquals((await names()).length, 7);
    assertEquals(await rows("SELECT count(*) FROM notes"), [[7]]);
  },
  "that another instance has applied at the same moment are left alone": async (
    { app, post, names, rows },
  ) => {
    const { tenants } = app.deps;
    const open = tenants.open.bind(tenants);
    let others = 0;
    tenants.open = (...which) => {
      const database = open(...which);
      const run = database.run.bind(database);
      database.run = async (call) => {
        const isFirst = call.migration?.record.name === SEED[0] && others++ === 0;
        if (isFirst && call.log) await run({ ...call, log: { ...call.log, id: newId("qry", Date.now()) } });
        return await run(call);
      };
      return database;
    };
    try {
      const answer = await post([NOTES, SEED, TAGS]);
      assertEquals(
        [answer.status, JSON.parse(answer.text).data.applied],
        [200, [NOTES[0], TAGS[0]]],
        answer.text,
      );
    } finally {
      tenants.open = open;
    }
    assert(others > 0);
    assertEquals([await names(), await rows("SELECT count(*) FROM notes")], [[NOTES[0], SEED[0], TAGS[0]], [[
      2,
    ]]]);
    const failed = await rows(
      "SELECT count(*) FROM _service_meta_query_log WHERE operation = 'migrate' AND status = 'error'",
    );
    assertEquals(failed, [[0]]);
  },
  "are paid as one request, have one snapshot before all of them, and end where their token is revoked or nobody waits":
    async (
      { app, acme, apply, post, names, rows },
    ) => {
      await apply([NOTES, SEED]);
      await app.deps.query.meter.tick();
      const requests = async () => {
        await app.deps.query.meter.tick();
        return (await usage(app, acme)).get(acme.database.id)?.requests ?? 0;
      };
      const before = await requests();
      const files: File[] = [NOTES, SEED, ["0003.sql", "DELETE FROM notes;"], [
        "0004.sql",
        "DROP TABLE notes;",
      ]];
      const { snapshot } = await apply(files);
      assertEquals(await requests(), before + 1);
      const path = `${acme.database.path}/snapshots`;
      const { body } = await app.request("GET", path, { token: acme.token });
      const labels = Array.isArray(body.data) ? body.data.map(({ label }: { label: string }) => label) : [];
      assertEquals(labels.filter((label) => /delete-notes|drop-notes/.test(label)), [snapshot]);
      const { id, token } = await acme.mint("admin");
      const caller = new AbortController();
      const behind: Readonly<Record<string, () => Promise<unknown>>> = {
        "0005.sql": async () => {
          const path = `/api/namespaces/${acme.slug}/tokens/${id}`;
          assertEquals((await app.request("DELETE", path, { token: acme.token })).status, 200);
        },
        "0007.sql": () => Promise.resolve(caller.abort()),
      };
      const { tenants } = app.deps;
      const open = tenants.open.bind(tenants);
      tenants.open = (...which) => {
        const database = open(...which);
        const run = database.run.bind(database);
        database.run = async (call) => {
          const outcome = await run(call);
          await behind[call.migration?.record.name ?? ""]?.();
          return outcome;
        };
        return database;
      };
      try {
        files.push(["0005.sql", "CREATE TABLE a (v);"], ["0006.sql", "CREATE TABLE b (v);"]);
        refusalOf(await post(files, {}, { token }), 401, "invalid_bearer");
        assertEquals((await names()).at(-1), "0005.sql");
        files.push(["0007.sql", "CREATE TABLE c (v);"], ["0008.sql", "CREATE TABLE d (v);"]);
        const left = refusalOf(await post(files, {}, { signal: caller.signal }), 503, "store_unavailable");
        assertEquals([left["applied"], left["pending"]], [["0006.sql", "0007.sql"], ["0008.sql"]]);
      } finally {
        tenants.open = open;
      }
      assertEquals((await names()).at(-1), "0007.sql");
      assertEquals(await rows("SELECT name FROM sqlite_schema WHERE name IN ('a', 'd')"), [["a"]]);
    },
  "go back with a snapshot, and are applied again": async ({ apply, app, acme, names, rows }) => {
    await apply([NOTES, SEED]);
    const { snapshot } = await apply([NOTES, SEED, TAGS]);
    const restored = await app.request("POST", `${acme.database.path}/restore`, {
      token: acme.token,
      body: { snapshot },
    });
    assertEquals(restored.status, 200, restored.text);
    assertEquals(await names(), ["0001_notes.sql", "0002_seed.sql"]);
    assertEquals((await apply([NOTES, SEED, TAGS]))["applied"], ["0003_tags.sql"]);
    assertEquals(await rows("SELECT count(*) FROM tags"), [[0]]);
  },
  "leave one log row and one audit row a file, with figures": async ({ post, rows }) => {
    const { text } = await post([NOTES, SEED]);
    const { meta } = JSON.parse(text);
    assertEquals([meta.rowsWritten, meta.statementCount], [2, 2]);
    const logged = await rows(
      "SELECT operation, status, rows_written, sql FROM _service_meta_query_log WHERE operation = 'migrate' ORDER BY id",
    );
    assertEquals(logged, [
      ["migrate", "ok", 0, NOTES[1].trim().slice(0, -1)],
      ["migrate", "ok", 2, SEED[1].trim().slice(0, -1)],
    ]);
    assertEquals(
      await rows("SELECT tables FROM _service_meta_audit WHERE operation = 'migrate' ORDER BY id"),
      [['["notes"]'], ['["notes"]']],
    );
  },
  "are told as applied where only the answer of the commit was lost, and as neither where nobody knows":
    async (
      { post, names, app },
    ) => {
      const { tenants } = app.deps.query;
      const open = tenants.open.bind(tenants);
      // The answer of the next file is lost, and with `blind` nothing can be read behind it.
      let [loses, blind, lost] = [true, false, false];
      tenants.open = (ids) => {
        const opened = open(ids);
        const run: typeof opened.run = async (call) => {
          if (blind && lost) throw new AppError("store_unavailable");
          const outcome = await opened.run(call);
          if (!call.migration || !loses) return outcome;
          [loses, lost] = [false, true];
          throw new AppError("outcome_unknown");
        };
        return new Proxy(opened, {
          get: (target, name) => {
            if (name === "run") return run;
            const member = Reflect.get(target, name);
            return typeof member === "function" ? member.bind(target) : member;
          },
        });
      };
      try {
        const { body } = await post([NOTES, SEED]);
        assertEquals(body.data, {
          applied: ["0001_notes.sql", "0002_seed.sql"],
          pending: [],
          ...{ snapshot: null, drift: null },
        });
        [loses, blind, lost] = [true, true, false];
        const unknown = refusalOf(await post([NOTES, SEED, TAGS]), 503, "outcome_unknown");
        assertEquals([unknown["file"], unknown["applied"], unknown["pending"]], ["0003_tags.sql", [], []]);
      } finally {
        tenants.open = open;
      }
      assertEquals(await names(), ["0001_notes.sql", "0002_seed.sql", "0003_tags.sql"]);
    },
  "are not told as applied where somebody else has applied them, whose answer nobody has lost here": async (
    { app, post },
  ) => {
    const { tenants } = app.deps;
    const open = tenants.open.bind(tenants);
    const others = [{ appliedAt: 1 }, { tokenId: "tok_other" }];
    tenants.open = (...which) => {
      const database = open(...which);
      const run = database.run.bind(database);
      database.run = async (call) => {
        const other = call.migration && others.shift();
        if (!call.migration || !call.log || !other) return await run(call);
        const record = { ...call.migration.record, ...other };
        const log = { ...call.log, id: newId("qry", Date.now()) };
        await run({ ...call, log, migration: { ...call.migration, record } });
        // This one has not come so far.
        throw new AppError("outcome_unknown");
      };
      return database;
    };
    try {
      const { status, text } = await post([NOTES, SEED, TAGS]);
      assertEquals([status, others, JSON.parse(text).data.applied], [200, [], [TAGS[0]]], text);
    } finally {
      tenants.open = open;
    }
  },
  "with unknown members or names are refused": async ({ post, app, acme }) => {
    refusalOf(await post([NOTES], { dryrun: true }), 400, "validation_failed");
    refusalOf(await post([["../x\n.sql", ""]]), 400, "validation_failed");
    refusalOf(await post([]), 400, "validation_failed");
    const many = await app.request("POST", `${acme.database.path}/migrations`, {
      token: acme.token,
      body: { files: [{ name: "1.sql", sql: "SELECT 1;".repeat(1001) }] },
    });
    assert(refusalOf(many, 400, "validation_failed"));
  },
});
