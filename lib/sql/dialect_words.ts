// The table of other dialects' words. A pattern is a row of tokens: words in capitals and marks are themselves, `|`
// stands between alternatives, `'` is a literal, `$` a parameter, `@` any name, `^` the beginning of the statement, `…`
// whatever stands between; behind `^ … ` only what is outside of parentheses counts. The first row that matches is
// taken.

/** Pattern → what to write here. */
export const dialectWords: readonly (readonly [pattern: string, hint: string])[] = [
  ["^ TRUNCATE", "Write DELETE FROM <table>: it empties the table, and a snapshot is taken before it"],
  [
    "^ SHOW TABLES|DATABASES|SCHEMAS",
    "Call tables, or write SELECT name FROM sqlite_schema WHERE type = 'table'",
  ],
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
  ["PUBLIC|DBO .", "Write the table's name alone: a database has no schemas"],
  ["^ USE @", "Name the database in the path of the call: a statement reaches one database only"],
  [
    "^ CREATE|DROP DATABASE|SCHEMA",
    "Make and delete databases through POST and DELETE /api/namespaces/:slug/databases",
  ],
  ["^ GRANT|REVOKE", "Make a token with the role and the scopes that are wanted: rights belong to tokens"],
  ["^ MERGE", "Write INSERT INTO … ON CONFLICT (<key>) DO UPDATE SET <column> = excluded.<column>"],
  ["^ CALL|EXEC|EXECUTE", "Publish the statement as an endpoint, or send it itself: there are no procedures"],
  [
    "^ CREATE PROCEDURE|FUNCTION",
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
  ["^ SET|DECLARE @|$", "Send the value as a parameter in the place of ?: statements have no variables"],
  ["ON DUPLICATE KEY", "Write ON CONFLICT (<key>) DO UPDATE SET <column> = excluded.<column>"],
  ["^ INSERT IGNORE", "Write INSERT OR IGNORE INTO …"],
  [
    "AUTO_INCREMENT",
    "Write INTEGER PRIMARY KEY, which counts up by itself; AUTOINCREMENT behind it never uses a number again",
  ],
  ["IDENTITY (", "Write INTEGER PRIMARY KEY, which counts up by itself"],
  ["AS IDENTITY", "Write INTEGER PRIMARY KEY, which counts up by itself"],
  ["ALTER TABLE IF", "Leave IF EXISTS out: ALTER TABLE has none here"],
  ["ADD COLUMN IF", "Leave IF NOT EXISTS out: describe tells whether the column is there"],
  ["DROP COLUMN IF", "Leave IF EXISTS out: describe tells whether the column is there"],
  [
    "^ ALTER TABLE … MODIFY|CHANGE",
    "Make a new table, copy the rows, drop the old one and rename, in one batch: a column's type cannot change",
  ],
  [
    "^ ALTER TABLE … ALTER COLUMN @ TYPE|SET",
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
  ["ILIKE", "Write LIKE: it ignores the case of the letters A to Z here"],
  ["SIMILAR TO", "Write LIKE with % and _, or GLOB with * and ?: there are no regular expressions"],
  [
    "REGEXP|RLIKE|REGEXP_MATCHES|REGEXP_LIKE|REGEXP_REPLACE",
    "Write LIKE with % and _, or GLOB with * and ?: there are no regular expressions",
  ],
  [": $", "Write CAST(<value> AS <type>) in the place of ::"],
  [": : @", "Write CAST(<value> AS <type>) in the place of ::"],
  ["CONVERT|TRY_CAST (", "Write CAST(<value> AS <type>)"],
  ["INTERVAL '", "Write a modifier of the date functions, such as datetime('now', '-7 days')"],
  [
    "NOW|GETDATE|SYSDATETIME|LOCALTIMESTAMP (",
    "Write datetime('now') for the time in UTC, or unixepoch() for seconds",
  ],
  ["SYSDATE|LOCALTIMESTAMP", "Write datetime('now') for the time in UTC, or unixepoch() for seconds"],
  ["CURDATE|TODAY (", "Write date('now')"],
  [
    "DATE_TRUNC|TRUNC_DATE (",
    "Write strftime('%Y-%m-01', <column>) for the month, or date(<column>, 'start of month')",
  ],
  [
    "EXTRACT|DATE_PART|DATEPART (",
    "Write CAST(strftime('%Y', <column>) AS INTEGER): %Y, %m, %d, %H, %w for the parts",
  ],
  [
    "YEAR|MONTH|DAY|HOUR|WEEKDAY|DAYOFWEEK (",
    "Write CAST(strftime('%Y', <column>) AS INTEGER): %Y, %m, %d, %H, %w for the parts",
  ],
  [
    "DATE_ADD|DATE_SUB|DATEADD|ADDDATE (",
    "Write date(<column>, '+7 days') or datetime(<column>, '-1 month')",
  ],
  ["DATEDIFF|TIMESTAMPDIFF|AGE (", "Write julianday(<later>) - julianday(<earlier>), which are days"],
  ["TO_CHAR|DATE_FORMAT|FORMAT_DATE (", "Write strftime('%Y-%m-%d', <column>)"],
  [
    "TO_DATE|TO_TIMESTAMP|STR_TO_DATE (",
    "Store dates as text like 2026-11-30 and compare them as they are; datetime(<seconds>, 'unixepoch') reads numbers",
  ],
  ["LEFT (", "Write substr(<text>, 1, <n>)"],
  ["RIGHT (", "Write substr(<text>, -<n>)"],
  ["SUBSTRING ( @ FROM", "Write substr(<text>, <start>, <length>)"],
  ["POSITION (", "Write instr(<text>, <part>)"],
  ["STRPOS|LOCATE|CHARINDEX (", "Write instr(<text>, <part>)"],
  ["LEN|CHAR_LENGTH|CHARACTER_LENGTH|DATALENGTH (", "Write length(<text>)"],
  ["LPAD|RPAD (", "Write printf('%05d', <number>) or substr('00000' || <text>, -5)"],
  ["INITCAP (", "Write upper(substr(<text>, 1, 1)) || substr(<text>, 2)"],
  ["GREATEST (", "Write max(<a>, <b>): with several arguments it compares them"],
  ["LEAST (", "Write min(<a>, <b>): with several arguments it compares them"],
  ["NVL|ISNULL (", "Write ifnull(<value>, <otherwise>) or coalesce(…)"],
  ["RAND (", "Write random(), a 64-bit integer; abs(random() % 100) is a number below 100"],
  [
    "UUID|GEN_RANDOM_UUID|UUID_GENERATE_V4|NEWID (",
    "Write lower(hex(randomblob(16))), or send an id as a parameter",
  ],
  [
    "LAST_INSERT_ID|LASTVAL|SCOPE_IDENTITY (",
    "Write RETURNING id at the end of the INSERT, or read lastInsertRowid of the answer",
  ],
  [
    "NEXTVAL|CURRVAL (",
    "Write id INTEGER PRIMARY KEY, leave it out of the INSERT and read lastInsertRowid of the answer",
  ],
  ["GROUP_CONCAT … SEPARATOR", "Write group_concat(<column>, ', ')"],
  ["ARRAY_AGG|JSON_AGG|JSONB_AGG|JSON_ARRAYAGG (", "Write json_group_array(<column>)"],
  ["ROW_TO_JSON|JSON_BUILD_OBJECT|JSONB_BUILD_OBJECT (", "Write json_object('name', <column>, …)"],
  ["UNNEST (", "Write FROM json_each(?) with a JSON array as the parameter"],
  [
    "= ANY|SOME|ALL (",
    "Write <value> IN (…), or IN (SELECT value FROM json_each(?)) with a JSON array as the parameter",
  ],
  ["ARRAY @", "Send a JSON array as text and read it with json_each: there are no arrays"],
];
