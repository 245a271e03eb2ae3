// What the syntax layer promises alone, before any engine has seen the text.
import { assert, assertEquals } from "@std/assert";
import { readSyntax, type Syntax } from "../../lib/sql/grammar/syntax.ts";

function syntaxOf(sql: string): Syntax {
  const result = readSyntax(sql);
  assert(result.ok, `${sql}: ${result.ok ? "" : result.message}`);
  return result.syntax;
}

function reasonOf(sql: string): string {
  const result = readSyntax(sql);
  return result.ok ? "ok" : result.reason;
}

Deno.test("one text holds one statement: comments, white space and semicolons around it are fine", () => {
  for (
    const sql of ["SELECT 1", "SELECT 1;", ";;SELECT 1;;", "-- a\nSELECT 1 /* b */ ; -- c", "\t\nSELECT 1"]
  ) {
    assertEquals(syntaxOf(sql).verb, "select", sql);
  }
  for (const sql of ["SELECT 1; SELECT 2", "SELECT 1;DROP TABLE t", "BEGIN; COMMIT", "SELECT 1;;;SELECT 2"]) {
    assertEquals(reasonOf(sql), "multiple_statements", sql);
  }
  for (const sql of ["", " ", ";", "-- SELECT 1", "/* SELECT 1 */", "-- a\rSELECT 1"]) {
    assertEquals(reasonOf(sql), "no_statement", JSON.stringify(sql));
  }
});

Deno.test("what is repeated of a text ends with a whole character", () => {
  const letters = "\u{1d400}".repeat(300);
  for (
    const sql of [`SELECT x${letters}()`, `SELECT 1 FROM t a b${letters}`, `SELECT 1 FROM t a xb${letters}`]
  ) {
    const result = readSyntax(sql);
    assert(!result.ok && result.message.isWellFormed() && result.message.includes("\u{1d400}"), sql);
  }
  assert(syntaxOf(`CREATE VIRTUAL TABLE t USING x${letters}(a)`).refusal?.isWellFormed());
});

Deno.test("a trigger's body is part of one statement", () => {
  const body = "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; DELETE FROM u; END";
  assertEquals(syntaxOf(body).class, "schema");
  assertEquals(reasonOf(`${body}; SELECT 1`), "multiple_statements");
});

Deno.test("placeholders are counted as the engine counts them", () => {
  const counts: readonly [string, number][] = [
    ["SELECT 1", 0],
    ["SELECT ?", 1],
    ["SELECT ?, ?, ?", 3],
    ["SELECT ?2", 2],
    ["SELECT ?1, ?1", 1],
    ["SELECT ?, ?5, ?", 6],
    ["SELECT ?2, ?, ?1", 3],
    ["SELECT '?', \"?\", [?], `?` -- ?\n /* ? */", 0],
    ["WITH c AS (SELECT ?) INSERT INTO t SELECT * FROM c WHERE a = ? RETURNING ?", 3],
    ["SELECT 1 LIMIT ? OFFSET ?", 2],
  ];
  for (const [sql, count] of counts) assertEquals(syntaxOf(sql).parameterCount, count, sql);
});

Deno.test("named parameters and ?0 are refused", () => {
  for (
    const sql of [
      "SELECT :a",
      "SELECT @a",
      "SELECT $a",
      "SELECT $a::b",
      "SELECT ?, :a",
      "SELECT ?0",
      "SELECT ?00",
    ]
  ) {
    assertEquals(reasonOf(sql), "named_parameter", sql);
  }
});

Deno.test("U+0000 and lone surrogates are refused anywhere in the text", () => {
  for (
    const sql of [
      "\u0000SELECT 1",
      "SELECT 1\u0000",
      "SELECT '\u0000'",
      "SELECT 1 -- \u0000",
      "SELECT '\udc00'",
    ]
  ) {
    assertEquals(reasonOf(sql), "nul", JSON.stringify(sql));
  }
  assertEquals(reasonOf("SELECT '\u{1f600}'"), "ok");
});

