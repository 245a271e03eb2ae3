// Refusals that name the way out: mistyped functions, settings that do nothing alone, messages that leave a value out.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { allowedFunctions, closedFunctions } from "../../lib/sql/words/functions.ts";
import { isReservedName } from "../../lib/sql/words/service_tables.ts";
import { oneStore } from "../testing/cases.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { withWrites } from "../writes/write_world.ts";

const { run, test } = oneStore();
Deno.test("way out", run);

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)";

test("a mistyped function is the statement's mistake, with near names, wherever it stands", async () => {
  await withWrites(async ({ post, setup, shop }) => {
    await setup(T);
    const { token } = await shop.mint("read");
    const cases: readonly (readonly [sql: string, near: string])[] = [
      ["SELECT lenght(name) FROM t", "length"],
      ["SELECT uper('x')", "upper"],
      ["SELECT * FROM t WHERE JSON_EXTARCT(name, '$.a') = 1", "json_extract"],
      ["CREATE VIEW v AS SELECT subtsr(name, 1) FROM t", "substr"],
      ["CREATE TABLE u (a CHECK (coalesc(a, 1) > 0))", "coalesce"],
      ["CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET name = lowr(name); END", "lower"],
      ["INSERT INTO t (name) VALUES (replce('a', 'b', 'c'))", "replace"],
    ];
    for (const [sql, near] of cases) {
      const answer = await post("query", { sql });
      assertEquals([answer.status, answer.body.code], [400, "sql_error"], `${sql}: ${answer.text}`);
      assertEquals(answer.body.errorDetail?.kind, "syntax_error");
      assertStringIncludes(answer.body.error ?? "", "no such function: ");
      assertStringIncludes(answer.body.errorDetail?.hint ?? "", near, sql);
    }
    const reader = await post("query", { sql: cases[0]?.[0] }, { token });
    assertEquals([reader.status, reader.body.code], [400, "sql_error"]);
    const batch = await post("batch", { statements: [{ sql: "SELECT 1" }, { sql: "SELECT lenght('x')" }] });
    assertEquals([batch.status, batch.body.code, batch.body.failedIndex], [400, "sql_error", 1], batch.text);
    const far = await post("query", { sql: "SELECT zzqqzzqq(1)" });
    assertStringIncludes(far.body.errorDetail?.hint ?? "", "function_list");
    const validated = await post("validate", { sql: "SELECT lenght('x')" });
    assertStringIncludes(JSON.parse(validated.text).data.errorDetail.hint, "length");
  });
});

test("what is there already is told with the way on", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup(T, "CREATE INDEX i ON t (name)", "CREATE VIEW v AS SELECT 1");
    for (
      const [sql, error, hint] of [
        [T, "table t already exists", /^Write IF NOT EXISTS/],
        ["CREATE INDEX i ON t (id)", "index i already exists", /^Write IF NOT EXISTS/],
        ["CREATE VIEW v AS SELECT 2", "view v already exists", /^Write IF NOT EXISTS/],
        ["ALTER TABLE t ADD COLUMN name TEXT", "duplicate column name: name", /^Leave the column out/],
      ] as const
    ) {
      const answer = await post("query", { sql });
      assertEquals([answer.status, answer.body.error], [400, error], sql);
      assertMatch(answer.body.errorDetail?.hint ?? "", hint, sql);
    }
  });
});

