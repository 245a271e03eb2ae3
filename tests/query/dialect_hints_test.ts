// Statements in other dialects: each is refused with a hint that says what to write here, and what it says works.
import { assert, assertEquals } from "@std/assert";
import { dialectFunctions, UUID_EXPRESSION } from "../../lib/sql/hints/dialect_functions.ts";
import { dialectWords } from "../../lib/sql/hints/dialect_words.ts";
import { dialectHint } from "../../lib/sql/hints/dialect_hints.ts";
import { readValue } from "../../lib/services/endpoints/spec/read_value.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import type { StartedApp } from "../testing/start_app.ts";

const { run, test } = oneStore();
Deno.test("dialect hints", run);

const schema = [
  "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, tags TEXT, at TEXT, UNIQUE (name))",
  "INSERT INTO users VALUES (1, 'Ada', 36, '[\"a\",\"b\"]', '2026-11-01'), (2, 'Ben', NULL, '[]', '2026-10-05')",
];

/** What somebody writes elsewhere, words of the hint, and what the hint says to write here; null: another call. */
const cases: readonly (readonly [foreign: string, hint: string, here: string | null])[] = [
  ["SELECT NOW()", "datetime('now')", "SELECT datetime('now')"],
  ["SELECT GETDATE()", "datetime('now')", "SELECT unixepoch()"],
  ["SELECT CURDATE()", "date('now')", "SELECT date('now')"],
  [
    "SELECT * FROM users WHERE at > CURRENT_DATE - INTERVAL '7 days'",
    "'-7 days'",
    "SELECT * FROM users WHERE at > datetime('now', '-7 days')",
  ],
  ["SELECT * FROM users WHERE at > NOW() - INTERVAL 7 DAY", "'-7 days'", "SELECT date('now', '-7 days')"],
  [
    "SELECT DATE_TRUNC('month', at) FROM users",
    "start of month",
    "SELECT date(at, 'start of month'), strftime('%Y-%m-01', at) FROM users",
  ],
  [
    "SELECT EXTRACT(YEAR FROM at) FROM users",
    "strftime('%Y'",
    "SELECT CAST(strftime('%Y', at) AS INTEGER) FROM users",
  ],
  ["SELECT YEAR(at) FROM users", "strftime('%Y'", "SELECT CAST(strftime('%m', at) AS INTEGER) FROM users"],
  [
    "SELECT DATE_ADD(at, 7) FROM users",
    "'+7 days'",
    "SELECT date(at, '+7 days'), datetime(at, '-1 month') FROM users",
  ],
  ["SELECT DATEDIFF(at, at) FROM users", "julianday", "SELECT julianday(at) - julianday(at) FROM users"],
  ["SELECT TO_CHAR(at, 'YYYY') FROM users", "strftime", "SELECT strftime('%Y-%m-%d', at) FROM users"],
  ["SELECT TO_DATE('2026-11-30', 'YYYY-MM-DD')", "as text", "SELECT datetime(1, 'unixepoch')"],
  ["SELECT * FROM users WHERE name ILIKE 'a%'", "LIKE", "SELECT * FROM users WHERE name LIKE 'a%'"],
  ["SELECT id::text FROM users", "CAST", "SELECT CAST(id AS TEXT) FROM users"],
  ["SELECT '{}'::jsonb", "or leave it out: JSON", "SELECT '{}'"],
  ["SELECT CONVERT(id, CHAR) FROM users", "CAST", null],
  ["TRUNCATE TABLE users", "DELETE FROM", null],
  [".tables", "Call tables", null],
  [".schema users", "SELECT sql FROM sqlite_schema", "SELECT sql FROM sqlite_schema"],
  ["\\d users", "psql", null],
  ["ALTER TABLE users ADD COLUMN x TEXT, ADD COLUMN y TEXT", "an ALTER TABLE for each change", null],
  ["SHOW TABLES", "sqlite_schema", "SELECT name FROM sqlite_schema WHERE type = 'table'"],
  ["SHOW COLUMNS FROM users", "table_info", "PRAGMA table_info(users)"],
  ["DESCRIBE users", "table_info", "PRAGMA table_info(users)"],
  ["SELECT TOP 5 * FROM users", "LIMIT", "SELECT * FROM users LIMIT 5"],
  ["SELECT * FROM users FETCH FIRST 5 ROWS ONLY", "LIMIT", null],
  [
    "SELECT * FROM users WHERE ROWNUM < 3",
    "row_number()",
    "SELECT row_number() OVER (ORDER BY id) FROM users LIMIT 3",
  ],
  [
    "INSERT INTO users (id) VALUES (1) ON DUPLICATE KEY UPDATE age = 1",
    "excluded",
    "INSERT INTO users (id, age) VALUES (1, 37) ON CONFLICT (id) DO UPDATE SET age = excluded.age",
  ],
  ["INSERT IGNORE INTO users (id) VALUES (1)", "OR IGNORE", "INSERT OR IGNORE INTO users (id) VALUES (1)"],
  ["MERGE INTO users USING users u ON 1 WHEN MATCHED THEN DELETE", "ON CONFLICT", null],
  [
    "UPDATE users SET age = 1 LIMIT 1",
    "WHERE <key> IN",
    "UPDATE users SET age = 1 WHERE id IN (SELECT id FROM users ORDER BY id LIMIT 1)",
  ],
  ["DELETE FROM users WHERE age = 9 LIMIT 1", "WHERE <key> IN", null],
  ["CREATE INDEX ON users (age)", "<name>", "CREATE INDEX users_age ON users (age)"],
  ["CREATE UNIQUE INDEX ON users (age)", "<name>", null],
  ["CREATE OR REPLACE FUNCTION f() RETURNS trigger AS 'x'", "no procedures", null],
  ["DO $$ BEGIN END $$", "no procedures", null],
  ["WITH made AS (INSERT INTO users (id) VALUES (7) RETURNING id) SELECT * FROM made", "RETURNING", null],
  ["UPDATE users u SET age = 1 WHERE u.id = 9", "AS", "UPDATE users AS u SET age = 1 WHERE u.id = 9"],
  ["DELETE FROM users u WHERE u.id = 9", "AS", "DELETE FROM users AS u WHERE u.id = 9"],
  ["UPDATE users SET age = DEFAULT", "an UPDATE has no DEFAULT", null],
  [
    "INSERT INTO users (id, age) VALUES (8, DEFAULT)",
    "Leave the column out",
    "INSERT INTO users (id) VALUES (8)",
  ],
  [
    "INSERT INTO users (name) VALUES ('Ada') ON CONFLICT ON CONSTRAINT users_name_key DO NOTHING",
    "Name the columns",
    "INSERT INTO users (name) VALUES ('Ada') ON CONFLICT (name) DO NOTHING",
  ],
  ["SET search_path = public", "no schemas", null],
  ["LOCK TABLE users", "one after the other", null],
  [
    "SELECT * FROM users WHERE at > DATE '2026-01-01'",
    "the text alone",
    "SELECT * FROM users WHERE at > '2026-01-01'",
  ],
  ["SELECT * FROM users WHERE to_tsvector(name) @@ to_tsquery('ada')", "MATCH", null],
  ["SELECT tags #>> '{a,b}' FROM users", "'$.one.two'", "SELECT tags ->> '$.one.two' FROM users"],
  ["SELECT * FROM users LIMIT ALL OFFSET 1", "LIMIT -1", "SELECT * FROM users LIMIT -1 OFFSET 1"],
  [
    "SELECT * FROM users ORDER BY id OFFSET 1",
    "LIMIT -1",
    "SELECT * FROM users ORDER BY id LIMIT -1 OFFSET 1",
  ],
  [
    `SELECT * FROM users WHERE tags @> '["a"]'`,
    "json_each",
    "SELECT * FROM users WHERE EXISTS (SELECT 1 FROM json_each(tags) WHERE value = 'a')",
  ],
  [`SELECT * FROM users WHERE '{"a":1}' <@ tags`, "->> '$.name'", "SELECT tags ->> '$.name' FROM users"],
  ["SELECT * FROM users WHERE lower(name) ~ 'a'", "GLOB", "SELECT * FROM users WHERE lower(name) GLOB 'a*'"],
  ["SELECT * FROM users LIMIT 5 WHERE id = 1", "in the order", "SELECT * FROM users WHERE id = 1 LIMIT 5"],
  [
    "CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT)",
    "AUTOINCREMENT",
    "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT)",
  ],
  [
    "CREATE TABLE b (id INT PRIMARY KEY IDENTITY(1,1))",
    "INTEGER PRIMARY KEY",
    "CREATE TABLE b (id INTEGER PRIMARY KEY)",
  ],
  ["CREATE TABLE c (id INT GENERATED ALWAYS AS IDENTITY)", "INTEGER PRIMARY KEY", null],
  ["CREATE TABLE d (id INT) ENGINE = InnoDB", "Leave ENGINE", "CREATE TABLE d (id INT)"],
  ["SELECT * FROM public.users", "no schemas", "SELECT * FROM users"],
  ["CREATE TABLE p (id TEXT REFERENCES auth.users ON DELETE CASCADE)", "no schemas", null],
  ["CREATE TABLE p (owner TEXT DEFAULT auth.uid())", "$user_id", null],
  ["SELECT * FROM users WHERE id = auth.uid()", "$user_id", null],
  [
    "SELECT table_name FROM information_schema.tables",
    "sqlite_schema",
    "SELECT name FROM pragma_table_info('users')",
  ],
  ["SELECT * FROM pg_tables", "sqlite_schema", null],
  ["SELECT LEFT(name, 2) FROM users", "substr(<text>, 1", "SELECT substr(name, 1, 2) FROM users"],
  ["SELECT RIGHT(name, 2) FROM users", "substr(<text>, -", "SELECT substr(name, -2) FROM users"],
  ["SELECT SUBSTRING(name FROM 1 FOR 2) FROM users", "substr", "SELECT substr(name, 1, 2) FROM users"],
  ["SELECT POSITION('a' IN name) FROM users", "instr", "SELECT instr(name, 'a') FROM users"],
  ["SELECT CHAR_LENGTH(name) FROM users", "length", "SELECT length(name) FROM users"],
  [
    "SELECT LPAD(id, 5, '0') FROM users",
    "printf",
    "SELECT printf('%05d', id), substr('00000' || id, -5) FROM users",
  ],
  ["SELECT GREATEST(1, 2)", "max(", "SELECT max(1, 2)"],
  ["SELECT LEAST(1, 2)", "min(", "SELECT min(1, 2)"],
  ["SELECT NVL(age, 0) FROM users", "ifnull", "SELECT ifnull(age, 0), coalesce(age, 0) FROM users"],
  ["SELECT RAND()", "random()", "SELECT abs(random() % 100)"],
  ["SELECT uuid()", "randomblob", `SELECT ${UUID_EXPRESSION}`],
  ["SELECT gen_random_uuid()", "randomblob", null],
  ["SELECT LAST_INSERT_ID()", "RETURNING", "INSERT INTO users (name) VALUES ('Cy') RETURNING id"],
  ["SELECT * FROM users WHERE name REGEXP '^A'", "GLOB", "SELECT * FROM users WHERE name GLOB 'A*'"],
  ["SELECT * FROM users WHERE name SIMILAR TO 'A%'", "GLOB", null],
  [
    "SELECT GROUP_CONCAT(name SEPARATOR ', ') FROM users",
    "group_concat",
    "SELECT group_concat(name, ', ') FROM users",
  ],
  ["SELECT ARRAY_AGG(name) FROM users", "json_group_array", "SELECT json_group_array(name) FROM users"],
  ["SELECT JSON_BUILD_OBJECT('a', id) FROM users", "json_object", "SELECT json_object('a', id) FROM users"],
  [
    "SELECT * FROM users WHERE id = ANY(ARRAY[1, 2])",
    "json_each",
    "SELECT * FROM users WHERE id IN (SELECT value FROM json_each('[1,2]'))",
  ],
  ["SELECT * FROM UNNEST('[1]')", "json_each", "SELECT * FROM json_each('[1]')"],
  [
    "SELECT DISTINCT ON (age) * FROM users",
    "row_number()",
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY age ORDER BY id) AS n FROM users) WHERE n = 1",
  ],
  ["SELECT * FROM users FOR UPDATE", "one after the other", null],
  ["ALTER TABLE IF EXISTS users ADD COLUMN x", "Leave IF EXISTS out", null],
  [
    "ALTER TABLE users ADD COLUMN IF NOT EXISTS x TEXT",
    "Leave IF NOT EXISTS out",
    "ALTER TABLE users ADD COLUMN x TEXT",
  ],
  ["ALTER TABLE users DROP COLUMN IF EXISTS x", "Leave IF EXISTS out", "ALTER TABLE users DROP COLUMN x"],
  ["ALTER TABLE users MODIFY COLUMN age TEXT", "new table", null],
  ["ALTER TABLE users ALTER COLUMN age TYPE TEXT", "new table", null],
  ["ALTER TABLE users ALTER COLUMN age TO age TEXT NOT NULL", "new table", null],
  ["CREATE OR REPLACE VIEW v AS SELECT 1", "DROP VIEW IF EXISTS", "DROP VIEW IF EXISTS v"],
  ["CREATE TYPE mood AS ENUM ('a', 'b')", "CHECK", "CREATE TABLE m (mood TEXT CHECK (mood IN ('a', 'b')))"],
  ["CREATE DATABASE x", "/databases", null],
  ["USE shop", "path of the call", null],
  ["GRANT SELECT ON users TO x", "token", null],
  ["CALL f(1)", "endpoint", null],
  ["COMMENT ON TABLE users IS 'x'", "describe", null],
  ["SET @a = 1", "parameter", null],
  ["CREATE FUNCTION f() RETURNS INT", "endpoint", null],
  ["CREATE SEQUENCE s", "INTEGER PRIMARY KEY", null],
  ["COPY users FROM 'x.csv'", "parameters of a batch", null],
  ["SELECT * FROM users CROSS APPLY f(id)", "subquery", null],
  ["SELECT * FROM users, LATERAL (SELECT 1)", "subquery", null],
  [
    "SELECT INITCAP(name) FROM users",
    "upper",
    "SELECT upper(substr(name, 1, 1)) || substr(name, 2) FROM users",
  ],
  ["SELECT nextval('s')", "lastInsertRowid", null],
  ["SELECT ARRAY[1, 2]", "JSON array", "SELECT value FROM json_each('[1,2]')"],
  ["BEGIN", "batch with transaction true", null],
  ["START TRANSACTION", "batch with transaction true", null],
  ["VACUUM", "used again", null],
  ["ATTACH DATABASE 'x' AS y", "its own path", null],
  ["CREATE USER bob", "token", null],
  ["CREATE EXTENSION pgcrypto", "built in", null],
  ["CREATE POLICY own ON users USING (true)", "$user_id", null],
  ["ALTER TABLE users ENABLE ROW LEVEL SECURITY", "$user_id", null],
  ["CREATE MATERIALIZED VIEW m AS SELECT 1", "CREATE VIEW", "CREATE TABLE copied AS SELECT * FROM users"],
  [
    "CREATE TRIGGER t AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION f()",
    "BEGIN <statements>; END",
    "CREATE TRIGGER t AFTER INSERT ON users FOR EACH ROW BEGIN SELECT 1; END",
  ],
  ["CREATE TABLE e LIKE users", "WHERE 0", "CREATE TABLE e AS SELECT * FROM users WHERE 0"],
  ["CREATE TABLE e (LIKE users INCLUDING ALL)", "WHERE 0", null],
  ["CREATE INDEX CONCURRENTLY i ON users (age)", "Leave CONCURRENTLY", "CREATE INDEX i ON users (age)"],
  ["CREATE INDEX i ON users USING btree (age)", "B-tree", "CREATE VIRTUAL TABLE words USING fts5(name)"],
  ["RENAME TABLE e TO f", "RENAME TO", "ALTER TABLE e RENAME TO f"],
  [
    "ALTER TABLE users ADD CONSTRAINT k FOREIGN KEY (age) REFERENCES users (id)",
    "new table with it",
    "CREATE UNIQUE INDEX one_age ON users (age, id)",
  ],
  ["EXPLAIN ANALYZE SELECT * FROM users", "QUERY PLAN", "EXPLAIN QUERY PLAN SELECT * FROM users"],
  ["INSERT INTO users SET name = 'Di'", "VALUES", "INSERT INTO users (name) VALUES ('Di')"],
  ["INSERT INTO users (name) VALUES ('E') RETURNING id INTO x", "Leave INTO out", null],
  ["SELECT id INTO copy FROM users", "CREATE TABLE", "CREATE TABLE copy AS SELECT id FROM users"],
  [
    "DELETE FROM users USING users u WHERE u.id = users.id",
    "WHERE <key> IN",
    "DELETE FROM users WHERE id IN (SELECT id FROM users WHERE age = 99)",
  ],
  ["DELETE u FROM users u JOIN users v ON v.id = u.id", "WHERE <key> IN", null],
  [
    "UPDATE users JOIN users u ON u.id = users.id SET age = 1",
    "SET … FROM",
    "UPDATE users SET age = u.age FROM users u WHERE u.id = users.id",
  ],
  ["UPDATE users u INNER JOIN users v ON v.id = u.id SET age = 1", "SET … FROM", null],
  [
    "CREATE TABLE g (id TEXT PRIMARY KEY DEFAULT gen_random_uuid())",
    "DEFAULT (lower",
    `CREATE TABLE g (id UUID PRIMARY KEY DEFAULT (${UUID_EXPRESSION}))`,
  ],
  [
    "CREATE TABLE h (at TIMESTAMPTZ DEFAULT now())",
    "DEFAULT CURRENT_TIMESTAMP",
    "CREATE TABLE h (at TEXT DEFAULT CURRENT_TIMESTAMP, too TEXT DEFAULT (datetime('now')))",
  ],
  ["CREATE TABLE j (at TEXT DEFAULT datetime('now'))", "in parentheses", null],
  ["CREATE TABLE j (id INT DEFAULT nextval('s'))", "INTEGER PRIMARY KEY", null],
  [
    "CREATE TABLE j (a TEXT DEFAULT lower('A'))",
    "in parentheses",
    "CREATE TABLE j (a TEXT DEFAULT (lower('A')))",
  ],
  ["CREATE TABLE k (at TEXT DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)", "trigger", null],
  ["CREATE TABLE k (a INT NOT NULL COMMENT 'count')", "describe", null],
  ["CREATE TABLE k (a INT, KEY by_a (a))", "CREATE INDEX", null],
  ["CREATE TABLE k (a INT, UNIQUE KEY by_a (a))", "UNIQUE (", "CREATE TABLE k (a INT, UNIQUE (a))"],
  ["CREATE TABLE l (mood ENUM('a', 'b'))", "CHECK", "CREATE TABLE l (mood TEXT CHECK (mood IN ('a', 'b')))"],
  ["CREATE TABLE n (a TEXT CHARACTER SET utf8)", "UTF-8", null],
  ["CREATE TABLE n (a TEXT) DEFAULT CHARSET = utf8", "UTF-8", null],
  ["SELECT * FROM users LIMIT 1, 2 OFFSET 3", "OFFSET <start>", "SELECT * FROM users LIMIT 2 OFFSET 1"],
  ["SELECT SQL_CALC_FOUND_ROWS * FROM users", "count(*)", "SELECT count(*) FROM users"],
  [
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM users",
    "OFFSET (SELECT",
    "SELECT age FROM users ORDER BY age LIMIT 1 OFFSET (SELECT count(*) / 2 FROM users)",
  ],
  ["SELECT * FROM users WHERE name ~ '^A'", "GLOB", null],
  ["SELECT * FROM users WHERE name !~* '^A'", "GLOB", null],
  ["INSERT INTO users (name) VALUES (%s)", "?", null],
  ["SELECT * FROM users WHERE id = {{id}}", "Write ? for each value", null],
  ["SELECT * FROM users WHERE id = ${id}", "Write ? for each value", null],
  ["SELECT * FROM users WHERE id = #{id}", "Write ? for each value", null],
  ["INSERT INTO users (name) VALUES (%(name)s)", "?", null],
  ["SELECT E'a\\nb'", "without the E", "SELECT 'a\nb'"],
  ["SELECT * FROM users WHERE name = 'O'Brien'", "twice", "SELECT * FROM users WHERE name = 'O''Brien'"],
  [
    "SELECT split_part(name, '@', 2) FROM users",
    "instr",
    "SELECT substr(name, 1, instr(name, '@') - 1), substr(name, instr(name, '@') + 1) FROM users",
  ],
  [
    "SELECT * FROM generate_series(1, 3)",
    "WITH RECURSIVE",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n",
  ],
  ["SELECT md5(name) FROM users", "in the app", null],
  ["SELECT vector_distance_cos(tags, vector32('[1,2]')) FROM users", "in the app", null],
  ["CREATE INDEX near ON users (libsql_vector_idx(tags))", "in the app", null],
  ["SELECT version()", "sqlite_version()", "SELECT sqlite_version()"],
  ["SELECT bool_or(age > 30) FROM users", "max(", "SELECT max(age > 30), min(age > 30) FROM users"],
  ["SELECT any_value(name) FROM users", "max(", null],
  ["SELECT stddev(age) FROM users", "avg(", "SELECT avg(age * age) - avg(age) * avg(age) FROM users"],
  ["SELECT unix_timestamp()", "unixepoch()", "SELECT unixepoch(), unixepoch(at) FROM users"],
  ["SELECT from_unixtime(1)", "unixepoch", "SELECT datetime(1, 'unixepoch')"],
  ["SELECT make_date(2026, 1, 2)", "printf", "SELECT printf('%04d-%02d-%02d', 2026, 1, 2)"],
  ["SELECT repeat('ab', 3)", "zeroblob", "SELECT replace(hex(zeroblob(3)), '00', 'ab')"],
  ["SELECT ascii('a')", "unicode", "SELECT unicode('a')"],
  ["SELECT chr(65)", "char", "SELECT char(65)"],
  [
    "SELECT * FROM users WHERE json_contains(tags, '1')",
    "json_each",
    "SELECT * FROM users WHERE EXISTS (SELECT 1 FROM json_each(tags) WHERE value = 'a')",
  ],
  ["SELECT pg_sleep(1)", "in the app", null],
  // What the engine names counts, not what stands beside it.
  ["SELECT datediff(now(), at) FROM users", "julianday", null],
  ["SELECT LEFT(name, 1), date_trunc('month', at) FROM users", "substr", null],
];

