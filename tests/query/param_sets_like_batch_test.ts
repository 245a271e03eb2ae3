// One statement with many parameter sets does what a batch of the same statements does.
import { assertEquals } from "@std/assert";
import { testCases } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { type Sets, worldOf } from "./param_sets_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";
const INSERT = "INSERT INTO t (a) VALUES (?)";

interface LikeBatch {
  readonly name: string;
  readonly setup: readonly string[];
  readonly sql: string;
  readonly sets: Sets;
  readonly shows: string;
}

const AUDITED = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a)",
  "CREATE TABLE l (a)",
  "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO l VALUES (new.a); INSERT INTO l VALUES (new.a); END",
];
const FAMILY = [
  "CREATE TABLE p (id INTEGER PRIMARY KEY)",
  "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) ON DELETE CASCADE)",
  "INSERT INTO p VALUES (1), (2), (3)",
  "INSERT INTO c VALUES (1, 1), (2, 1), (3, 2)",
];
const DEFERRED = [
  "CREATE TABLE p (id INTEGER PRIMARY KEY)",
  "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
  "INSERT INTO p VALUES (1)",
];

const likeBatch: readonly LikeBatch[] = [
  { name: "plain inserts", setup: [T], sql: INSERT, sets: [["x"], ["y"], [null]], shows: "t" },
  { name: "a set that clashes", setup: [T], sql: INSERT, sets: [["x"], ["y"], ["x"], ["z"]], shows: "t" },
  {
    name: "a first set that clashes",
    setup: [T, `${INSERT.replace("?", "'x'")}`],
    sql: INSERT,
    sets: [["x"], ["y"]],
    shows: "t",
  },
  {
    name: "rows that come back",
    setup: [T],
    sql: `${INSERT} RETURNING id, a`,
    sets: [["x"], ["y"], ["x"]],
    shows: "t",
  },
  { name: "triggers", setup: AUDITED, sql: "INSERT INTO t (a) VALUES (?)", sets: [[1], [2]], shows: "l" },
  { name: "cascades", setup: FAMILY, sql: "DELETE FROM p WHERE id = ?", sets: [[1], [9], [2]], shows: "c" },
  {
    name: "replaced rows",
    setup: [T, "INSERT INTO t VALUES (1, 'x'), (2, 'y')"],
    sql: "REPLACE INTO t VALUES (?, ?)",
    sets: [[3, "x"], [4, "y"], [5, "z"]],
    shows: "t",
  },
  {
    name: "rows kept by OR FAIL",
    setup: [T],
    sql: "INSERT OR FAIL INTO t VALUES (?1, ?2), (?1 + 1, ?3)",
    sets: [[1, "a", "b"], [3, "c", "a"], [5, "e", "f"]],
    shows: "t",
  },
  {
    name: "a transaction ended by OR ROLLBACK",
    setup: [T],
    sql: "INSERT OR ROLLBACK INTO t VALUES (?, ?)",
    sets: [[1, "a"], [2, "b"], [3, "a"], [4, "c"]],
    shows: "t",
  },
  {
    name: "a full-text table",
    setup: ["CREATE VIRTUAL TABLE docs USING fts5(body)"],
    sql: "INSERT INTO docs (body) VALUES (?)",
    sets: [["one two"], ["two three"]],
    shows: "docs",
  },
  {
    name: "references that a set leaves broken",
    setup: DEFERRED,
    sql: "INSERT INTO c VALUES (?, ?)",
    sets: [[1, 1], [2, 99], [3, 1]],
    shows: "c",
  },
  { name: "reads", setup: FAMILY, sql: "SELECT id FROM c WHERE p = ?", sets: [[1], [7], [2]], shows: "c" },
  {
    name: "a read that fails",
    setup: [T],
    sql: "SELECT abs(?)",
    sets: [[-1], [{ $blob: "AAA=" }], [1]],
    shows: "t",
  },
];

testCases("paramSets keeps, counts and costs what a batch of the same statements does:", {
  cases: likeBatch.flatMap((one) => [{ ...one, transaction: true }, { ...one, transaction: false }]),
  nameOf: ({ name, transaction }) => `${name}, ${transaction ? "all or nothing" : "one by one"}`,
  run: async (app, slug, { setup, sql, sets, shows, transaction }) => {
    const ends: unknown[] = [];
    for (const form of ["sets", "statements"] as const) {
      const { tenant, send } = await worldOf(app, `${slug}-${form}`);
      await tenant.setup(...setup);
      const answer = form === "sets"
        ? await send(sql, sets, { transaction })
        : await tenant.batch(sets.map((params) => [sql, ...params]), { transaction });
      const { data, meta, code, failedIndex, errorDetail } = JSON.parse(answer.text);
      const results: readonly { rows: unknown[][]; rowsRead: number; rowsWritten: number }[] =
        data === undefined || data === null ? [] : Array.isArray(data) ? data : [data];
      const sum = (name: "rowsRead" | "rowsWritten") => results.reduce((all, one) => all + one[name], 0);
      const log = await tenant.query(
        "SELECT status, error_kind, rows_read, rows_written, statement_count FROM _service_meta_query_log " +
          "WHERE operation = 'batch'",
      );
      ends.push({
        told: [answer.status, code, failedIndex, errorDetail],
        rows: results.flatMap(({ rows }) => rows),
        counted: [
          sum("rowsRead"),
          sum("rowsWritten"),
          meta?.costUsd,
          meta?.statementCount,
          meta?.rowsWritten,
        ],
        kept: rowsOf(await tenant.query(`SELECT * FROM ${shows} ORDER BY rowid`)),
        log: rowsOf(log),
      });
    }
    assertEquals(ends[0], ends[1]);
  },
});