test("columns and values that do not fit together are told with what to write", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup(T);
    for (
      const [sql, error, hint] of [
        ["CREATE TABLE z (id INT, id INT)", "duplicate column name: id", /^Leave the column out/],
        ["INSERT INTO t (id, name) VALUES (1)", "1 values for 2 columns", /^Name the columns/],
        ["UPDATE t SET (id, name) = (1)", "2 columns assigned 1 values", /^Give as many values/],
        ["SELECT id FROM t JOIN t AS other", "ambiguous column name: id", /^Write the table or its alias/],
        [
          "CREATE TABLE z (id INT PRIMARY KEY AUTOINCREMENT)",
          "AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY",
          /^Write INTEGER PRIMARY KEY/,
        ],
        ["ALTER TABLE t DROP COLUMN id", 'cannot drop PRIMARY KEY column: "id"', /^Make a new table/],
        ["SELECT 1 FROM t WHERE count(*) > 1", "misuse of aggregate function count()", /HAVING/],
        [
          "SELECT 1 UNION SELECT 1, 2",
          "SELECTs to the left and right of UNION do not have the same number of result columns",
          /^Select as many columns/,
        ],
      ] as const
    ) {
      const answer = await post("query", { sql });
      assertEquals([answer.status, answer.body.error], [400, error], sql);
      assertMatch(answer.body.errorDetail?.hint ?? "", hint, sql);
    }
    const named = await post("query", { sql: "SELECT :a", params: { a: 1 } });
    assertEquals(named.body.issues, [{
      path: "params",
      message: "Send an array here: a value for each ? in its order",
    }]);
  });
});

test("a word of SQL as a name, a key without an index, a computed column and words to search for are told with the way out", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup(
      'CREATE TABLE "order" (id INTEGER PRIMARY KEY, "group" TEXT, twice INTEGER AS (id * 2))',
      'CREATE TABLE refers (of_group TEXT REFERENCES "order"("group"))',
      "CREATE VIRTUAL TABLE words USING fts5(a)",
    );
    for (
      const [sql, error, hint] of [
        ["SELECT * FROM order", 'near "order": syntax error', /write "order" in double quotes/],
        ['SELECT group FROM "order"', 'near "group": syntax error', /write "group" in double quotes/],
        ["SELECT * FORM t", 'near "FORM": syntax error', /^Correct the statement; the dialect is SQLite's$/],
        [
          "INSERT INTO refers VALUES ('a')",
          'foreign key mismatch - "refers" referencing "order"',
          /^Let the key refer to the primary key/,
        ],
        [
          "PRAGMA foreign_key_check",
          'foreign key mismatch - "refers" referencing "order"',
          /^Let the key refer to the primary key/,
        ],
        [
          'INSERT INTO "order" (twice) VALUES (1)',
          'cannot INSERT into generated column "twice"',
          /^Leave the column out/,
        ],
        [
          `INSERT INTO "order" ("group") VALUES (1) ON CONFLICT ("group") DO NOTHING`,
          "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint",
          /^Name the columns of the primary key or of a unique index/,
        ],
        ["SELECT json_set('{}', '{a}', 1)", "bad JSON path: '{a}'", /a path begins with \$/],
        [
          `SELECT * FROM words WHERE words MATCH '"mine'`,
          "unterminated string",
          /^Correct the text after MATCH/,
        ],
      ] as const
    ) {
      const answer = await post("query", { sql });
      assertEquals([answer.status, answer.body.error], [400, error], sql);
      assertMatch(answer.body.errorDetail?.hint ?? "", hint, sql);
    }
  });
});

test("a function that exists and is closed is refused to every role, a mistake beside it notwithstanding", async () => {
  await withWrites(async ({ post }) => {
    for (const name of ["load_extension", "readfile", "writefile", "fts3_tokenizer", "edit", "sqlite_log"]) {
      for (const sql of [`SELECT ${name}('x')`, `SELECT lenght('x'), ${name}('x')`]) {
        const answer = await post("query", { sql });
        assertEquals([answer.status, answer.body.code], [403, "statement_refused"], sql);
      }
    }
  });
});

test("every function of the engine is on one of the two lists, and none on both", async () => {
  await withWrites(async ({ rows }) => {
    const listed = await rows("SELECT DISTINCT lower(name) FROM pragma_function_list");
    const names = listed.map(([name]) => String(name)).filter((name) => !isReservedName(name));
    assert(names.length > 100);
    assertEquals(names.filter((name) => !allowedFunctions.has(name) && !closedFunctions.has(name)), []);
    assertEquals([...closedFunctions].filter((name) => allowedFunctions.has(name)), []);
  });
});

