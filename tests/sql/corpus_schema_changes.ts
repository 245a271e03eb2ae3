// Changes of the schema, and bodies (CHECK, DEFAULT, index, view, trigger) that would smuggle something in.
import type { CorpusEntry } from "./corpus_entry.ts";

/** Without views, virtual tables and the service's own. */
const everyTable =
  "Größe, _ѕervice_meta_audit, audit_copy, audit_trail, children, counters, customers, loose, notes, " +
  "odd name, order, order_items, orders, parents, products, service_meta_replay, staff, таблица, ѕqlite_schema";

export const corpusSchemaChanges: readonly CorpusEntry[] = [
  ["CREATE TABLE x (a INTEGER PRIMARY KEY, b TEXT DEFAULT 'b')", "admin create destructive; writes x"],
  ["CREATE TABLE IF NOT EXISTS orders (a)", "admin create destructive; writes orders"],
  ["CREATE TABLE x (a INT, b INT AS (a * 2) STORED) STRICT", "admin create destructive; writes x"],
  [
    "CREATE TABLE x (a PRIMARY KEY, b DEFAULT (random())) WITHOUT ROWID",
    "admin create destructive; writes x",
  ],
  ["CREATE TABLE x AS SELECT id, total FROM orders", "admin create destructive; reads orders; writes x"],
  [
    "CREATE TABLE x AS SELECT * FROM rich",
    "admin create destructive; reads customers, open_orders, open_totals, orders, rich; writes x; calls sum",
  ],
  ["CREATE TABLE x (a REFERENCES orders(id) ON DELETE CASCADE)", "admin create destructive; writes x"],
  ["CREATE TABLE orders (a)", "error unknown"],
  ["CREATE INDEX i ON orders (status)", "admin create destructive; reads orders; writes orders"],
  [
    "CREATE UNIQUE INDEX IF NOT EXISTS i ON orders (lower(status)) WHERE total > 0",
    "admin create destructive; reads orders; writes orders; calls lower",
  ],
  ["CREATE INDEX i ON nope (a)", "error unknown_table"],
  ["CREATE VIEW v (a) AS SELECT id FROM orders", "admin create destructive; writes v"],
  ["CREATE VIEW v AS SELECT ?", "error unknown"],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM notes; END",
    "admin create destructive; writes orders",
  ],
  ["CREATE TRIGGER t INSTEAD OF DELETE ON rich BEGIN SELECT 1; END", "admin create destructive; writes rich"],
  [
    "CREATE VIRTUAL TABLE x USING fts5(a, content='notes', content_rowid='id')",
    "admin create destructive; writes x",
  ],
  ['CREATE VIRTUAL TABLE x USING "FTS5"(a)', "admin create destructive; writes x"],
  ["CREATE VIRTUAL TABLE x USING rtree(id, a, b)", "admin create destructive; writes x"],
  [
    "ALTER TABLE staff ADD COLUMN age INTEGER",
    "admin alter destructive; writes staff; calls length, printf, substr",
  ],
  [
    "ALTER TABLE staff RENAME TO people",
    "admin alter destructive; writes staff; calls like, sqlite_rename_table, sqlite_rename_test, substr",
  ],
  [
    "ALTER TABLE staff RENAME COLUMN title TO job",
    "admin alter destructive; writes staff; calls like, sqlite_rename_column, sqlite_rename_quotefix, sqlite_rename_test",
  ],
  [
    "ALTER TABLE staff DROP COLUMN title",
    "admin alter destructive; writes staff; calls like, sqlite_drop_column, sqlite_rename_quotefix, sqlite_rename_test",
  ],
  [
    "ALTER TABLE articles RENAME TO essays",
    "admin alter destructive; writes articles; calls like, sqlite_rename_table, sqlite_rename_test, substr",
  ],
  ["DROP TABLE audit_copy", "admin drop destructive; writes audit_copy"],
  [
    "DROP TABLE customers",
    "admin drop destructive; reads customers, notes, order_items, orders; writes customers, notes, order_items, orders",
  ],
  ["DROP TABLE IF EXISTS nope", "admin drop destructive"],
  ["DROP TABLE nope", "error unknown_table"],
  ["DROP TABLE articles", "admin drop destructive; writes articles"],
  ["DROP VIEW rich", "admin drop destructive; writes rich"],
  ["DROP VIEW nope", "error unknown_table"],
  ["DROP INDEX orders_open", "admin drop destructive; writes orders"],
  ["DROP TRIGGER orders_log", "admin drop destructive; writes orders"],
  ["REINDEX", "admin reindex destructive; writes counters, customers, notes, order_items, orders, products"],
  ["REINDEX orders_open", "admin reindex destructive; writes orders"],
  ["REINDEX main.orders", "admin reindex destructive; writes orders"],
  ["REINDEX nocase", "admin reindex destructive; writes customers"],
  ["ANALYZE", `admin analyze destructive; writes ${everyTable}`],
  ["ANALYZE main", `admin analyze destructive; writes ${everyTable}`],
  ["ANALYZE orders", "admin analyze destructive; writes orders"],
  ["ANALYZE orders_open", "admin analyze destructive; writes orders"],
  // Bodies that call what nobody may call.
  ["CREATE TABLE x (a CHECK (load_extension(a)))", "nobody create: The function load_extension"],
  ["CREATE TABLE x (a DEFAULT (readfile('/etc/passwd')))", "nobody create: The function readfile"],
  ["CREATE TABLE x (a, b AS (edit(a)))", "nobody create: The function edit"],
  ["CREATE TABLE x (a, CHECK (a > writefile('a', 'b')))", "nobody create: The function writefile"],
  [
    "ALTER TABLE staff ADD COLUMN x DEFAULT (load_extension('x'))",
    "nobody alter: The function load_extension",
  ],
  ["ALTER TABLE staff ADD COLUMN x CHECK (fts3_tokenizer('x'))", "nobody alter: The function fts3_tokenizer"],
  ["CREATE INDEX i ON orders (load_extension(status))", "nobody create: The function load_extension"],
  [
    "CREATE INDEX i ON orders (status) WHERE load_extension(status)",
    "nobody create: The function load_extension",
  ],
  ["CREATE VIEW v AS SELECT load_extension('x')", "nobody create: The function load_extension"],
  [
    "CREATE VIEW v AS WITH a AS (SELECT (SELECT load_extension('x'))) SELECT * FROM a",
    "nobody create: The function load_extension",
  ],
  ["CREATE VIEW v AS SELECT * FROM pragma_database_list()", "nobody create: pragma_database_list"],
  ["CREATE VIEW v AS SELECT * FROM _service_meta_replay", "nobody create: Reading _service_meta_replay"],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT load_extension('x'); END",
    "nobody create: The function load_extension",
  ],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders WHEN load_extension('x') BEGIN SELECT 1; END",
    "nobody create: The function load_extension",
  ],
  [
    "CREATE TRIGGER t AFTER UPDATE ON orders BEGIN UPDATE notes SET body = readfile('x'); END",
    "nobody create: The function readfile",
  ],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN INSERT INTO loose SELECT answer, 1, 2 FROM _service_meta_replay; END",
    "nobody create: Reading _service_meta_replay",
  ],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM _service_meta_audit; END",
    "nobody create: _service_meta_audit",
  ],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN UPDATE sqlite_sequence SET seq = 0; END",
    "nobody create: sqlite_sequence",
  ],
  [
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM articles_data; END",
    "nobody create: belongs to a virtual table",
  ],
  // Modules that reach further than the tenant's tables.
  ["CREATE VIRTUAL TABLE x USING fts4(a)", "nobody create: module fts4"],
  ["CREATE VIRTUAL TABLE x USING fts5vocab(articles, row)", "nobody create: module fts5vocab"],
  ["CREATE VIRTUAL TABLE x USING dbstat", "nobody create: module dbstat"],
  ["CREATE VIRTUAL TABLE x USING csv(filename = '/etc/passwd')", "nobody create: module csv"],
  ["CREATE VIRTUAL TABLE x USING [sqlite_dbpage]", "nobody create: module sqlite_dbpage"],
  [
    "CREATE VIRTUAL TABLE x USING fts5(answer, content='_service_meta_replay')",
    "nobody create: the service's own tables",
  ],
  [
    'CREATE VIRTUAL TABLE x USING fts5(answer, content = "_SERVICE_META_replay")',
    "nobody create: the service's own tables",
  ],
  ["CREATE VIRTUAL TABLE _service_meta USING fts5(a)", "nobody create: Writing _service_meta_"],
  ["CREATE VIRTUAL TABLE sqlite USING rtree(id, a, b)", "nobody create: Writing sqlite_"],
  ["ALTER TABLE articles RENAME TO _service_meta", "nobody alter: _service_meta_"],
  ["ALTER TABLE articles RENAME TO [SQLITE]", "nobody alter: SQLITE_"],
  // What the engine answers under such a name is asked by the service: what it foresees, shows and compares.
  ["CREATE TABLE json_each (value)", "nobody create: name json_each"],
  ["CREATE TABLE IF NOT EXISTS main.[JSON_Tree] AS SELECT 1", "nobody create: name JSON_Tree"],
  ["CREATE VIEW pragma_table_list AS SELECT 'main' AS schema", "nobody create: name pragma_table_list"],
  [
    "CREATE VIRTUAL TABLE Pragma_Foreign_Key_List USING fts5(a)",
    "nobody create: name Pragma_Foreign_Key_List",
  ],
  ["ALTER TABLE orders RENAME TO pragma_table_xinfo", "nobody alter: name pragma_table_xinfo"],
];
