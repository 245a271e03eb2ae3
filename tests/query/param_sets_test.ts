// One statement with many parameter sets over HTTP: its result, what it takes and what it refuses.
import { assert, assertEquals } from "@std/assert";
import { MAX_PARAM_SETS } from "../../lib/core/limits.ts";
import { batchBody } from "../../routes/v1/sql_schemas.ts";
import type { ApiRequest } from "../testing/call_api.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { dataOf, type Sets, worldOf } from "./param_sets_world.ts";

const { run, test } = oneStore();
Deno.test("param sets", run);

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";
const INSERT = "INSERT INTO t (a) VALUES (?)";

testSteps("paramSets", worldOf, {
  "answers the rows of all sets and the figures of each, in their order": async ({ tenant, send }) => {
    await tenant.setup(T);
    const inserted = dataOf(await send(INSERT, [["x"], ["y"]]));
    assertEquals([inserted.columns, inserted.rows, inserted.rowsRead, inserted.rowsWritten], [[], [], 0, 2]);
    assertEquals(inserted.sets, { rowsReturned: null, rowsWritten: [1, 1], lastInsertRowid: [1, 2] });
    const read = dataOf(await send("SELECT a FROM t WHERE id >= ? ORDER BY id", [[2], [3], [1]]));
    assertEquals([read.columns, read.rows], [["a"], [["y"], ["x"], ["y"]]]);
    assertEquals(read.sets, { rowsReturned: [1, 0, 2], rowsWritten: null, lastInsertRowid: null });
    const updated = dataOf(
      await send("UPDATE t SET a = a || ? WHERE id = ? RETURNING a", [["!", 2], ["?", 7]]),
    );
    assertEquals(updated.rows, [["y!"]]);
    assertEquals(updated.sets, { rowsReturned: [1, 0], rowsWritten: [1, 0], lastInsertRowid: null });
  },
  "tells the rowid of what a set has added, and of nothing else": async ({ tenant, send }) => {
    await tenant.setup(
      T,
      "CREATE TABLE w (k TEXT PRIMARY KEY, n) WITHOUT ROWID",
      "CREATE TABLE up (k TEXT PRIMARY KEY, n)",
    );
    const rowids = async (sql: string, sets: Sets, options: ApiRequest = {}) => {
      const answer = await send(sql, sets, options);
      assertEquals(answer.status, 200, answer.text);
      return dataOf(answer).sets.lastInsertRowid;
    };
    assertEquals(await rowids(`INSERT OR IGNORE INTO t (a) VALUES (?)`, [["x"], ["x"], ["y"]]), [1, null, 2]);
    assertEquals(await rowids("INSERT INTO w VALUES (?, 1)", [["x"], ["y"]]), null);
    const upsert = "INSERT INTO up VALUES (?, 1) ON CONFLICT (k) DO UPDATE SET n = n + 1";
    assertEquals(await rowids(upsert, [["x"], ["x"]]), null);
    const large = [["9007199254740993", "l"], [7, "s"]];
    const digits = "INSERT INTO t VALUES (CAST(? AS INTEGER), ?)";
    assertEquals(await rowids(digits, large), ["9007199254740993", 7]);
    const asStrings = { headers: { "X-Integers": "string" } };
    assertEquals(await rowids(INSERT, [["last"]], asStrings), ["9007199254740994"]);
  },
  "keeps columns, rows and rowids of the sets before a failed one, also where references are checked behind each":
    async (
      { tenant, send },
    ) => {
      await tenant.setup(
        T,
        "CREATE TABLE refers (t INTEGER REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)",
      );
      const plain = await send(INSERT, [["x"], ["y"], ["x"], ["z"]], { transaction: false });
      assertEquals([plain.status, plain.body.failedIndex], [400, 2], plain.text);
      assertEquals(dataOf(plain).sets, { rowsReturned: null, rowsWritten: [1, 1], lastInsertRowid: [1, 2] });
      const returning = await send(`${INSERT} RETURNING id, a`, [["z"], ["x"]], { transaction: false });
      assertEquals([returning.status, returning.body.failedIndex], [400, 1], returning.text);
      const { columns, rows, sets } = dataOf(returning);
      assertEquals([columns, rows], [["id", "a"], [[3, "z"]]]);
      assertEquals(sets, { rowsReturned: [1], rowsWritten: [1], lastInsertRowid: [3] });
    },
  "runs nothing where one set does not fit the statement, and names that set": async ({ tenant, send }) => {
    await tenant.setup(T);
    for (const transaction of [true, false]) {
      for (const odd of [["x", "y"], [], ["with a \u0000"]]) {
        const answer = await send(INSERT, [["a"], odd, ["b"]], { transaction });
        assertEquals([answer.status, answer.body.code, answer.body.failedIndex], [400, "sql_error", 1]);
      }
    }
    const value = await send(INSERT, [["a"], [["list"]]]);
    assertEquals([value.status, value.body.issues?.[0]?.path], [400, "paramSets[1][0]"], value.text);
    assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
  },
  "takes one statement that reads or writes rows, and no other field": async ({ app, tenant, send }) => {
    await tenant.setup("CREATE VIRTUAL TABLE docs USING fts5(body)");
    const refused = async (sql: string, sets: Sets) => {
      const answer = await send(sql, sets);
      assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, "sql"], answer.text);
    };
    await refused("CREATE TABLE u (a)", [[]]);
    await refused("PRAGMA user_version", [[]]);
    await refused("EXPLAIN SELECT ?", [[1]]);
    await refused("INSERT INTO docs (docs) VALUES (?)", [["optimize"], ["delete-all"]]);
    assertEquals((await send("BEGIN", [[]])).body.code, "statement_refused");
    const body = async (body: unknown) => {
      const path = `${tenant.database.path}/batch`;
      const answer = await app.request("POST", path, { token: tenant.token, body });
      return [answer.status, answer.body.issues?.map(({ path }: { path: string }) => path)];
    };
    assertEquals(await body({}), [400, ["statements"]]);
    assertEquals(await body({ sql: "SELECT 1" }), [400, ["paramSets"]]);
    assertEquals(await body({ paramSets: [[]] }), [400, ["sql"]]);
    assertEquals(await body({ sql: "SELECT 1", paramSets: [] }), [400, ["paramSets"]]);
    assertEquals(await body({ sql: "SELECT 1", statements: [{ sql: "SELECT 1" }] }), [400, ["sql"]]);
    assertEquals(await body({ sql: "SELECT 1", paramSets: [[]], params: [] }), [400, ["params"]]);
  },
  "runs up to 10,000 sets in one call, with a short answer, one log row and one audit row": async (
    { tenant, send },
  ) => {
    await tenant.setup(T);
    const sets = Array.from({ length: MAX_PARAM_SETS }, (_, at) => [`text ${at}`]);
    const answer = await send(INSERT, sets, { transaction: true });
    assertEquals(answer.status, 200, answer.text.slice(0, 300));
    assert(answer.text.length < 100_000, `${answer.text.length} characters`);
    assertEquals(answer.body.meta?.costUsd, (500 + MAX_PARAM_SETS * 2000) / 1e9);
    const { sets: { rowsWritten, lastInsertRowid } } = dataOf(answer);
    assertEquals([rowsWritten?.length, lastInsertRowid?.at(-1)], [MAX_PARAM_SETS, MAX_PARAM_SETS]);
    const log =
      "SELECT statement_count, rows_written, sql FROM _service_meta_query_log WHERE operation = 'batch'";
    assertEquals(rowsOf(await tenant.query(log)), [[MAX_PARAM_SETS, MAX_PARAM_SETS, INSERT]]);
    const audit = "SELECT rows_written FROM _service_meta_audit WHERE operation = 'batch'";
    assertEquals(rowsOf(await tenant.query(audit)), [[MAX_PARAM_SETS]]);
    const tooMany = await send(INSERT, [...sets, ["one more"]]);
    assertEquals([tooMany.status, tooMany.body.issues?.[0]?.path], [400, "paramSets"], tooMany.text);
  },
  "binds and returns values of every kind as a query does": async ({ tenant, send }) => {
    await tenant.setup("CREATE TABLE v (a)");
    const values = ["9007199254740993", 1.5, null, { $blob: "AAEC" }, "ü'\"\\\u{1f600}", 12];
    const sets = [...values, true].map((value) => [value]);
    const { rows } = dataOf(await send("INSERT INTO v VALUES (?) RETURNING a, typeof(a)", sets));
    const kinds = ["text", "real", "null", "blob", "text", "integer"];
    assertEquals(rows, [...values.map((value, at) => [value, kinds[at]]), [1, "integer"]]);
    const infinite = dataOf(await send("SELECT ? * 9e999, '\"rows\":['", [[1], [-1]]));
    assertEquals(infinite.rows, [["Infinity", '"rows":['], ["-Infinity", '"rows":[']]);
  },
}, test);

test("however many values of a body no statement can bind, no more of them are looked into than an answer tells", () => {
  const odd = (count: number) => Array.from({ length: count }, () => ({}));
  for (const [sets, each] of [[200, 50], [10_000, 1], [1, 10_000]] as const) {
    const paramSets = Array.from({ length: sets }, () => odd(each));
    const issues = batchBody.safeParse({ sql: "SELECT ?", paramSets }).error?.issues ?? [];
    assertEquals(issues.length, 50);
    assertEquals(issues[1]?.path, each === 1 ? ["paramSets", 1, 0] : ["paramSets", 0, 1]);
  }
});