test("PRAGMA foreign_keys=off alone is refused with the way that works, which works", async () => {
  await withWrites(async ({ post, setup, shop }) => {
    await setup(T, "CREATE TABLE child (t REFERENCES t(id))");
    const off = { sql: "PRAGMA foreign_keys=off" };
    for (
      const [path, body, at] of [
        ["query", off, "sql"],
        ["query", { sql: "pragma main.foreign_keys(0)" }, "sql"],
        ["batch", { statements: [off] }, "statements"],
        ["batch", { statements: [off, off], transaction: true }, "statements"],
      ] as const
    ) {
      const answer = await post(path, body);
      assertEquals([answer.status, answer.body.code], [400, "validation_failed"], answer.text);
      assertEquals(answer.body.issues?.[0]?.path, at);
      assertStringIncludes(answer.body.issues?.[0]?.message ?? "", "one batch");
    }
    const { token } = await shop.mint("write");
    assertEquals((await post("query", off, { token })).body.code, "role_too_low");
    const used = await post("batch", { statements: [off, { sql: "INSERT INTO child VALUES (7)" }] });
    assertEquals(used.status, 200, used.text);
    assertEquals((await post("query", { sql: "PRAGMA foreign_keys=on" })).status, 200);
    assertEquals((await post("query", { sql: "INSERT INTO child VALUES (8)" })).status, 400);
  });
});

test("a message that leaves a value out says what to look at rather than to read it", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup("CREATE VIRTUAL TABLE f USING fts5(body)", "INSERT INTO f VALUES ('x')");
    for (
      const [sql, value, hint] of [
        ["SELECT * FROM f WHERE f MATCH ?", '"open', "MATCH"],
        ["SELECT * FROM f WHERE f MATCH ?", "secret:x", "column that a parameter"],
        ["SELECT * FROM f WHERE f MATCH ?", "a AND", "MATCH"],
        ["SELECT json_extract('{}', ?)", "bad[", "JSON"],
      ] as const
    ) {
      const { status, body, text } = await post("query", { sql, params: [value] });
      assertEquals(status, 400, text);
      assert(!text.includes(value), text);
      assert(!text.includes("Read the message") || !text.includes("…"), text);
      if (body.error?.includes("…")) assertStringIncludes(body.errorDetail?.hint ?? "", hint, text);
    }
  });
});

test("a command that a full-text table cannot take is refused in the engine's words", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup(
      "CREATE VIRTUAL TABLE own USING fts5(body)",
      "CREATE VIRTUAL TABLE bare USING fts5(body, content='')",
    );
    const cases: readonly (readonly [sql: string, words: string])[] = [
      ["INSERT INTO own(own) VALUES (?)", "'delete-all' may only be used with a contentless"],
      ["INSERT INTO bare(bare) VALUES (?)", "'rebuild' may not be used with a contentless"],
    ];
    for (const [sql, words] of cases) {
      const word = words.split("'")[1] ?? "";
      const literal = { sql: sql.replace("?", `'${word}'`) };
      for (const body of [literal, { sql, params: [word] }]) {
        const answer = await post("query", body);
        assertEquals([answer.status, answer.body.code], [400, "sql_error"], `${sql}: ${answer.text}`);
        assertStringIncludes(answer.body.error ?? "", words, sql);
      }
    }
  });
});

