// The schema on which the statement corpus runs: everything that SQLite lets a schema hold and that can hide what a
// statement touches. One statement an entry, in an order in which they can be made.

/** DDL and a few rows, run by the service itself. */
export const corpusSchema: readonly string[] = [
  // Plain tables: a key, a CHECK with functions, foreign keys that cascade, defaults.
  `CREATE TABLE customers (
  id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT DEFAULT (upper('nobody')),
  phone TEXT CHECK (phone IS NULL OR length(phone) < 30), created_at TEXT DEFAULT CURRENT_TIMESTAMP)`,
  `CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customers(id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'open', total REAL)`,
  `CREATE TABLE order_items (
  order_id INTEGER REFERENCES orders(id) ON DELETE CASCADE, line INTEGER, sku TEXT,
  quantity INTEGER CHECK (quantity > 0), PRIMARY KEY (order_id, line)) WITHOUT ROWID`,
  `CREATE TABLE notes (
  id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id) ON DELETE SET NULL ON UPDATE CASCADE, body TEXT)`,
  "CREATE TABLE parents (id INTEGER PRIMARY KEY)",
  "CREATE TABLE children (p INTEGER REFERENCES parents(id) ON DELETE RESTRICT DEFERRABLE INITIALLY IMMEDIATE)",
  // Generated columns, STRICT, a table that refers to itself, one without any key.
  `CREATE TABLE products (
  sku TEXT PRIMARY KEY, price INTEGER NOT NULL CHECK (abs(price) = price), tax REAL,
  gross INTEGER GENERATED ALWAYS AS (price + coalesce(tax, 0)) STORED, label TEXT AS (sku || ' ' || price) VIRTUAL,
  stock ANY) STRICT`,
  "CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff(id) ON DELETE SET NULL, title TEXT)",
  "CREATE TABLE loose (data, value, type)",
  "CREATE TABLE counters (name TEXT PRIMARY KEY ON CONFLICT REPLACE, n INTEGER NOT NULL DEFAULT 0)",
  "CREATE TABLE audit_trail (at INTEGER, what TEXT)",
  "CREATE TABLE audit_copy (what TEXT)",
  // Indexes: partial, on an expression, unique over two columns.
  "CREATE INDEX orders_open ON orders(customer_id) WHERE status = 'open'",
  "CREATE INDEX customers_lower ON customers(lower(email))",
  "CREATE UNIQUE INDEX notes_once ON notes(order_id, body)",
  // Views over views, a view with a trigger in place of its writes, a recursive one.
  "CREATE VIEW open_orders AS SELECT id, customer_id, total FROM orders WHERE status = 'open'",
  "CREATE VIEW open_totals(email, total) AS SELECT c.email, sum(o.total) FROM open_orders AS o JOIN customers AS c ON c.id = o.customer_id GROUP BY c.id",
  "CREATE VIEW rich AS SELECT email FROM open_totals WHERE total > 100",
  "CREATE VIEW reports(id, level) AS WITH RECURSIVE r(id, level) AS (SELECT id, 0 FROM staff WHERE boss IS NULL UNION ALL SELECT s.id, level + 1 FROM staff AS s JOIN r ON s.boss = r.id) SELECT id, level FROM r",
  "CREATE TRIGGER open_orders_insert INSTEAD OF INSERT ON open_orders BEGIN INSERT INTO orders (customer_id, total) VALUES (new.customer_id, new.total); END",
  // Triggers that set off triggers.
  "CREATE TRIGGER orders_log AFTER INSERT ON orders BEGIN INSERT INTO audit_trail VALUES (unixepoch(), 'order'); END",
  "CREATE TRIGGER trail_copy AFTER INSERT ON audit_trail BEGIN INSERT INTO audit_copy SELECT new.what; END",
  "CREATE TRIGGER products_guard BEFORE UPDATE OF price ON products WHEN new.price < old.price BEGIN SELECT raise(ABORT, 'prices only rise'); END",
  "CREATE TRIGGER counters_up AFTER DELETE ON loose BEGIN INSERT INTO counters VALUES ('loose', 1) ON CONFLICT(name) DO UPDATE SET n = n + 1; END",
  // Virtual tables: text that is kept, text kept elsewhere, boxes.
  "CREATE VIRTUAL TABLE articles USING fts5(title, body, tokenize = 'porter')",
  "CREATE VIRTUAL TABLE notes_text USING fts5(body, content = 'notes', content_rowid = 'id')",
  "CREATE VIRTUAL TABLE places USING rtree(id, min_x, max_x, min_y, max_y)",
  // Names of every kind.
  'CREATE TABLE "odd name" ("a b" TEXT, "select" INTEGER, "x""y" INTEGER)',
  "CREATE TABLE [Größe] ([ß] TEXT)",
  "CREATE TABLE `таблица` (`имя` TEXT)",
  'CREATE TABLE "order" ("group" INTEGER)',
  // Cyrillic letters that look Latin: another name than a reserved one.
  'CREATE TABLE "ѕqlite_schema" (a TEXT)',
  'CREATE TABLE "_ѕervice_meta_audit" (a TEXT)',
  "CREATE TABLE service_meta_replay (a TEXT)",
  // Rows, so that what leaks or is destroyed shows.
  "INSERT INTO customers (id, email, name) VALUES (1, 'ann@example.com', 'Ann'), (2, 'bob@example.com', 'Bob')",
  "INSERT INTO orders (id, customer_id, total) VALUES (1, 1, 250), (2, 2, 5)",
  "INSERT INTO order_items VALUES (1, 1, 'pen', 2)",
  "INSERT INTO notes VALUES (1, 1, 'leave at the door')",
  "INSERT INTO products (sku, price) VALUES ('pen', 3)",
  "INSERT INTO staff VALUES (1, NULL, 'head'), (2, 1, 'hand')",
  "INSERT INTO articles VALUES ('Pens', 'A pen writes')",
  "INSERT INTO places VALUES (1, 0, 1, 0, 1)",
  "INSERT INTO loose VALUES (1, 2, 3)",
];

/** What the service keeps and a tenant must never see: the text stands in an answer kept for replay. */
export const replaySecret = "kept-answer-of-somebody";