testSteps("a statement in another dialect", async (app: StartedApp, slug) => {
  const tenant = await app.namespace(slug);
  assertEquals((await tenant.batch(schema.map((sql) => [sql] as const))).status, 200);
  return tenant;
}, {
  "is refused with a hint that says what to write here, whatever it was": async (tenant) => {
    const unhelped: string[] = [];
    for (const [foreign, hint] of cases) {
      const { status, body, text } = await tenant.query(foreign);
      const told = (status === 400 || status === 403) && body.errorDetail?.hint.includes(hint);
      if (!told) unhelped.push(`${foreign}: ${text}`);
    }
    assertEquals(unhelped, []);
  },
  "works when it is written as the hint says": async (tenant) => {
    for (const [, , here] of cases) {
      if (here === null) continue;
      const { status, text } = await tenant.query(here);
      assertEquals(status, 200, `${here}: ${text}`);
    }
  },
  "makes UUIDs that an input of that type takes": async (tenant) => {
    const hint = String((await tenant.query("SELECT gen_random_uuid()")).body.errorDetail?.hint);
    const expression = /^Write (.*), or send an id as a parameter$/.exec(hint)?.[1];
    const made = rowsOf(await tenant.query(`SELECT ${expression} FROM (VALUES (1), (2), (3), (4))`)).flat();
    assertEquals(new Set(made).size, 4);
    for (const id of made) {
      const read = readValue("uuid", id, "json");
      assert("value" in read && read.value === id, `${id}: ${JSON.stringify(read)}`);
    }
  },
}, test);

test("words of other dialects are no hint where they are names, texts or comments of the statement", () => {
  for (
    const sql of [
      "SELEC name FROM users WHERE note = 'now()'",
      "SELEC left, year FROM users -- ILIKE",
      "SELEC key FROM settings WHERE charset = 'it''s' AND comment = ''",
      "CREATE TABLE s (id INT, key VARCHAR(50), value TEXT x y z,)",
      `SELEC '${"x".repeat(20_000)}'`,
      'SELEC "limit" FROM users WHERE id IN (SELECT id FROM users LIMIT 1)',
      "DELETE FROM users WHERE id IN (SELECT id FROM usres ORDER BY id LIMIT 5)",
      "SELECT * FROM a LEFT JOIN b USING (id) WERE 1",
    ]
  ) assertEquals(dialectHint(sql), null, sql);
});

test("every row of the table of dialects is met by one of the statements above", () => {
  const met = new Set(cases.map(([foreign]) => dialectHint(foreign)));
  const rows = [...dialectWords, ...dialectFunctions];
  assertEquals(rows.filter(([, hint]) => !met.has(hint)).map(([pattern]) => pattern), []);
});