test("a column of a kind that is not added comes with the way to have it, which leads there", async () => {
  await withWrites(async ({ post, setup, rows }) => {
    await setup(T, "INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    const cases: readonly (readonly [rule: string, told: RegExp, ...statements: string[]])[] = [
      ["a UNIQUE", /CREATE UNIQUE INDEX "t_a" ON "t" \("a"\)/, "a", "UPDATE t SET a = id"],
      ["b PRIMARY KEY", /CREATE UNIQUE INDEX "t_b" ON "t" \("b"\)/, "b", "UPDATE t SET b = id"],
      ["c DEFAULT CURRENT_TIMESTAMP", /UPDATE "t" SET "c" = (?=…)/, "c"],
      ["d DEFAULT (1 + 1)", /DEFAULT that is a plain value/, "d DEFAULT 2"],
      ["e INTEGER REFERENCES t DEFAULT 1", /UPDATE "t" SET "e" = (?=…)/, "e INTEGER REFERENCES t"],
      ["f AS (id + 1) STORED", /VIRTUAL in the place of STORED/, "f AS (id + 1) VIRTUAL"],
      ["g NOT NULL", /DEFAULT that is not NULL/, "g NOT NULL DEFAULT 0"],
    ];
    for (const [rule, told, without, ...fill] of cases) {
      const { status, body, text } = await post("query", { sql: `ALTER TABLE t ADD COLUMN ${rule}` });
      const { kind, table, column, hint = "" } = body.errorDetail ?? {};
      assertEquals(
        [status, body.code, kind, table, column],
        [400, "sql_error", "unknown", "t", rule[0]],
        text,
      );
      assertMatch(hint, told, rule);
      const [named = ""] = told.exec(hint) ?? [];
      const last = named.startsWith("CREATE") ? [named] : named.startsWith("UPDATE") ? [`${named}1`] : [];
      for (const sql of [`ALTER TABLE t ADD COLUMN ${without}`, ...fill, ...last]) {
        assertEquals((await post("query", { sql })).status, 200, sql);
      }
    }
    assertEquals(await rows("SELECT a, b, c, d, e, f, g FROM t"), [[1, 1, 1, 2, 1, 2, 0], [
      2,
      2,
      1,
      2,
      1,
      3,
      0,
    ]]);
    const again = await post("query", { sql: "INSERT INTO t (name, a) VALUES ('c', 1)" });
    assertEquals(again.body.errorDetail?.kind, "unique_violation", again.text);
  });
});

test("a rule that rows break is named where it is added, with a statement that finds them", async () => {
  await withWrites(async ({ post, setup, rows }) => {
    await setup(T, "INSERT INTO t VALUES (1, NULL), (2, 'no'), (3, 'long enough')");
    const failed = async (sql: string) => {
      const { status, body, text } = await post("query", { sql });
      assertEquals([status, body.code], [400, "sql_error"], text);
      const { kind, table, column, hint = "" } = body.errorDetail ?? {};
      return {
        told: [kind, table, column, body.error],
        find: /SELECT .+(?= finds them)/.exec(hint)?.[0],
        hint,
      };
    };
    const missing = await failed("ALTER TABLE t ADD COLUMN size INTEGER NOT NULL");
    assertEquals(missing.told.slice(0, 3), ["unknown", "t", "size"]);
    assertStringIncludes(missing.hint, "DEFAULT");
    const wrong = await failed("ALTER TABLE t ADD COLUMN size INTEGER DEFAULT 0 CHECK (size > 0)");
    assertEquals(wrong.told, ["check_violation", "t", "size", "CHECK constraint failed: size"]);
    assertStringIncludes(wrong.hint, "DEFAULT");
    // The engine of a server is older and adds no rules to a table.
    if (!isEmbedded()) return;
    const short = await failed("ALTER TABLE t ADD CHECK (length(name) > 3)");
    assertEquals(short.told, ["check_violation", "t", null, "CHECK constraint failed: length(name) > 3"]);
    assertEquals(await rows(short.find ?? ""), [[2, "no"]]);
    const named = await failed("ALTER TABLE t ADD CONSTRAINT long_names CHECK (length(name) > 3)");
    assertEquals(named.told, ["check_violation", "t", null, "CHECK constraint failed: long_names"]);
    const empty = await failed("ALTER TABLE t ALTER COLUMN name SET NOT NULL");
    assertEquals(empty.told, ["not_null_violation", "t", "name", "NOT NULL constraint failed: t.name"]);
    assertEquals(await rows(empty.find ?? ""), [[1, null]]);
  });
});