Deno.test("lists of names that no engine has room for are refused, and long lists of values are none", () => {
  const list = (length: number, item: (at: number) => string) =>
    Array.from({ length }, (_, at) => item(at)).join();
  const names = list(100_000, (at) => `a${at}`);
  const ctes = (as: string) => list(50_000, (at) => `c${at} ${as} (SELECT 1)`);
  for (
    const sql of [
      `CREATE TABLE t (${list(60_000, (at) => `a${at} REFERENCES t ON DELETE CASCADE`)})`,
      `INSERT INTO t (${names}) VALUES (1)`,
      `INSERT INTO t (${list(100_000, (at) => `'a${at}'`)}) VALUES (1)`,
      `UPDATE t SET (${names}) = (SELECT 1)`,
      `SELECT * FROM t JOIN u USING (${names})`,
      `CREATE VIEW v (${names}) AS SELECT 1`,
      `CREATE TRIGGER r UPDATE OF ${names} ON t BEGIN SELECT 1; END`,
      `WITH ${ctes("AS")} SELECT 1`,
      `SELECT 1 IN (WITH ${ctes("(a) AS NOT MATERIALIZED")} SELECT 1)`,
    ]
  ) {
    assertEquals(reasonOf(sql), "too_big", sql.slice(0, 60));
  }
  for (
    const sql of [
      `INSERT INTO t (a, b) VALUES ${list(5000, (at) => `(${at}, 'x')`)}`,
      `SELECT * FROM (VALUES ${list(5000, (at) => `(${at})`)}) WHERE 1 IN (${list(5000, String)})`,
      `SELECT * FROM t WHERE a IN (${list(5000, (at) => `'a${at}'`)})`,
      `SELECT '${names}'`,
      `CREATE TABLE t (${list(1000, (at) => `a${at} CHECK (a${at} IN (1, 2, 3))`)})`,
    ]
  ) {
    assertEquals(reasonOf(sql), "ok", sql.slice(0, 60));
  }
});

Deno.test("a byte order mark and other white space that SQL does not know are syntax errors", () => {
  for (const space of ["\ufeff", "\u00a0", "\u2003", "\u2028", "\u200b", "\u000b", "\u0085"]) {
    assertEquals(reasonOf(`${space}SELECT 1`), "syntax_error", JSON.stringify(space));
  }
});

Deno.test("the class comes from the statement, not from its first word", () => {
  const classes: readonly [string, string][] = [
    ["SELECT 1", "read select"],
    ["VALUES (1)", "read select"],
    ["WITH x AS (SELECT 1) SELECT * FROM x", "read select"],
    ["WITH x AS (SELECT 1) DELETE FROM t", "write delete"],
    ["WITH x AS (SELECT 1) UPDATE t SET a = 1", "write update"],
    ["WITH x AS (SELECT 1) REPLACE INTO t SELECT * FROM x", "write replace"],
    ["EXPLAIN DROP TABLE t", "read explain"],
    ["EXPLAIN QUERY PLAN DELETE FROM t", "read explain"],
    ["PRAGMA user_version", "read pragma"],
    ["PRAGMA user_version = 1", "schema pragma"],
    ["PRAGMA journal_mode", "refused pragma"],
    ["BEGIN", "refused other"],
    ["ATTACH 'a' AS b", "refused other"],
    ["VACUUM", "refused other"],
    ["CREATE TABLE t (a)", "schema create"],
    ["REINDEX", "schema reindex"],
    ["ANALYZE", "schema analyze"],
  ];
  for (const [sql, expected] of classes) {
    const syntax = syntaxOf(sql);
    assertEquals(`${syntax.class} ${syntax.verb}`, expected, sql);
  }
});

