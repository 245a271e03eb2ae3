// The table of other dialects' clauses. A pattern is a row of tokens: words in capitals and marks are themselves, `|`
// stands between alternatives, `'` is a literal, `'!` a text that does not end, `$` a parameter, `@` any name, `@@` the mark, `^` the
// beginning of the statement, `…` whatever stands between; behind `^ … ` only what is outside of parentheses counts.
// The first row that matches is taken.
import { UUID_EXPRESSION } from "./dialect_functions.ts";

/** Pattern → what to write here. */
export const dialectWords: readonly (readonly [pattern: string, hint: string])[] = [
  [
    "^ BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|END|ABORT",
    "Send the statements as a batch with transaction true: all of them are kept, or none",
  ],
  ["^ VACUUM", "Leave it out: space that is free is used again"],
  ["^ ATTACH|DETACH", "Call each database by its own path: a statement reaches one database only"],
  [
    "^ CREATE|ALTER|DROP USER|ROLE",
    "Make a token with the role and the scopes that are wanted: rights belong to tokens",
  ],
  ["^ CREATE EXTENSION", "Leave it out: JSON, full-text search (fts5) and date functions are built in"],
  [
    "^ CREATE POLICY",
    "Publish endpoints whose statements name $user_id: each user sees the rows that they choose",
  ],
  [
    "ROW LEVEL SECURITY",
    "Publish endpoints whose statements name $user_id: each user sees the rows that they choose",
  ],
  [
    "^ CREATE MATERIALIZED",
    "Write CREATE VIEW, or CREATE TABLE <name> AS SELECT … with triggers that keep it",
  ],
  [
    "^ CREATE TRIGGER … EXECUTE",
    "Write BEGIN <statements>; END in the place of EXECUTE: there are no procedures",
  ],
  [
    "^ CREATE TABLE @ LIKE",
    "Write CREATE TABLE <name> AS SELECT * FROM <other> WHERE 0; constraints are to be written anew",
  ],
  [
    "^ CREATE TABLE @ ( LIKE",
    "Write CREATE TABLE <name> AS SELECT * FROM <other> WHERE 0; constraints are to be written anew",
  ],
  ["INDEX CONCURRENTLY", "Leave CONCURRENTLY out"],
  [
    "^ CREATE INDEX|UNIQUE … USING",
    "Leave USING out: every index is a B-tree; full-text search is CREATE VIRTUAL TABLE … USING fts5(…)",
  ],
  ["^ CREATE INDEX ON", "Give the index a name: CREATE INDEX <name> ON <table> (<columns>)"],
  ["^ CREATE UNIQUE INDEX ON", "Give the index a name: CREATE UNIQUE INDEX <name> ON <table> (<columns>)"],
  ["^ RENAME TABLE", "Write ALTER TABLE <name> RENAME TO <new name>"],
  [
    "^ ALTER TABLE … ADD CONSTRAINT|FOREIGN|PRIMARY|UNIQUE",
    "Make a new table with it, copy the rows, drop the old one and rename, in one batch; a unique index can be added",
  ],
  ["^ EXPLAIN ANALYZE|ANALYSE|(", "Write EXPLAIN QUERY PLAN <statement>"],
  ["INSERT INTO @ SET", "Write INSERT INTO <table> (<columns>) VALUES (…)"],
  ["RETURNING … INTO", "Leave INTO out: the answer has the rows that RETURNING names"],
  ["^ SELECT … INTO", "Write CREATE TABLE <name> AS SELECT …"],
  [
    "^ WITH … AS ( INSERT|UPDATE|DELETE",
    "Send the write itself: RETURNING answers its rows; several statements go as a batch with transaction true",
  ],
  ["^ DELETE … USING", "Write WHERE <key> IN (SELECT <key> FROM …) in the place of the join"],
  ["^ DELETE @ FROM", "Write WHERE <key> IN (SELECT <key> FROM …) in the place of the join"],
  ["^ UPDATE @ @ SET", "Write AS before the alias: UPDATE <table> AS <alias> SET …"],
  ["^ DELETE FROM @ @ WHERE", "Write AS before the alias: DELETE FROM <table> AS <alias> WHERE …"],
  ["^ UPDATE … = DEFAULT", "Write the value: an UPDATE has no DEFAULT; in an INSERT leave the column out"],
  ["(|, DEFAULT ,|)", "Leave the column out of the INSERT: it gets its default then"],
  ["^ UPDATE @ JOIN", "Write UPDATE <table> SET … FROM <other> WHERE …"],
  ["^ UPDATE @ INNER|LEFT JOIN", "Write UPDATE <table> SET … FROM <other> WHERE …"],
  ["^ UPDATE @ @ JOIN", "Write UPDATE <table> SET … FROM <other> WHERE …"],
  ["^ UPDATE @ @ INNER|LEFT JOIN", "Write UPDATE <table> SET … FROM <other> WHERE …"],
  [
    "DEFAULT UUID|GEN_RANDOM_UUID|UUID_GENERATE_V4|NEWID (",
    `Write DEFAULT (${UUID_EXPRESSION}), or send an id as a parameter`,
  ],
  [
    "DEFAULT NOW|GETDATE|SYSDATETIME|LOCALTIMESTAMP|DATETIME|CURRENT_TIMESTAMP (",
    "Write DEFAULT CURRENT_TIMESTAMP, or DEFAULT (datetime('now')) in parentheses",
  ],
  [
    "AUTH . UID|JWT|ROLE|EMAIL (",
    "Publish endpoints whose statements name $user_id: it is the key of the session's user",
  ],
  ["DEFAULT NEXTVAL (", "Write id INTEGER PRIMARY KEY: the engine counts it up"],
  ["DEFAULT @ (", "Write the expression of a default in parentheses: DEFAULT (…)"],
  [
    "ON UPDATE CURRENT_TIMESTAMP|NOW",
    "Write a trigger AFTER UPDATE that sets the column: a column has no ON UPDATE",
  ],
  ["COMMENT '", "Put descriptions of tables and columns through PUT /describe"],
  [", KEY|INDEX @ ( @", "Write CREATE INDEX <name> ON <table> (<columns>) behind the table"],
  ["UNIQUE KEY|INDEX @ ( @", "Write UNIQUE (<columns>) in the table, or CREATE UNIQUE INDEX behind it"],
  ["CHARACTER SET", "Leave the character set out: all text is UTF-8"],
  [")|DEFAULT CHARSET", "Leave the character set out: all text is UTF-8"],
  ["^ TRUNCATE", "Write DELETE FROM <table>: it empties the table, and a snapshot is taken before it"],
  [
    "^ SHOW TABLES|DATABASES|SCHEMAS",
    "Call tables, or write SELECT name FROM sqlite_schema WHERE type = 'table'",
  ],
  ["^ . TABLES", "Call tables, or write SELECT name FROM sqlite_schema WHERE type = 'table'"],
  [
    "^ . @",
    "Leave it out: a command with a dot is one of the program sqlite3. SELECT sql FROM sqlite_schema has the schema; export and import move a database",
  ],
  ["^ \\ @", "Call tables and describe: a command with a backslash is one of the program psql"],
  ["^ SHOW", "Call describe, or read sqlite_schema and PRAGMA table_info(<table>)"],
  ["^ DESCRIBE|DESC", "Call describe, or write PRAGMA table_info(<table>)"],
  [
    "INFORMATION_SCHEMA|PG_CATALOG|SYS .",
    "Call tables and describe, or read sqlite_schema and pragma_table_info('<table>')",
  ],
  [
    "PG_TABLES|PG_CLASS|PG_INDEXES",
    "Call tables and describe, or read sqlite_schema and pragma_table_info('<table>')",
  ],
  ["PUBLIC|DBO|AUTH .", "Write the table's name alone: a database has no schemas"],
  ["^ USE @", "Name the database in the path of the call: a statement reaches one database only"],
  [
    "^ CREATE|DROP DATABASE|SCHEMA",
    "Make and delete databases through POST and DELETE /api/namespaces/:slug/databases",
  ],
  ["^ GRANT|REVOKE", "Make a token with the role and the scopes that are wanted: rights belong to tokens"],
  ["^ MERGE", "Write INSERT INTO … ON CONFLICT (<key>) DO UPDATE SET <column> = excluded.<column>"],
  [
    "^ CALL|EXEC|EXECUTE|DO",
    "Publish the statement as an endpoint, or send it itself: there are no procedures",
  ],
  [
    "^ CREATE PROCEDURE|FUNCTION",
    "Publish the statement as an endpoint, or use a trigger: there are no procedures",
  ],
  [
    "^ CREATE OR REPLACE PROCEDURE|FUNCTION",
    "Publish the statement as an endpoint, or use a trigger: there are no procedures",
  ],
  [
    "^ CREATE OR REPLACE",
    "Write DROP VIEW IF EXISTS <name> (or TRIGGER), then CREATE without OR REPLACE, in one batch",
  ],
  ["^ CREATE TYPE", "Write CHECK (<column> IN ('one', 'other')) at the column: there are no named types"],
  ["^ CREATE SEQUENCE", "Write id INTEGER PRIMARY KEY: the engine counts it up"],
  ["^ COMMENT ON", "Put descriptions of tables and columns through PUT /describe"],
  ["^ COPY|LOAD", "Send the rows as parameters of a batch"],
  ["^ SET SEARCH_PATH|SCHEMA", "Leave it out: a database has no schemas"],
  ["^ SET|DECLARE @|$", "Send the value as a parameter in the place of ?: statements have no variables"],
  ["CONFLICT ON CONSTRAINT", "Name the columns in its place: ON CONFLICT (<columns>)"],
  ["ON DUPLICATE KEY", "Write ON CONFLICT (<key>) DO UPDATE SET <column> = excluded.<column>"],
  ["^ INSERT IGNORE", "Write INSERT OR IGNORE INTO …"],
  [
    "AUTO_INCREMENT",
    "Write INTEGER PRIMARY KEY, which counts up by itself; AUTOINCREMENT behind it never uses a number again",
  ],
  ["IDENTITY (", "Write INTEGER PRIMARY KEY, which counts up by itself"],
  ["AS IDENTITY", "Write INTEGER PRIMARY KEY, which counts up by itself"],
  [
    "^ ALTER TABLE … , ADD|DROP|ALTER|RENAME|MODIFY|CHANGE",
    "Write an ALTER TABLE for each change, in one batch: each makes one change",
  ],
  ["ALTER TABLE IF", "Leave IF EXISTS out: ALTER TABLE has none here"],
  ["ADD COLUMN IF", "Leave IF NOT EXISTS out: describe tells whether the column is there"],
  ["DROP COLUMN IF", "Leave IF EXISTS out: describe tells whether the column is there"],
  [
    "^ ALTER TABLE … MODIFY|CHANGE",
    "Make a new table, copy the rows, drop the old one and rename, in one batch: a column's type cannot change",
  ],
  [
    "^ ALTER TABLE … ALTER COLUMN @ TYPE|SET|TO",
    "Make a new table, copy the rows, drop the old one and rename, in one batch: a column's type cannot change",
  ],
  [") ENGINE =", "Leave ENGINE and the options behind it out"],
  [
    "DISTINCT ON (",
    "Number the rows with row_number() OVER (PARTITION BY …) in a subquery and take those with 1",
  ],
  ["SELECT TOP", "Write LIMIT <n> at the end of the statement"],
  ["FETCH FIRST|NEXT", "Write LIMIT <n> at the end of the statement"],
  ["ROWNUM", "Write LIMIT <n> at the end of the statement, or row_number() OVER (ORDER BY …)"],
  [
    "FOR UPDATE|SHARE",
    "Leave it out: writes to a database run one after the other, and a batch with transaction true is one write",
  ],
  [
    "^ UPDATE|DELETE … LIMIT",
    "Write WHERE <key> IN (SELECT <key> FROM <table> WHERE … ORDER BY … LIMIT <n>)",
  ],
  ["LIMIT ' WHERE|GROUP|ORDER", "Write the clauses in the order WHERE, GROUP BY, HAVING, ORDER BY, LIMIT"],
  ["CROSS|OUTER APPLY", "Write a subquery in FROM or in the SELECT list, or a window function"],
  ["LATERAL (", "Write a subquery in the SELECT list, or a window function"],
  ["^ LOCK", "Leave it out: writes to a database run one after the other"],
  [
    "DATE|TIME|TIMESTAMP|TIMESTAMPTZ '",
    "Write the text alone: dates and times are text, as '2026-11-30 08:00:00'",
  ],
  ["@@ @@", "Make a table by CREATE VIRTUAL TABLE <name> USING fts5(<columns>) and write <name> MATCH ?"],
  ["# >", "Write <column> ->> '$.one.two' in the place of {one,two}"],
  ["ILIKE", "Write LIKE: it ignores the case of the letters A to Z here"],
  ["SIMILAR TO", "Write LIKE with % and _, or GLOB with * and ?: there are no regular expressions"],
  [
    "REGEXP|RLIKE|REGEXP_MATCHES|REGEXP_LIKE|REGEXP_REPLACE",
    "Write LIKE with % and _, or GLOB with * and ?: there are no regular expressions",
  ],
  [
    ": $",
    "Write CAST(<value> AS TEXT), INTEGER or REAL in the place of ::, or leave it out: JSON, dates and UUIDs are text",
  ],
  [
    ": : @",
    "Write CAST(<value> AS TEXT), INTEGER or REAL in the place of ::, or leave it out: JSON, dates and UUIDs are text",
  ],
  ["INTERVAL '", "Write a modifier of the date functions, such as datetime('now', '-7 days')"],
  ["SYSDATE|LOCALTIMESTAMP", "Write datetime('now') for the time in UTC, or unixepoch() for seconds"],
  ["SUBSTRING ( @ FROM", "Write substr(<text>, <start>, <length>)"],
  ["GROUP_CONCAT … SEPARATOR", "Write group_concat(<column>, ', ')"],
  [
    "= ANY|SOME|ALL (",
    "Write <value> IN (…), or IN (SELECT value FROM json_each(?)) with a JSON array as the parameter",
  ],
  ["ARRAY @", "Send a JSON array as text and read it with json_each: there are no arrays"],
  ["@ ENUM ( '", "Write TEXT CHECK (<column> IN ('one', 'other')): there are no named types"],
  ["LIMIT ' , ' OFFSET", "Write LIMIT <rows> OFFSET <start>"],
  ["LIMIT ALL", "Leave LIMIT out: all rows come; before an OFFSET write LIMIT -1"],
  [
    "@ OFFSET '|$",
    "Write LIMIT <rows> OFFSET <start>: OFFSET stands behind LIMIT only, and LIMIT -1 takes all rows",
  ],
  [
    "@@ >",
    "Write <column> ->> '$.name' = ?, or EXISTS (SELECT 1 FROM json_each(<column>) WHERE value = ?) for an array",
  ],
  [
    "< @@",
    "Write <column> ->> '$.name' = ?, or EXISTS (SELECT 1 FROM json_each(<column>) WHERE value = ?) for an array",
  ],
  ["SQL_CALC_FOUND_ROWS", "Count in a statement of its own: SELECT count(*) FROM …"],
  [
    "WITHIN GROUP",
    "Order the values and take one: … ORDER BY <column> LIMIT 1 OFFSET (SELECT count(*) / 2 FROM …)",
  ],
  ["@|'|$|) ~ '|$|*", "Write LIKE with % and _, or GLOB with * and ?: there are no regular expressions"],
  ["@ ! ~", "Write LIKE with % and _, or GLOB with * and ?: there are no regular expressions"],
  ["(|,|= % S", "Write ? for each value and send params as an array"],
  ["% ( @ ) S", "Write ? for each value and send params as an array"],
  ["{ @ }", "Write ? for each value and send params as an array"],
  ["E '", "Write the text without the E; a line break may stand in it"],
  ["'!", "Send texts as parameters in the place of ?, or write a ' inside of a text twice"],
];
