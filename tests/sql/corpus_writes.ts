// Writes: cascades, triggers that set off triggers, views with triggers, UPSERT, RETURNING, what is destructive.
import type { CorpusEntry } from "./corpus_entry.ts";

export const corpusWrites: readonly CorpusEntry[] = [
  ["INSERT INTO staff (title) VALUES (?)", "write insert; reads staff; writes staff; params 1"],
  ["INSERT INTO staff DEFAULT VALUES", "write insert; reads staff; writes staff"],
  [
    "INSERT INTO loose SELECT id, total, status FROM orders",
    "write insert; reads orders; writes loose; columns orders.id, orders.status, orders.total",
  ],
  ["INSERT INTO customers (email) VALUES ('c@example.com')", "write insert; writes customers"],
  ["INSERT OR IGNORE INTO audit_copy VALUES ('x')", "write insert; writes audit_copy"],
  ["INSERT OR ROLLBACK INTO audit_copy VALUES ('x')", "write insert; writes audit_copy"],
  ["INSERT INTO products (sku, price) VALUES ('ink', 5)", "write insert; writes products"],
  ["INSERT INTO products (sku, price, gross) VALUES ('ink', 5, 5)", "error unknown"],
  ["INSERT INTO staff (nope) VALUES (1)", "error unknown_column"],
  ["INSERT INTO staff (title) VALUES (1, 2)", "error syntax_error"],
  // Foreign keys and triggers.
  ["INSERT INTO notes (order_id, body) VALUES (1, 'x')", "write insert; reads orders; writes notes"],
  [
    "INSERT INTO orders (customer_id) VALUES (1)",
    "write insert; reads audit_trail, customers, notes, order_items; writes audit_copy, audit_trail, orders; calls unixepoch",
  ],
  [
    "INSERT INTO audit_trail VALUES (1, 'x')",
    "write insert; reads audit_trail; writes audit_copy, audit_trail",
  ],
  [
    "INSERT INTO open_orders (customer_id, total) VALUES (1, 9)",
    "write insert; reads audit_trail, customers, notes, open_orders, order_items; writes audit_copy, audit_trail, open_orders, orders; calls unixepoch",
  ],
  ["DELETE FROM open_orders", "error unknown"],
  ["UPDATE rich SET email = ''", "error unknown"],
  [
    "DELETE FROM customers WHERE id = 1",
    "write delete where; reads customers, notes, order_items, orders; writes customers, notes, order_items, orders",
  ],
  [
    "DELETE FROM orders",
    "write delete destructive; reads customers, notes, order_items, orders; writes notes, order_items, orders",
  ],
  [
    "DELETE FROM order_items WHERE order_id = ? AND line = ?",
    "write delete where; reads order_items, orders; writes order_items; params 2",
  ],
  ["DELETE FROM loose", "write delete destructive; reads counters; writes counters, loose"],
  ["DELETE FROM parents WHERE id = 1", "write delete where; reads children, parents; writes parents"],
  [
    "UPDATE orders SET id = 5 WHERE id = 1",
    "write update where; reads notes, order_items, orders; writes notes, orders",
  ],
  ["DELETE FROM staff WHERE id = 1", "write delete where; reads staff; writes staff"],
  // With and without WHERE: one that is the same for every row bounds nothing.
  ["DELETE FROM audit_copy", "write delete destructive; writes audit_copy"],
  ["DELETE FROM audit_copy WHERE 1", "write delete where destructive; writes audit_copy"],
  [
    "DELETE FROM audit_copy WHERE what IN (SELECT what FROM audit_trail)",
    "write delete where; reads audit_copy, audit_trail; writes audit_copy",
  ],
  ["WITH w(x) AS (SELECT 1 WHERE 1) DELETE FROM audit_copy", "write delete destructive; writes audit_copy"],
  [
    "UPDATE audit_copy SET what = (SELECT name FROM customers WHERE id = 1)",
    "write update destructive; reads customers; writes audit_copy",
  ],
  [
    "UPDATE audit_copy SET what = 'x' WHERE what = 'y'",
    "write update where; reads audit_copy; writes audit_copy; sets audit_copy.what",
  ],
  [
    "UPDATE staff SET (title, boss) = ('x', 1) WHERE id = 2",
    "write update where; reads staff; writes staff; sets staff.boss, staff.title",
  ],
  [
    "UPDATE audit_copy SET what = c.name FROM customers AS c WHERE c.id = 1",
    "write update where; reads audit_copy, customers; writes audit_copy",
  ],
  [
    "UPDATE audit_copy SET what = c.name FROM customers AS c",
    "write update destructive; reads audit_copy, customers; writes audit_copy",
  ],
  ["UPDATE products SET price = 4 WHERE sku = 'pen'", "write update where; reads products; writes products"],
  ["UPDATE products SET gross = 4", "error unknown"],
  [
    "UPDATE OR IGNORE counters SET n = 1 WHERE name = 'a'",
    "write update where; reads counters; writes counters",
  ],
  // REPLACE in all its forms of spelling.
  ["REPLACE INTO counters VALUES ('a', 1)", "write replace destructive; writes counters"],
  ["INSERT OR REPLACE INTO counters VALUES ('a', 1)", "write replace destructive; writes counters"],
  ["insert /**/ or\n--\nreplace into counters values ('a', 1)", "write replace destructive; writes counters"],
  [
    "WITH x(n) AS (SELECT 1) REPLACE INTO counters SELECT 'a', n FROM x",
    "write replace destructive; writes counters",
  ],
  ["INSERT INTO counters VALUES ('a', 1)", "write insert; writes counters"],
  // UPSERT.
  [
    "INSERT INTO counters VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n",
    "write insert; reads counters; writes counters; sets counters.n",
  ],
  ["INSERT INTO counters VALUES ('a', 1) ON CONFLICT DO NOTHING", "write insert; writes counters"],
  [
    "INSERT INTO counters VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET n = 0 WHERE n > (SELECT count(*) FROM staff)",
    "write insert; reads counters, staff; writes counters; calls count",
  ],
  ["INSERT INTO counters VALUES ('a', 1) ON CONFLICT (n) DO NOTHING", "error unknown"],
  // RETURNING.
  [
    "INSERT INTO staff (title) VALUES ('x') RETURNING id, upper(title)",
    "write insert; reads staff; writes staff; calls upper",
  ],
  ["DELETE FROM audit_copy RETURNING what", "write delete destructive; reads audit_copy; writes audit_copy"],
  ["UPDATE staff SET title = 'x' WHERE id = 1 RETURNING *", "write update where; reads staff; writes staff"],
  [
    "INSERT INTO audit_copy VALUES ('x') RETURNING (SELECT count(*) FROM orders)",
    "write insert; reads orders; writes audit_copy; calls count",
  ],
  // CTEs in front of writes.
  ["WITH x AS (SELECT 1) INSERT INTO audit_copy SELECT 'a' FROM x", "write insert; writes audit_copy"],
  [
    "WITH x AS (SELECT id FROM orders) UPDATE staff SET boss = NULL WHERE id IN x",
    "write update where; reads orders, staff; writes staff",
  ],
  [
    "WITH staff AS (SELECT 1 AS id) DELETE FROM staff WHERE id IN (SELECT id FROM staff)",
    "write delete where; reads staff; writes staff",
  ],
  // Virtual tables.
  ["INSERT INTO articles VALUES ('a', 'b')", "write insert; writes articles"],
  ["INSERT INTO articles (articles) VALUES ('rebuild')", "admin insert; writes articles"],
  ["INSERT INTO articles (articles) VALUES ('delete-all')", "write delete destructive; writes articles"],
  ["UPDATE articles SET title = 'x' WHERE rowid = 1", "write update where; reads articles; writes articles"],
  ["DELETE FROM articles", "write delete destructive; writes articles"],
  ["INSERT INTO places VALUES (9, 0, 1, 0, 1)", "write insert; writes places"],
  [
    "INSERT INTO notes_text (rowid, body) SELECT id, body FROM notes",
    "write insert; reads notes; writes notes_text",
  ],
  // Tables that are not the tenant's to write.
  ["INSERT INTO json_each VALUES (1)", "nobody insert: Writing a table"],
];
