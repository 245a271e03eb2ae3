// A database with every kind of object and value that an export has to carry.
/** Statements that make it, for a tenant's own token. */
export const kinds: readonly string[] = [
  "CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, extra)",
  "INSERT INTO plain VALUES (1, 'one', 1.5, 1), (2, 'it''s, \"quoted\"\r\nline', 1e300, 1.0), (3, '', NULL, x'00ff'), " +
  "(4, 'a' || char(0) || 'b', 0.1, 'NUL'), (5, CAST(x'ff41' AS TEXT), -9e999, 9223372036854775807), " +
  "(6, 'žluťoučký 🐎', 9e999, CAST(x'610062' AS TEXT)), (7, '=1+1', 4.9406564584124654e-324, -9223372036854775808)",
  "CREATE TABLE loose (a, b, c TEXT)",
  "INSERT INTO loose (rowid, a, b, c) VALUES (10, 1, 2, 'x'), (-9223372036854775808, 1.0, '1', 'first'), (7, NULL, x'', NULL)",
  "CREATE TABLE hidden_rowid (rowid TEXT, oid INT)",
  "INSERT INTO hidden_rowid (_rowid_, rowid, oid) VALUES (5, 'r', 1), (3, 's', 2)",
  "CREATE TABLE all_names (rowid TEXT, oid INT, _rowid_ INT)",
  "INSERT INTO all_names VALUES ('r', 1, 2), ('s', 3, 4)",
  "CREATE TABLE composite (a TEXT COLLATE NOCASE, b INT, c BLOB, PRIMARY KEY (a, b DESC)) WITHOUT ROWID",
  "INSERT INTO composite VALUES ('B', 1, x'01'), ('a', 2, NULL), ('a', 9, 'text'), ('é', 0, 0.5)",
  "CREATE TABLE strict_any (id INTEGER PRIMARY KEY, v ANY, t TEXT) STRICT",
  "INSERT INTO strict_any VALUES (1, 1, 'a'), (2, 1.0, 'b'), (3, '1', 'c'), (4, x'31', 'd'), (5, NULL, NULL)",
  "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v)",
  "INSERT INTO counted VALUES (9223372036854775806, 'last but one'), (9223372036854775807, 'last')",
  "DELETE FROM counted WHERE v = 'last'",
  "CREATE TABLE made (a INT, b INT GENERATED ALWAYS AS (a * 2) STORED, c TEXT AS (a || '!') VIRTUAL)",
  "INSERT INTO made (a) VALUES (1), (21)",
  "CREATE TABLE parent (id INTEGER PRIMARY KEY, child INT REFERENCES child (id) DEFERRABLE INITIALLY DEFERRED)",
  "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INT REFERENCES parent (id) ON DELETE CASCADE)",
  "INSERT INTO parent VALUES (1, NULL)",
  "INSERT INTO child VALUES (1, 1)",
  "UPDATE parent SET child = 1",
  'CREATE TABLE "odd ""name""\n\'here\'" ("col, umn" TEXT, "se""cond" INT, PRIMARY KEY ("col, umn")) -- said; once',
  'INSERT INTO "odd ""name""\n\'here\'" VALUES (\'v\', 1)',
  "CREATE INDEX by_lower ON plain (lower(name), price DESC) WHERE price > 0",
  "CREATE UNIQUE INDEX by_c ON loose (c)",
  "CREATE VIEW cheap AS SELECT id, name FROM plain WHERE price < 2",
  "CREATE VIEW cheaper AS SELECT count(*) AS n FROM cheap",
  "CREATE TRIGGER noted AFTER INSERT ON plain WHEN new.id > 100 BEGIN INSERT INTO loose (a) VALUES (new.id); " +
  "UPDATE loose SET b = 'x;y' WHERE a = new.id; END",
  "CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize = 'porter unicode61')",
  "INSERT INTO words (rowid, title, body) VALUES (3, 'Running', 'the runners ran'), (8, 'Žluť', 'kůň; it''s')",
  "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(10.0, 5.0)')",
  // Its name stands for commands to it, and no longer for the number of a row.
  'CREATE VIRTUAL TABLE "rowid" USING fts5(body, oid)',
  "INSERT INTO \"rowid\" (_rowid_, body, oid) VALUES (7, 'run', 'gamma'), (12, 'they run', 'ran')",
  "CREATE TABLE docs (id INTEGER PRIMARY KEY, text TEXT)",
  "INSERT INTO docs VALUES (1, 'alpha beta'), (5, 'gamma')",
  "CREATE VIRTUAL TABLE docs_index USING fts5(text, content = 'docs', content_rowid = 'id')",
  "INSERT INTO docs_index (docs_index) VALUES ('rebuild')",
  "CREATE VIRTUAL TABLE boxes USING rtree(id, min_x, max_x, min_y, max_y, +label TEXT)",
  "INSERT INTO boxes VALUES (1, 0.1, 10.3, -5, 5, 'one'), (9, 1, 2, 3, 4, 'nine')",
  "PRAGMA user_version = 42",
];

/** A full-text table without rows of its own, which only a SQLite file carries. */
export const contentless: readonly string[] = [
  "CREATE VIRTUAL TABLE unseen USING fts5(body, content = '')",
  "INSERT INTO unseen (rowid, body) VALUES (4, 'found by nobody else'), (6, 'hidden words')",
];