Deno.test("WHERE is the statement's own, also one that is always true", () => {
  const wheres: readonly [string, boolean][] = [
    ["DELETE FROM t", false],
    ["DELETE FROM t WHERE 1", true],
    ["DELETE FROM t -- WHERE 1", false],
    ["WITH x AS (SELECT 1 WHERE 1) DELETE FROM t", false],
    ["UPDATE t SET a = (SELECT 1 WHERE 1)", false],
    ["UPDATE t SET a = 1 FROM u WHERE t.id = u.id", true],
    ["DELETE FROM t RETURNING (SELECT 1 WHERE 1)", false],
  ];
  for (const [sql, expected] of wheres) assertEquals(syntaxOf(sql).hasWhere, expected, sql);
});

Deno.test("PRAGMA foreign_keys tells on from off in every spelling", () => {
  for (const value of ["OFF", "0", "no", "'false'", "nonsense"]) {
    assertEquals(syntaxOf(`PRAGMA foreign_keys = ${value}`).pragma?.foreignKeysOff, true, value);
  }
  for (const value of ["ON", "1", "yes", "'true'", "2"]) {
    assertEquals(syntaxOf(`PRAGMA foreign_keys(${value})`).pragma?.foreignKeysOff, false, value);
  }
  assertEquals(syntaxOf("PRAGMA foreign_keys").pragma, {
    ...{ name: "foreign_keys", schema: null, sets: false, foreignKeysOff: false, argument: null },
  });
});

Deno.test("messages never repeat a literal or the rest of a text that does not end", () => {
  for (
    const sql of [
      "SELECT 1 1 'secret'",
      "SELECT * FROM t u 'secret'",
      "SELECT 'secret",
      'SELECT "secret and more',
      "SELECT [secret and more",
      "SELECT `secret and more",
      "SELECT x'secret'",
      "SELECT 1 2 secret",
      "INSERT INTO t VALUES ('a' 'secret')",
    ]
  ) {
    const result = readSyntax(sql);
    assert(!result.ok, sql);
    assert(!/secret/.test(result.message) || / secret$/.test(sql), `${sql}: ${result.message}`);
  }
  const dot = readSyntax("CREATE TABLE t (id REFERENCES elsewhere.users)");
  assertEquals(dot.ok ? "" : dot.message, 'near ".": syntax error');
});

Deno.test("no text makes the reader throw", () => {
  const pieces = [
    "SELECT",
    "(",
    ")",
    "'",
    '"',
    "[",
    "/*",
    "--",
    ";",
    "?",
    "x'",
    "\n",
    "FROM",
    "1e",
    "0x",
    ",",
    "\u{1f600}",
    "->>",
  ];
  // A fixed sequence (a linear congruential generator), so that a failure can be repeated.
  let state = 1;
  for (let round = 0; round < 3000; round++) {
    let sql = "";
    for (let length = 0; length < 8; length++) {
      state = (state * 1103515245 + 12345) % 2147483648;
      sql += `${pieces[state % pieces.length]} `;
    }
    readSyntax(sql);
  }
  readSyntax("(".repeat(5000));
  readSyntax(`SELECT ${"(".repeat(5000)}1${")".repeat(5000)}`);
  readSyntax(`SELECT ${"1+".repeat(20_000)}1`);
});

Deno.test("whether a WHERE tells rows apart goes by the values of its literals, as the engine reads them", () => {
  const bounds = ["'x'", "'0.0'", "1 = '1'", "'a' = 'A'", "NULL", "1 IN other", "id + ? = id + ?"];
  const boundless = ["'1x'", "' 1'", "1 = 1.0", "'a' = 'a'", "0.5"];
  for (const [conditions, isConstant] of [[bounds, false], [boundless, true]] as const) {
    for (const one of conditions) {
      const sql = `DELETE FROM t WHERE id = 77 OR ${one}`;
      assertEquals(syntaxOf(sql).constantWhere, isConstant, sql);
    }
  }
});
