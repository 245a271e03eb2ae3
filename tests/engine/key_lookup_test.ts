// Which reads are proven to end, by the programs that the engine really compiles, and by programs that it does not.
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { isBoundedProgram, programOf, type ProgramStep } from "../../lib/engine/key_lookup.ts";

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

const unbounded = [
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

Deno.test("a look-up by a whole key is proven to end, and nothing that loops, calls or joins more is", () => {
  using database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  const found = [...bounded, ...unbounded].filter((sql) => isBoundedProgram(programOf(database, sql)));
  assertEquals(found, bounded);
});

Deno.test("a program that could begin again, or leads back, is not proven", () => {
  const program = (...steps: (readonly [opcode: string, p2?: number, p3?: number])[]): ProgramStep[] =>
    steps.map(([opcode, p2 = 0, p3 = 0], addr) => ({ addr, opcode, p2, p3 }));
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
  assertEquals(isBoundedProgram(good), true);
  for (const [what, steps] of Object.entries(wrong)) assertEquals(isBoundedProgram(steps), false, what);
});
