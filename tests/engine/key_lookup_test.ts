// Which reads are proven to end, by the programs that the engine really compiles, and by programs that it does not.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { programOf, type ProgramStep, rowLimitOf } from "../../lib/engine/key_lookup.ts";

const SCHEMA = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, price REAL, n INTEGER, c TEXT COLLATE NOCASE UNIQUE,
    doubled INTEGER GENERATED ALWAYS AS (n * 2) VIRTUAL);
  CREATE INDEX t_n ON t (n);
  CREATE TABLE u (id TEXT PRIMARY KEY, v BLOB);
  CREATE TABLE w (a TEXT, b INTEGER, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE VIEW seen AS SELECT id, name FROM t;
  CREATE VIEW counted AS SELECT count(*) AS n FROM t;
  CREATE VIRTUAL TABLE words USING fts5(body);
  CREATE TABLE wide (id INTEGER PRIMARY KEY, ${Array.from({ length: 80 }, (_, at) => `c${at}`)});`;

const bounded = [
  "SELECT id, name, price, n FROM t WHERE id = ?",
  "SELECT * FROM u WHERE id = ?",
  "SELECT v FROM w WHERE a = ? AND b = ?",
  "SELECT name FROM t WHERE c = ?",
  "SELECT name FROM t WHERE id = ? AND n = 3",
  "SELECT name FROM t WHERE id = ? LIMIT 1",
  "SELECT name FROM t WHERE rowid = 7",
  "SELECT name FROM seen WHERE id = ?",
];

/** Lists, and how many rows they have at most. */
const lists: readonly (readonly [sql: string, most: number, parameter?: number])[] = [
  ["SELECT id, name FROM t WHERE n = ? ORDER BY id DESC LIMIT ?", 100, 2],
  ["SELECT id, name, price, n, c, id FROM t WHERE n = ?2 LIMIT ?1", 85, 1],
  ["SELECT id, name FROM t WHERE n = ? ORDER BY id DESC LIMIT 50", 50],
  ["SELECT * FROM u LIMIT 7", 7],
  ["SELECT id, name FROM t WHERE id > ? ORDER BY id LIMIT 20", 20],
  ["SELECT id, name FROM t ORDER BY id DESC LIMIT 100", 100],
  ["SELECT v FROM w WHERE a = ? LIMIT 10", 10],
  ["SELECT v FROM w WHERE a = ? AND b > ? ORDER BY b LIMIT 10", 10],
  ["SELECT v FROM w WHERE a > ? LIMIT 10", 10],
  ["SELECT name FROM t WHERE id BETWEEN ? AND ? LIMIT 3", 3],
  ["SELECT name FROM t WHERE id < ? ORDER BY id DESC LIMIT 3", 3],
  ["SELECT name FROM t WHERE n <= ? ORDER BY n DESC LIMIT 3", 3],
  ["SELECT name FROM seen WHERE id >= ? LIMIT 4", 4],
  ["SELECT n FROM t ORDER BY n LIMIT 1", 1],
];

const unbounded = [
  "SELECT id, name FROM t ORDER BY id LIMIT 101",
  "SELECT id, name, price, n, c, id FROM t ORDER BY id LIMIT 100",
  "SELECT id, name FROM t ORDER BY id LIMIT ? + 1",
  "SELECT id, name FROM t ORDER BY id LIMIT ? OFFSET ?",
  "SELECT id, name FROM t ORDER BY id LIMIT -1",
  "SELECT id, name FROM t ORDER BY id LIMIT 0",
  "SELECT id, name FROM t ORDER BY id LIMIT 5 + 5",
  "SELECT id, name FROM t ORDER BY id LIMIT 5 OFFSET 2",
  "SELECT id, name FROM t ORDER BY name LIMIT 5",
  "SELECT id, name FROM t WHERE name = 'x' LIMIT 5",
  "SELECT id, name FROM t WHERE n = ? AND name IS NULL LIMIT 5",
  "SELECT id, name FROM t WHERE n IN (1, 2) LIMIT 5",
  "SELECT DISTINCT name FROM t LIMIT 5",
  "SELECT n, count(*) FROM t GROUP BY n LIMIT 5",
  "SELECT a.id, b.id FROM t AS a JOIN t AS b LIMIT 5",
  "SELECT id FROM t UNION ALL SELECT id FROM u LIMIT 5",
  "SELECT upper(name) FROM t LIMIT 5",
  "SELECT doubled FROM t LIMIT 5",
  "SELECT body FROM words LIMIT 5",
  "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u) LIMIT 5",
  "SELECT name FROM (SELECT name FROM t LIMIT 5) LIMIT 3",
  "SELECT name FROM t LIMIT (SELECT 5)",
  "SELECT name FROM t",
  "SELECT name FROM t WHERE n = ?",
  "SELECT name FROM t WHERE id > ?",
  "SELECT name FROM t WHERE id IN (1, 2, ?)",
  "SELECT name FROM t WHERE id = ? OR id = ?",
  "SELECT count(*) FROM t",
  "SELECT max(id) FROM t",
  "SELECT n FROM counted",
  "SELECT upper(name) FROM t WHERE id = ?",
  "SELECT name || name FROM t WHERE id = ?",
  "SELECT doubled FROM t WHERE id = ?",
  "SELECT body FROM words WHERE rowid = ?",
  "SELECT (SELECT count(*) FROM t AS other) FROM t WHERE id = ?",
  "SELECT a.name FROM t AS a JOIN u ON u.id = a.name JOIN w ON w.a = u.id AND w.b = 1 WHERE a.id = ?",
  "SELECT EXISTS (SELECT 1 FROM t WHERE id = ?)",
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 1",
  "SELECT value FROM json_each(?)",
  "SELECT * FROM wide WHERE id = ?",
  "PRAGMA table_list",
];

Deno.test("a look-up by a whole key, or of a short list, is proven to end, and nothing that loops, calls or joins more is", () => {
  using database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  const limitOf = (sql: string) => rowLimitOf(programOf(database, sql));
  for (const sql of bounded) assertEquals(limitOf(sql), { most: 1, parameter: null }, sql);
  for (const [sql, most, parameter = null] of lists) assertEquals(limitOf(sql), { most, parameter }, sql);
  for (const sql of unbounded) assertEquals(limitOf(sql), null, sql);
});

Deno.test("a program that could begin again, or leads back, is not proven", () => {
  const program = (...steps: (readonly [opcode: string, p2?: number, p3?: number])[]): ProgramStep[] =>
    steps.map(([opcode, p2 = 0, p3 = 0], addr) => ({ addr, opcode, p1: 0, p2, p3 }));
  const good = program(["Init", 4], ["OpenRead"], ["ResultRow", 1], ["Halt"], ["Transaction"], ["Goto", 1]);
  const wrong = {
    "runs into its prologue": program(["Init", 3], ["OpenRead"], ["ResultRow", 1], ["Transaction"], [
      "Goto",
      1,
    ]),
    "jumps into its prologue": program(
      ["Init", 4],
      ["Goto", 4],
      ["ResultRow", 1],
      ["Halt"],
      ["Transaction"],
      ["Goto", 1],
    ),
    "jumps back": program(["Init", 4], ["OpenRead"], ["IsNull", 1], ["Halt"], ["ResultRow", 1], ["Goto", 1]),
    "jumps to itself": program(["Init", 4], ["IsNull", 1], ["ResultRow", 1], ["Halt"], ["Transaction"], [
      "Goto",
      1,
    ]),
    "leads back twice": program(["Init", 4], ["OpenRead"], ["ResultRow", 1], ["Halt"], ["Goto", 1], [
      "Goto",
      1,
    ]),
    "opens another file": program(["Init", 4], ["OpenRead", 2, 1], ["ResultRow", 1], ["Halt"], [
      "Transaction",
    ], ["Goto", 1]),
    "writes": program(["Init", 4], ["OpenWrite"], ["ResultRow", 1], ["Halt"], ["Transaction"], ["Goto", 1]),
    "has no end": program(["Init", 4], ["OpenRead"], ["ResultRow", 1], ["Noop"], ["Transaction"], [
      "Goto",
      1,
    ]),
    "is empty": [],
  };
  assertEquals(rowLimitOf(good), { most: 1, parameter: null });
  for (const [what, steps] of Object.entries(wrong)) assertEquals(rowLimitOf(steps), null, what);
});

Deno.test("a loop is proven only where each of its rounds counts, from a number that nothing else sets", () => {
  type Step = readonly [opcode: string, p1?: number, p2?: number, p3?: number];
  const program = (steps: readonly Step[]): ProgramStep[] =>
    steps.map(([opcode, p1 = 0, p2 = 0, p3 = 0], addr) => ({ addr, opcode, p1, p2, p3 }));
  const LIMIT = 1;
  const list: readonly Step[] = [
    ["Init", 0, 11],
    ["Integer", 5, LIMIT],
    ["OpenRead", 0, 2],
    ["Variable", 1, 2],
    ["SeekGE", 0, 10, 2],
    ["IdxGT", 0, 10, 2],
    ["Column", 0, 3, 4],
    ["ResultRow", 4, 1],
    ["DecrJumpZero", LIMIT, 10],
    ["Next", 0, 5],
    ["Halt"],
    ["Transaction"],
    ["Goto", 0, 1],
  ];
  const changed = (at: number, ...step: Step) => program(list.map((one, place) => place === at ? step : one));
  const wrong = {
    "no count": changed(8, "Noop"),
    "another number counts": changed(8, "DecrJumpZero", 3, 10),
    "the count leads on": changed(8, "DecrJumpZero", LIMIT, 9),
    "it counts before its row, and then goes back to it": changed(9, "Next", 0, 8),
    "a row that is left out": changed(5, "Ne", 0, 9),
    "a way around the first count": changed(4, "SeekGE", 0, 9),
    "a way into the midst": changed(4, "SeekGE", 0, 8),
    "the number is set in the loop": changed(6, "Integer", 5, LIMIT),
    "a value is the number": changed(6, "Column", 0, 3, LIMIT),
    "a parameter is the number too": changed(3, "Variable", 1, LIMIT),
    "a parameter that is not looked at": changed(1, "Variable", 1, LIMIT),
    "the number is copied over": changed(6, "Copy", 4, 0, 2),
    "the number is taken away": changed(6, "Null", 0, 0, 3),
    "the number becomes another value": changed(6, "Affinity", 0, 2),
    "a second loop": changed(6, "Next", 0, 5),
    "a loop back to the beginning": changed(9, "Next", 0, 0),
    "a loop of rows in the end": program([
      ...list.slice(0, 9),
      ["Goto", 0, 10],
      ["Halt"],
      ["Transaction"],
      ["Next", 0, 5],
      ["Goto", 0, 1],
    ]),
    "none": changed(1, "Integer", 0, LIMIT),
    "less than none": changed(1, "Integer", -1, LIMIT),
    "too many rows": changed(1, "Integer", 101, LIMIT),
    "too many values": changed(7, "ResultRow", 4, 103),
  };
  const five = { most: 5, parameter: null };
  assertEquals(rowLimitOf(program(list)), five);
  // Its way out may be anywhere in it.
  assertEquals(rowLimitOf(changed(6, "IsNull", 4, 10)), five);
  for (const [what, steps] of Object.entries(wrong)) assertEquals(rowLimitOf(steps), null, what);
});
