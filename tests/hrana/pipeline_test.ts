// Pipelines of the door for clients of libSQL, by hand: results, errors, what is one call and what is not.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { MAX_HRANA_STEPS } from "../../lib/core/limits_hrana.ts";
import { testSteps } from "../testing/cases.ts";
import { hranaWorld, resultOf, stateProbe, valuesOf, wholeBatch } from "./hrana_world.ts";

const float = (value: number) => ({ type: "float", value });
const text = (value: string) => ({ type: "text", value });
const integer = (value: string) => ({ type: "integer", value });
const ok = (step: number) => ({ type: "ok", step });

testSteps("the door for libSQL", hranaWorld, {
  "keeps INTEGER and REAL apart, in values and in results": async ({ execute }) => {
    const sql = "SELECT ?, typeof(?1), ?, typeof(?2), ?, ?, ?";
    const args = [integer("9007199254740993"), float(1), text("ä"), { type: "blob", base64: "AP8=" }, {
      type: "null",
    }];
    const { cols, rows } = resultOf(await execute(sql, args));
    assertEquals(rows[0], [
      integer("9007199254740993"),
      text("integer"),
      float(1),
      text("real"),
      text("ä"),
      { type: "blob", base64: "AP8" },
      { type: "null" },
    ]);
    assertEquals(cols.length, 7);
  },

  "refuses what is no base64 at once, however much of it there is": async ({ execute }) => {
    for (const base64 of [`${"=".repeat(500_000)}A`, "=".repeat(500_000), "A", "QUI=\n"]) {
      const { error } = await execute("SELECT ?", [{ type: "blob", base64 }]);
      assertEquals(error?.message.includes("base64: Send bytes as base64"), true, base64.slice(0, 9));
    }
  },

  "tells changes, the last rowid of an INSERT, and declared types": async ({ execute, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v VARCHAR(9))");
    const added = resultOf(await execute("INSERT INTO t (v) VALUES ('a'), ('b')"));
    assertEquals([added.affected_row_count, added.last_insert_rowid], [2, "2"]);
    const changed = resultOf(await execute("UPDATE t SET v = 'c'"));
    assertEquals([changed.affected_row_count, changed.last_insert_rowid], [2, null]);
    const read = resultOf(await execute("SELECT v FROM t"));
    assertEquals(read.cols, [{ name: "v", decltype: "VARCHAR(9)" }]);
    assertEquals([read.affected_row_count, read.last_insert_rowid], [0, null]);
    await setup("CREATE VIRTUAL TABLE f USING fts5 (body)");
    const command = resultOf(await execute("/* all */ INSERT INTO f(f) VALUES ('rebuild')"));
    assertEquals([command.affected_row_count, command.last_insert_rowid], [1, "0"]);
    const made = resultOf(await execute("CREATE TABLE u AS SELECT * FROM t"));
    assertEquals([made.affected_row_count, made.last_insert_rowid], [0, null]);
  },

  "reads a statement behind a thousand comments as fast as any": async ({ execute, setup }) => {
    const comments = "/* */ -- no\n/**/;".repeat(1000).replaceAll(";", "");
    assertEquals(valuesOf(resultOf(await execute(`${comments}SELECT 1`))), [["1"]]);
    await setup("CREATE TABLE many (id INTEGER PRIMARY KEY, v)");
    const added = resultOf(await execute(`${comments}INSERT INTO many (v) VALUES (1)`));
    assertEquals(added.affected_row_count, 1);
    const made = resultOf(await execute(`${comments}CREATE TABLE made (id)`));
    assertEquals(made.affected_row_count, 0);
    const begun = await execute(`${comments}BEGIN`);
    assertEquals(begun.type, "ok");
  },

  "binds named values with or without their mark, and refuses too few and unknown ones": async (
    { pipeline },
  ) => {
    const run = async (sql: string, names: readonly string[]) => {
      const named_args = names.map((name, at) => ({ name, value: integer(String(at)) }));
      const { body } = await pipeline({ requests: [{ type: "execute", stmt: { sql, named_args } }] });
      const [result] = body.results;
      return result?.error?.code ?? valuesOf(resultOf(result ?? { type: "error" }))[0];
    };
    assertEquals(await run("SELECT :a, @b, $c, :a", ["a", "@b", "c"]), ["0", "1", "2", "0"]);
    assertEquals(await run("SELECT :a, ':b', $c -- :d", ["a", "c"]), ["0", ":b", "1"]);
    assertEquals(await run("SELECT :a, :b", ["a"]), "ARGS_INVALID");
    assertEquals(await run("SELECT :a", ["a", "b"]), "ARGS_INVALID");
    assertEquals(await run("SELECT ?", ["a"]), "ARGS_INVALID");
  },

  "binds NULL to a named value with its mark too": async ({ pipeline }) => {
    const named_args = [":a", "b"].map((name) => ({ name, value: { type: "null" } }));
    const stmt = { sql: "SELECT :a, :b", named_args };
    const { body } = await pipeline({ requests: [{ type: "execute", stmt }] });
    const [result] = body.results;
    assertEquals(resultOf(result ?? { type: "error" }).rows, [[{ type: "null" }, { type: "null" }]]);
  },

  "has SQLite's codes for values that a column or a trigger does not take": async ({ setup, execute }) => {
    await setup(
      "CREATE TABLE s (id INTEGER PRIMARY KEY, a INT) STRICT",
      "CREATE TRIGGER small BEFORE INSERT ON s WHEN new.a > 9 BEGIN SELECT RAISE(ABORT, 'too big'); END",
    );
    const codes = async (sql: string) => {
      const { error } = await execute(sql);
      return [error?.code, error?.extended_code];
    };
    assertEquals(await codes("INSERT INTO s VALUES (1, 'x')"), [
      "SQLITE_CONSTRAINT",
      "SQLITE_CONSTRAINT_DATATYPE",
    ]);
    assertEquals((await codes("INSERT INTO s VALUES ('x', 1)"))[0], "SQLITE_MISMATCH");
    assertEquals(await codes("INSERT INTO s VALUES (1, 10)"), [
      "SQLITE_CONSTRAINT",
      "SQLITE_CONSTRAINT_TRIGGER",
    ]);
  },

  "is one transaction, one log row and one request where a batch goes from BEGIN to COMMIT": async (
    world,
  ) => {
    const { transaction, setup, rows } = world;
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    const run = resultOf(await transaction(["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]));
    assertEquals(run.step_results.map((result) => result?.affected_row_count ?? null), [0, 1, 1, 0, null]);
    const failed = resultOf(
      await transaction(["INSERT INTO t VALUES (3)", "INSERT INTO t VALUES (1)", "SELECT 1"]),
    );
    assertEquals(failed.step_results.map((result) => result !== null), [
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
    assertEquals(failed.step_errors.map((error) => error?.code ?? null), [
      ...[null, null, "SQLITE_CONSTRAINT", null, null, null],
    ]);
    assertEquals(await rows("SELECT id FROM t"), [[1], [2]]);
    const log = await rows(
      "SELECT statement_count, status FROM _service_meta_query_log WHERE operation = 'batch'",
    );
    assertEquals(log, [[2, "ok"], [3, "error"]]);
  },

  "has a step of a batch within a transaction fail alone whose result is too large": async (
    { pipeline, setup, rows },
  ) => {
    await setup(
      "CREATE TABLE large (id INTEGER PRIMARY KEY, a)",
      ...[1, 2, 3].map((id) => `INSERT INTO large VALUES (${id}, zeroblob(4900000))`),
    );
    const batch = (...texts: string[]) => ({
      type: "batch",
      batch: { steps: texts.map((sql) => ({ stmt: { sql } })) },
    });
    const { body } = await pipeline({
      requests: [
        { type: "execute", stmt: { sql: "BEGIN IMMEDIATE" } },
        batch(
          "INSERT INTO large VALUES (4, 0)",
          "DELETE FROM large RETURNING *",
          "INSERT INTO large VALUES (5, 0)",
        ),
        batch("SELECT 1", "SELECT * FROM large", "SELECT 2"),
        { type: "execute", stmt: { sql: "COMMIT" } },
      ],
    });
    for (const result of body.results.slice(1, 3)) {
      const { step_results: done, step_errors: failed } = resultOf(result);
      assertEquals(done.map((one) => one !== null), [true, false, true]);
      assertEquals(failed.map((one) => one !== null), [false, true, false]);
    }
    assertEquals(await rows("SELECT id FROM large ORDER BY id"), [[1], [2], [3], [4], [5]]);
  },

  "runs a migration with foreign keys off, all or nothing": async ({ pipeline, setup, rows }) => {
    await setup(
      "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
      "CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id REFERENCES parent)",
    );
    const migrate = async (...statements: string[]) => {
      const inner = statements.map((sql, at) => ({ condition: ok(at + 1), stmt: { sql } }));
      const last = statements.length + 1;
      const steps = [
        { stmt: { sql: "PRAGMA foreign_keys=off" } },
        { stmt: { sql: "BEGIN DEFERRED" } },
        ...inner,
        { condition: ok(last), stmt: { sql: "COMMIT" } },
        { condition: { type: "not", cond: ok(last + 1) }, stmt: { sql: "ROLLBACK" } },
        { stmt: { sql: "PRAGMA foreign_keys=on" } },
      ];
      const { body } = await pipeline({ requests: [{ type: "batch", batch: { steps } }, { type: "close" }] });
      return resultOf(body.results[0] ?? { type: "error" }).step_errors.map((error) => error?.code ?? null);
    };
    assertEquals(await migrate(), Array(5).fill(null));
    assertEquals(await migrate("INSERT INTO child VALUES (1, 9)"), Array(6).fill(null));
    const failed = await migrate("INSERT INTO child VALUES (2, 9)", "INSERT INTO child VALUES (1, 9)");
    assertEquals(failed.filter((code) => code !== null), ["SQLITE_CONSTRAINT"]);
    assertEquals(await rows("SELECT id FROM child"), [[1]]);
  },

  "runs steps without a transaction each on its condition": async ({ pipeline, setup, rows }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    const insert = (id: number) => ({ sql: `INSERT INTO t VALUES (${id})` });
    const steps = [
      { stmt: insert(1) },
      { stmt: insert(1) },
      { stmt: insert(2) },
      { condition: { type: "error", step: 1 }, stmt: insert(3) },
      { condition: { type: "and", conds: [ok(0), ok(1)] }, stmt: insert(4) },
      { condition: { type: "or", conds: [ok(1), { type: "is_autocommit" }] }, stmt: insert(5) },
      { condition: { type: "not", cond: ok(1) }, stmt: insert(6) },
    ];
    const { body } = await pipeline({ requests: [{ type: "batch", batch: { steps } }] });
    const { step_results, step_errors } = resultOf(body.results[0] ?? { type: "error" });
    assertEquals(step_results.map((result) => result !== null), [true, false, true, true, false, true, true]);
    assertEquals(step_errors.map((error) => error !== null), [false, true, ...Array(5).fill(false)]);
    assertEquals(await rows("SELECT id FROM t"), [[1], [2], [3], [5], [6]]);
  },

  "takes a thousand steps": async ({ pipeline, setup, rows }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    const steps = Array.from(
      { length: 1000 },
      (_, at) => ({ stmt: { sql: `INSERT INTO t VALUES (${at})` } }),
    );
    const { body } = await pipeline({ requests: [{ type: "batch", batch: { steps } }] });
    assertEquals(resultOf(body.results[0] ?? { type: "error" }).step_results.length, 1000);
    assertEquals(await rows("SELECT count(*) FROM t"), [[1000]]);
  },

  "answers what SQLAlchemy asks of a table without keys and indexes: in main, and in temp": async (
    { execute, setup },
  ) => {
    await setup("CREATE TABLE plain (a)");
    for (const schema of ["main", "temp"]) {
      for (const asked of ["foreign_key_list", "index_list", "index_info", "index_xinfo"]) {
        assertEquals(resultOf(await execute(`PRAGMA ${schema}.${asked}("plain")`)).rows, [], asked);
      }
    }
  },

  "a text of Prisma that rebuilds a table keeps its rows and those that refer to them": async (
    { pipeline, setup, rows },
  ) => {
    await setup(
      'CREATE TABLE "User" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT)',
      'CREATE TABLE "Post" ("id" INTEGER NOT NULL PRIMARY KEY, "authorId" INTEGER NOT NULL, FOREIGN KEY ("authorId") REFERENCES "User" ("id") ON DELETE CASCADE)',
      `INSERT INTO "User" VALUES (1, 'a'), (2, 'b')`,
      'INSERT INTO "Post" VALUES (7, 1), (8, 2)',
    );
    const run = async (sql: string) => {
      const { body } = await pipeline({ requests: [{ type: "sequence", sql }, { type: "close" }] });
      return body.results[0]?.error?.code;
    };
    const rebuild = `-- RedefineTables
CREATE TABLE "new_User" ("id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL DEFAULT 'x');
INSERT INTO "new_User" ("id", "name") SELECT "id", coalesce("name", 'x') AS "name" FROM "User";
DROP TABLE "User";
ALTER TABLE "new_User" RENAME TO "User";`;
    const off = "PRAGMA defer_foreign_keys=ON;\nPRAGMA foreign_keys=OFF;";
    const on = "PRAGMA foreign_keys=ON;\nPRAGMA defer_foreign_keys=OFF;";
    assertEquals(await run(`${off}\n${rebuild}\n${on}\n`), undefined);
    assertEquals(await rows('SELECT u.name, p.id FROM "User" u JOIN "Post" p ON p.authorId = u.id'), [
      ["a", 7],
      ["b", 8],
    ]);
    // Alone it would be passed over without a word, and references would be checked at once.
    assertEquals(await run("PRAGMA defer_foreign_keys=ON; DELETE FROM Post"), "STATEMENT_REFUSED");
    assertEquals(await rows('SELECT count(*) FROM "Post"'), [[2]]);
  },

  "refuses a text of more statements than a batch may have steps, before any of them runs": async (world) => {
    await world.setup("CREATE TABLE many (a)");
    const sql = "INSERT INTO many VALUES (1);".repeat(MAX_HRANA_STEPS + 1);
    const { status, body } = await world.pipeline({
      requests: [{ type: "sequence", sql }, { type: "close" }],
    });
    assertEquals([status, body.message?.slice(0, 43)], [400, "Send at most 10000 statements in one text; "]);
    assertEquals(await world.rows("SELECT count(*) FROM many"), [[0]]);
  },
  "keeps what a sequence has done before its first error": async ({ pipeline, setup, rows }) => {
    await setup("CREATE TABLE t (v)");
    const run = async (sql: string) => {
      const { body } = await pipeline({ requests: [{ type: "sequence", sql }, { type: "close" }] });
      return body.results[0]?.error?.code ?? "ok";
    };
    assertEquals(await run("INSERT INTO t VALUES (1); /* ; */ INSERT INTO t VALUES (2);"), "ok");
    assertEquals(await run(" -- nothing"), "ok");
    assertEquals(
      await run("INSERT INTO t VALUES (3); SELECT missing; INSERT INTO t VALUES (4)"),
      "SQL_INPUT_ERROR",
    );
    assertEquals(await run("BEGIN; INSERT INTO t VALUES (5); SELECT missing; COMMIT"), "SQL_INPUT_ERROR");
    assertEquals(await run("BEGIN; INSERT INTO t VALUES (6); COMMIT"), "ok");
    assertEquals(await rows("SELECT v FROM t"), [[1], [2], [3], [6]]);
  },

  "describes without running": async ({ pipeline, setup, rows }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
    const describe = async (sql: string) => {
      const { body } = await pipeline({ requests: [{ type: "describe", sql }] });
      const [result] = body.results;
      if (result?.error) return result.error.code;
      const { params, cols, is_readonly, is_explain } = resultOf(result ?? { type: "error" });
      return [params.map(({ name }) => name), cols.map(({ decltype }) => decltype), is_readonly, is_explain];
    };
    assertEquals(await describe("SELECT id, v || :a FROM t WHERE id = ?4"), [
      [":a", null, null, "?4"],
      ["INTEGER", null],
      true,
      false,
    ]);
    assertEquals(await describe("INSERT INTO t (v) VALUES (?) RETURNING v"), [
      [null],
      ["TEXT"],
      false,
      false,
    ]);
    assertEquals(await describe("DELETE FROM t"), [[], [], false, false]);
    assertEquals(await describe("EXPLAIN DELETE FROM t"), [[], Array(8).fill(null), true, true]);
    assertEquals(await describe("PRAGMA user_version = 7"), [[], [], false, false]);
    assertEquals(await describe("PRAGMA main.table_info(t)"), [[], Array(6).fill(null), true, false]);
    assertEquals(await describe("SELECT missing FROM t"), "SQL_INPUT_ERROR");
    assertEquals(await describe("SELECT 1; SELECT 2"), "SQL_MANY_STATEMENTS");
    assertEquals(await rows("PRAGMA user_version"), [[0]]);
  },

  "describes what a transaction alone can see, and as SQLite reports it what only ends it": async (
    { pipeline, rows },
  ) => {
    const sqls = ["SELECT a FROM own", "COMMIT", "BEGIN IMMEDIATE"];
    const { body } = await pipeline({
      requests: [
        ...["BEGIN", "CREATE TABLE own (a TEXT)"].map((sql) => ({ type: "execute", stmt: { sql } })),
        ...sqls.map((sql) => ({ type: "describe", sql })),
        { type: "close" },
      ],
    });
    const found = body.results.slice(2, 5).map((result) => resultOf(result));
    assertEquals(found[0]?.cols, [{ name: "a", decltype: "TEXT" }]);
    assertEquals(found.map(({ is_readonly }) => is_readonly), [true, true, false]);
    assertEquals(await rows("SELECT count(*) FROM sqlite_schema WHERE name = 'own'"), [[0]]);
  },

  "stores texts in a stream until it is closed": async ({ pipeline }) => {
    const first = await pipeline({
      requests: [
        { type: "store_sql", sql_id: 1, sql: "SELECT 7" },
        { type: "execute", stmt: { sql_id: 1, sql: null } },
      ],
    });
    const { baton } = first.body;
    assert(baton !== null);
    const again = { requests: [{ type: "execute", stmt: { sql_id: 1 } }] };
    const second = await pipeline({ baton, ...again });
    assertEquals(valuesOf(resultOf(second.body.results[0] ?? { type: "error" })), [["7"]]);
    const closed = await pipeline({
      baton: second.body.baton,
      requests: [{ type: "close_sql", sql_id: 1 }, ...again.requests],
    });
    assertEquals(closed.body.results[1]?.error?.code, "VALIDATION_FAILED");
    assertEquals(closed.body.baton, null);
    // A baton is good once.
    for (const used of [baton, second.body.baton]) {
      const answer = await pipeline({ baton: used, ...again });
      assertEquals([answer.status, answer.body.code], [400, "STREAM_EXPIRED"]);
    }
  },

  "has no state where a stream has none": async ({ pipeline }) => {
    const { body } = await pipeline({
      requests: [{ type: "get_autocommit" }, { type: "execute", stmt: { sql: "SELECT 1" } }],
    });
    assertEquals([body.baton, body.results[0]?.response?.is_autocommit], [null, true]);
  },

  "goes on behind a failed request": async ({ pipeline }) => {
    const requests = ["SELECT 1", "SELEC", "SELECT 2"].map((sql) => ({ type: "execute", stmt: { sql } }));
    const { status, body } = await pipeline({ requests });
    assertEquals(status, 200);
    assertEquals(body.results.map(({ error }) => error?.code ?? null), [null, "SQL_PARSE_ERROR", null]);
  },

  "names failures in the words that clients know": async ({ execute, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT NOT NULL CHECK (v <> 'x'))");
    const cases = {
      "INSERT INTO t VALUES (1, NULL)": ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_NOTNULL"],
      "INSERT INTO t VALUES (1, 'x')": ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_CHECK"],
      "INSERT INTO t VALUES (1, 'a'), (1, 'b')": ["SQLITE_CONSTRAINT", "SQLITE_CONSTRAINT_UNIQUE"],
      "SELECT * FROM missing": ["SQLITE_UNKNOWN", undefined],
      "": ["SQL_NO_STATEMENT", undefined],
      "SELECT 1; SELECT 2": ["SQL_MANY_STATEMENTS", undefined],
      "SELECT ?": ["ARGS_INVALID", undefined],
      "VACUUM": ["STATEMENT_REFUSED", undefined],
    };
    for (const [sql, [code, extended]] of Object.entries(cases)) {
      const { error } = await execute(sql);
      assertEquals([sql, error?.code, error?.extended_code], [sql, code, extended]);
    }
    // Astro DB takes exactly these words for a database that nothing was pushed to.
    const { error } = await execute("select snapshot from _astro_db_snapshot order by id desc limit 1;");
    assertEquals(
      `${error?.code}: ${error?.message}`,
      "SQLITE_UNKNOWN: SQLite error: no such table: _astro_db_snapshot",
    );
    const unique = await execute("INSERT INTO t VALUES (1, 'a'), (1, 'b')");
    assertMatch(unique.error?.message ?? "", /UNIQUE constraint failed: t\.id/);
  },

  "leaves the service's objects out of lists, and nothing else": async ({ execute, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE)", "CREATE VIEW w AS SELECT id FROM t");
    const names = async (sql: string) => valuesOf(resultOf(await execute(sql))).map(([name]) => name).sort();
    const all = ["sqlite_autoindex_t_1", "t", "w"];
    assertEquals(await names("SELECT name FROM sqlite_master"), all);
    assertEquals(await names('SELECT m.name FROM main."sqlite_schema" AS m'), all);
    assertEquals(await names("SELECT name FROM (SELECT * FROM sqlite_schema) WHERE type = 'table'"), ["t"]);
    assertEquals(await names("SELECT m.name FROM sqlite_schema AS m LEFT JOIN t ON t.id = m.rootpage"), all);
    assertEquals(await names("WITH sqlite_schema (a) AS (SELECT 'own') SELECT a FROM sqlite_schema"), [
      "own",
    ]);
    const view = "CREATE VIEW listing AS SELECT name FROM sqlite_schema";
    await setup("DROP VIEW w");
    resultOf(await execute(view));
    assertEquals(await names("SELECT sql FROM sqlite_schema WHERE name = 'listing'"), [view]);
    await setup("DROP VIEW listing", "CREATE VIEW w AS SELECT id FROM t");
    const listed = ["sqlite_schema", "sqlite_temp_schema", "t", "w"];
    const shown = await names("SELECT name FROM pragma_table_list");
    assertEquals(shown.filter((name) => name !== "sqlite_sequence"), listed);
    assertEquals(await names("SELECT name FROM pragma_table_list() AS p"), shown);
    const tables = valuesOf(resultOf(await execute("PRAGMA table_list"))).map((row) => row[1]).sort();
    assertEquals(tables.filter((name) => name !== "sqlite_sequence"), listed);
    assertEquals(await names("SELECT name FROM pragma_table_info('t')"), ["id", "v"]);
    assert((await names("SELECT id FROM _service_meta_query_log")).length > 0);
  },

  "takes one key with one call, and answers its repetition": async (
    { execute, pipeline, setup, rows, shop },
  ) => {
    await setup("CREATE TABLE t (v)");
    const keyed = { headers: { "idempotency-key": "k1" } };
    const insert = "INSERT INTO t VALUES (1)";
    const first = await execute(insert, [], keyed);
    assertEquals(await execute(insert, [], keyed), first);
    assertEquals(await rows("SELECT v FROM t"), [[1]]);
    assertEquals((await execute("INSERT INTO t VALUES (2)", [], keyed)).error?.code, "REPLAY_MISMATCH");
    const bounded = { headers: { ...keyed.headers, "x-max-affected": "1" } };
    assertEquals((await execute(insert, [], bounded)).error?.code, "REPLAY_MISMATCH");
    const batch = { type: "batch", batch: wholeBatch([insert]) };
    const once = await pipeline({ requests: [batch, { type: "close" }] }, {
      headers: { "idempotency-key": "k2" },
    });
    const again = await pipeline({ requests: [batch, { type: "close" }] }, {
      headers: { "idempotency-key": "k2" },
    });
    assertEquals([once.headers.get("idempotency-replayed"), again.headers.get("idempotency-replayed")], [
      null,
      "true",
    ]);
    assertEquals(again.body, once.body);
    const two = [insert, insert].map((sql) => ({ type: "execute", stmt: { sql } }));
    const several = await pipeline({ requests: two }, keyed);
    assertEquals([several.status, several.body.code], [400, "VALIDATION_FAILED"]);
    assertEquals(await rows("SELECT count(*) FROM t"), [[2]]);
    // Another token's key is its own.
    const { token } = await shop.mint("write");
    resultOf(await execute(insert, [], { ...keyed, token }));
    assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
  },

  "heeds X-Max-Affected and refuses headers that mean nothing here": async ({ execute, setup, rows }) => {
    await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1), (2)");
    const bounded = await execute("DELETE FROM t WHERE v > 0", [], { headers: { "x-max-affected": "1" } });
    assertEquals(bounded.error?.code, "TOO_MANY_AFFECTED");
    for (const name of ["x-dry-run", "x-integers", "plan-key"]) {
      const { error } = await execute("DELETE FROM t", [], { headers: { [name]: "1" } });
      assertEquals(error?.code, "VALIDATION_FAILED");
    }
    assertEquals(await rows("SELECT v FROM t"), [[1], [2]]);
  },

  "takes a snapshot before a destructive batch": async ({ transaction, setup, app, shop }) => {
    await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1)");
    const before = await app.request("GET", `${shop.database.path}/snapshots`, { token: shop.token });
    await transaction(["DELETE FROM t"]);
    const after = await app.request("GET", `${shop.database.path}/snapshots`, { token: shop.token });
    assertEquals(JSON.parse(after.text).data.length, JSON.parse(before.text).data.length + 1);
  },

  "a batch that asks for the state of its stream hears it, inside of a transaction and outside": async (
    world,
  ) => {
    await world.setup("CREATE TABLE t (v)");
    const steps = async (baton: string | null, sql: string) => {
      const { shop: { slug, token } } = world;
      const body = { baton, batch: { steps: [{ stmt: { sql } }, stateProbe] } };
      const { text } = await world.app.request("POST", `/hrana/${slug}/main/v3/cursor`, { token, body });
      const [first = "", ...entries] = text.trimEnd().split("\n");
      const own: string | null = JSON.parse(first).baton;
      return { baton: own, asked: entries.filter((line) => JSON.parse(line).step === 1) };
    };
    const outside = ['{"type":"step_begin","step":1,"cols":[{"name":"1","decltype":null}]}'];
    assertEquals(await steps(null, "INSERT INTO t VALUES (1)"), { baton: null, asked: outside });
    const begun = await steps(null, "BEGIN");
    assertEquals(begun.asked, []);
    const inside = await steps(begun.baton, "INSERT INTO t VALUES (2)");
    assertEquals(inside.asked, []);
    assertEquals(await steps(inside.baton, "COMMIT"), { baton: null, asked: outside });
    assertEquals(await world.rows("SELECT v FROM t"), [[1], [2]]);
  },

  "a socket at an address that has none is told the one that has, with a bearer and without": async (
    { app, shop: { slug, token } },
  ) => {
    const headers = {
      "upgrade": "websocket",
      "connection": "Upgrade",
      "sec-websocket-key": "dGhlIHNhbXBsZQ==",
    };
    for (
      const path of [`/v1/db/${slug}/main`, `/v1/db/${slug}/main/query`, `/v1/db/${slug}/main/v2`, "/db"]
    ) {
      for (const bearer of [{}, { token }]) {
        const { status, body } = await app.request("GET", path, { ...bearer, headers });
        assertEquals([status, body.code], [404, "not_found"], path);
        assertStringIncludes(body.error ?? "", "Give the client the URL /hrana/<namespace>/<database>/");
      }
    }
  },

  "an address that ends with a slash works for clients that add one": async (
    { app, shop: { slug, token } },
  ) => {
    const body = { requests: [{ type: "execute", stmt: { sql: "SELECT 1" } }] };
    for (const path of ["main//v2/pipeline", "main//v3/pipeline", "/v2/pipeline"]) {
      const { status } = await app.request("POST", `/hrana/${slug}/${path}`, { token, body });
      assertEquals(status, 200, path);
    }
    const { status } = await app.request("POST", `/hrana/${slug}//main/v2/pipeline`, { token, body });
    assertEquals(status, 404);
  },
});
