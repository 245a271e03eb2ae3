// Reads: what a SELECT touches through views, CTEs, generated columns, window functions, JSON and full text.
import type { CorpusEntry } from "./corpus_entry.ts";

export const corpusReads: readonly CorpusEntry[] = [
  ["SELECT 1", "read select"],
  ["VALUES (1, 2), (3, 4)", "read select"],
  ["SELECT id FROM orders", "read select; reads orders; columns orders.id"],
  [
    "SELECT * FROM orders",
    "read select; reads orders; columns orders.customer_id, orders.id, orders.status, orders.total",
  ],
  ["SELECT count(*) FROM orders", "read select; reads orders; calls count; columns "],
  ["SELECT count(*) FROM ORDERS", "read select; reads orders; calls count"],
  ["SELECT 1 FROM Orders AS customers", "read select; reads orders"],
  ["SELECT rowid FROM orders", "read select; reads orders; columns orders.id"],
  ["SELECT oid, _rowid_ FROM loose", "read select; reads loose; columns loose.ROWID"],
  [
    "SELECT o.total, c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id",
    "read select; reads customers, orders; columns customers.email, customers.id, orders.customer_id, orders.total",
  ],
  ["SELECT total FROM orders NATURAL JOIN customers", "read select; reads customers, orders"],
  ["SELECT name FROM customers LEFT JOIN orders USING (id)", "read select; reads customers, orders"],
  ["SELECT id FROM orders UNION SELECT id FROM customers", "read select; reads customers, orders"],
  ["SELECT id FROM orders EXCEPT VALUES (1)", "read select; reads orders"],
  ["SELECT id FROM orders WHERE total > ? LIMIT ?", "read select; reads orders; params 2"],
  ["SELECT (SELECT max(id) FROM notes) FROM orders", "read select; reads notes, orders; calls max"],
  [
    "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM notes WHERE order_id = orders.id)",
    "read select; reads notes, orders; columns notes.order_id, orders.id",
  ],
  ["SELECT 1 IN orders", "error unknown"],
  ["SELECT id IN parents FROM staff", "read select; reads parents, staff"],
  [
    "SELECT 'x' || name COLLATE NOCASE FROM customers ORDER BY lower(email)",
    "read select; reads customers; calls lower",
  ],
  ["SELECT name FROM customers WHERE name LIKE 'a%'", "read select; reads customers; calls like"],
  ["SELECT name FROM customers WHERE name GLOB 'a*'", "read select; reads customers; calls glob"],
  [
    "SELECT CASE WHEN id > 1 THEN coalesce(name, '') END FROM customers",
    "read select; reads customers; calls coalesce",
  ],
  [
    "SELECT CAST(total AS TEXT) FROM orders WHERE status IS NOT DISTINCT FROM 'open'",
    "read select; reads orders",
  ],
  ["SELECT * FROM orders INDEXED BY orders_open WHERE status = 'open'", "read select; reads orders"],
  [
    "SELECT status, sum(total) FROM orders GROUP BY status HAVING count(*) > 1",
    "read select; reads orders; calls count, sum",
  ],
  [
    "SELECT count(DISTINCT status) FILTER (WHERE total > 0) FROM orders",
    "read select; reads orders; calls count",
  ],
  // Views over views are seen through, to the columns.
  [
    "SELECT id FROM open_orders",
    "read select; reads open_orders, orders; columns open_orders.id, orders.customer_id, orders.id, orders.status, orders.total",
  ],
  ["SELECT * FROM rich", "read select; reads customers, open_orders, open_totals, orders, rich; calls sum"],
  // A view of which no column is used is not reported; the tables behind it are.
  ["SELECT 1 FROM rich", "read select; reads customers, open_orders, open_totals, orders; calls sum"],
  ["SELECT * FROM reports", "read select; reads reports, staff"],
  [
    "SELECT email FROM (SELECT * FROM open_totals) WHERE total > 1",
    "read select; reads customers, open_orders, open_totals, orders; calls sum",
  ],
  // A CTE is no table, and one that hides a table does not hide the reading of it.
  ["WITH x AS (SELECT id FROM orders) SELECT id FROM x", "read select; reads orders"],
  ["WITH x AS (SELECT 1) SELECT 1 FROM x", "read select"],
  [
    "WITH x AS MATERIALIZED (SELECT id FROM orders) SELECT count(*) FROM x AS y",
    "read select; reads orders; calls count",
  ],
  ["WITH orders AS (SELECT id FROM staff) SELECT id FROM orders", "read select; reads staff"],
  [
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 9) SELECT sum(i) FROM c",
    "read select; calls sum",
  ],
  ["WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d", "error syntax_error"],
  // Generated columns and STRICT tables.
  [
    "SELECT gross, label FROM products",
    "read select; reads products; columns products.gross, products.label",
  ],
  ["SELECT stock FROM products WHERE label = 'pen 3'", "read select; reads products"],
  // Window functions.
  ["SELECT row_number() OVER (ORDER BY id) FROM orders", "read select; reads orders; calls row_number"],
  [
    "SELECT lag(total, 1, 0) OVER w FROM orders WINDOW w AS (PARTITION BY status ORDER BY id)",
    "read select; reads orders; calls lag",
  ],
  [
    "SELECT sum(total) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM orders",
    "read select; reads orders; calls sum",
  ],
  [
    "SELECT ntile(4) OVER (), percent_rank() OVER (ORDER BY id) FROM staff",
    "read select; reads staff; calls ntile, percent_rank",
  ],
  // JSON.
  [
    "SELECT json_extract(data, '$.a'), data ->> 'b' FROM loose",
    "read select; reads loose; calls ->>, json_extract",
  ],
  ["SELECT value FROM json_each('[1,2]')", "read select; reads json_each"],
  ["SELECT j.key FROM loose, json_tree(loose.data) AS j", "read select; reads json_tree, loose"],
  ["SELECT 1 FROM json_each('[1]')", "read select; reads json_each"],
  [
    "SELECT json_group_array(name), jsonb_object('a', 1) FROM customers",
    "read select; reads customers; calls json_group_array, jsonb_object",
  ],
  // Full text and boxes.
  ["SELECT title FROM articles WHERE articles MATCH 'pen'", "read select; reads articles; calls match"],
  ["SELECT title FROM articles('pen')", "read select; reads articles"],
  [
    "SELECT highlight(articles, 0, '[', ']'), bm25(articles) FROM articles('pen*') ORDER BY rank",
    "read select; reads articles; calls bm25, highlight",
  ],
  [
    "SELECT snippet(notes_text, 0, '', '', '…', 5) FROM notes_text WHERE body MATCH ?",
    "read select; reads notes_text; calls match, snippet; params 1",
  ],
  ["SELECT id FROM places WHERE min_x > 0 AND max_x < 9", "read select; reads places"],
  // Functions that tell or change nothing of the host.
  [
    "SELECT unixepoch(), random(), hex(randomblob(4)), typeof(NULL)",
    "read select; calls hex, random, randomblob, typeof, unixepoch",
  ],
  ["SELECT CURRENT_TIMESTAMP, date('now')", "read select; calls current_timestamp, date"],
  [
    "SELECT changes(), last_insert_rowid(), sqlite_version()",
    "read select; calls changes, last_insert_rowid, sqlite_version",
  ],
  [
    "SELECT string_agg(status, ',' ORDER BY id), total(total) FROM orders",
    "read select; reads orders; calls string_agg, total",
  ],
  // Mistakes.
  ["SELECT * FROM nope", "error unknown_table"],
  ["SELECT nope FROM orders", "error unknown_column"],
  ['SELECT "nope"', "error unknown_column"],
  ["SELECT 'a' REGEXP 'b'", "error syntax_error"],
];
