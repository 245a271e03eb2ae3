// Statements whose rows read are compared with sqld's own counter: three schemas with a few thousand rows, run in
// order, so that writes change what later statements see. To add one, append a line; `params` only where it has any.

export interface CorpusSchema {
  readonly name: string;
  readonly setup: readonly string[];
  readonly statements: readonly CorpusStatement[];
}

export type CorpusStatement = string | {
  readonly sql: string;
  readonly params: readonly (string | number)[];
};

/** `i` from 1 to `count`, for filling tables. */
function numbers(count: number): string {
  return `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
}

const shop: CorpusSchema = {
  name: "shop",
  setup: [
    "CREATE TABLE customers(id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, country TEXT, created INTEGER)",
    "CREATE TABLE products(id INTEGER PRIMARY KEY, sku TEXT UNIQUE, name TEXT, price REAL, stock INTEGER)",
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT, total REAL, placed INTEGER)",
    "CREATE TABLE items(order_id INTEGER NOT NULL REFERENCES orders(id) ON DELETE CASCADE, line INTEGER, product_id INTEGER REFERENCES products(id), quantity INTEGER, PRIMARY KEY (order_id, line)) WITHOUT ROWID",
    "CREATE INDEX orders_customer ON orders(customer_id, placed)",
    "CREATE INDEX items_product ON items(product_id)",
    "CREATE INDEX customers_country ON customers(country)",
    "CREATE VIEW paid_orders AS SELECT o.id, o.total, c.email FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'paid'",
    `${
      numbers(1000)
    } INSERT INTO customers SELECT i, 'user' || i || '@example.com', substr('atdechfrnl', 1 + 2 * (i % 5), 2), 1700000000 + i FROM n`,
    `${
      numbers(300)
    } INSERT INTO products SELECT i, 'sku-' || i, 'product ' || i, i % 90 + 0.5, i % 40 FROM n`,
    `${
      numbers(4000)
    } INSERT INTO orders SELECT i, 1 + (i * 7) % 1000, CASE i % 4 WHEN 0 THEN 'open' WHEN 1 THEN 'shipped' ELSE 'paid' END, i % 500, 1710000000 + i FROM n`,
    `${numbers(8000)} INSERT INTO items SELECT 1 + i / 2 % 4000, i % 2, 1 + i % 300, 1 + i % 3 FROM n`,
  ],
  statements: [
    { sql: "SELECT * FROM customers WHERE id = ?", params: [17] },
    { sql: "SELECT * FROM customers WHERE id = ?", params: [99999] },
    { sql: "SELECT id FROM customers WHERE email = ?", params: ["user5@example.com"] },
    "SELECT * FROM customers",
    "SELECT * FROM customers LIMIT 20",
    "SELECT * FROM customers ORDER BY id DESC LIMIT 20 OFFSET 40",
    { sql: "SELECT * FROM customers ORDER BY id LIMIT ? OFFSET 0", params: [50] },
    "SELECT * FROM customers ORDER BY created",
    "SELECT * FROM customers ORDER BY created DESC LIMIT 10",
    "SELECT count(*) FROM customers",
    { sql: "SELECT count(*) FROM customers WHERE country = ?", params: ["de"] },
    { sql: "SELECT * FROM customers WHERE country = ?", params: ["fr"] },
    "SELECT * FROM customers WHERE country = 'at' AND created > 1700000900",
    "SELECT * FROM customers WHERE country IN ('at', 'de')",
    "SELECT * FROM customers WHERE id IN (3, 5, 8, 13, 21, 34, 55, 89)",
    "SELECT country, count(*) FROM customers GROUP BY country",
    "SELECT country, count(*) AS n FROM customers GROUP BY country HAVING n > 100 ORDER BY n DESC LIMIT 3",
    "SELECT DISTINCT country FROM customers",
    "SELECT * FROM customers WHERE email LIKE '%7@example.com'",
    "SELECT * FROM customers WHERE created BETWEEN 1700000100 AND 1700000199",
    "SELECT * FROM customers WHERE id > 950",
    "SELECT * FROM customers WHERE id > 500 ORDER BY id LIMIT 25",
    "SELECT max(id) FROM customers",
    "SELECT max(placed) FROM orders WHERE customer_id = 8",
    "SELECT max(total) FROM orders",
    "SELECT status, sum(total) FROM orders GROUP BY status",
    "SELECT * FROM orders WHERE customer_id = 8 ORDER BY placed DESC",
    "SELECT * FROM orders WHERE customer_id = 8 ORDER BY placed DESC LIMIT 1",
    "SELECT * FROM orders WHERE customer_id = 8 ORDER BY total",
    "SELECT * FROM orders WHERE status = 'open' ORDER BY placed LIMIT 10",
    "SELECT o.id, c.email FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = 77",
    "SELECT o.id, c.email FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'open'",
    "SELECT c.email, o.total FROM customers c JOIN orders o ON o.customer_id = c.id WHERE c.country = 'fr'",
    "SELECT c.email, count(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
    "SELECT c.country, sum(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.country",
    "SELECT p.name, sum(i.quantity) FROM items i JOIN products p ON p.id = i.product_id GROUP BY p.id ORDER BY 2 DESC LIMIT 5",
    "SELECT o.id, p.name, i.quantity FROM orders o JOIN items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id WHERE o.id = 20",
    "SELECT o.id, p.name FROM orders o JOIN items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id WHERE o.customer_id = 8",
    "SELECT * FROM items WHERE order_id = 44",
    "SELECT * FROM items WHERE order_id = 44 AND line = 1",
    "SELECT sum(quantity) FROM items WHERE product_id = 9",
    "SELECT * FROM paid_orders",
    "SELECT * FROM paid_orders WHERE id = 30",
    "SELECT name, (SELECT count(*) FROM items i WHERE i.product_id = p.id) FROM products p",
    "SELECT name FROM products p WHERE EXISTS (SELECT 1 FROM items i WHERE i.product_id = p.id)",
    "SELECT name FROM products WHERE id NOT IN (SELECT product_id FROM items WHERE order_id < 50)",
    "SELECT * FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE country = 'nl')",
    "SELECT * FROM products WHERE price > (SELECT avg(price) FROM products)",
    "SELECT (SELECT count(*) FROM orders WHERE status = 'open'), (SELECT max(id) FROM orders)",
    "SELECT email FROM customers UNION SELECT sku FROM products",
    "SELECT id FROM customers UNION ALL SELECT id FROM products",
    "SELECT * FROM (SELECT customer_id, sum(total) AS spent FROM orders GROUP BY customer_id) WHERE spent > 900",
    "WITH best AS (SELECT customer_id, sum(total) AS spent FROM orders GROUP BY customer_id ORDER BY spent DESC LIMIT 10) SELECT c.email, b.spent FROM best b JOIN customers c ON c.id = b.customer_id",
    "SELECT id, rank() OVER (PARTITION BY status ORDER BY total DESC) FROM orders WHERE customer_id < 200",
    "SELECT customer_id, total, row_number() OVER (ORDER BY total DESC) FROM orders",
    {
      sql: "INSERT INTO customers(email, country, created) VALUES (?, 'de', 1)",
      params: ["new@example.com"],
    },
    "INSERT INTO orders(customer_id, status, total, placed) VALUES (5, 'open', 10, 1), (6, 'open', 11, 2), (7, 'open', 12, 3)",
    "INSERT INTO customers(email) VALUES ('user9@example.com') ON CONFLICT(email) DO UPDATE SET country = 'xx'",
    "INSERT INTO products(sku, name) VALUES ('n1', 'n') RETURNING id",
    { sql: "UPDATE products SET stock = stock - 1 WHERE id = ?", params: [4] },
    "UPDATE products SET stock = stock + 1",
    "UPDATE products SET price = 1 WHERE stock > 30",
    "UPDATE orders SET status = 'paid' WHERE customer_id = 8",
    "UPDATE orders SET status = 'shipped' WHERE status = 'open' RETURNING id",
    "UPDATE customers SET country = 'de' WHERE country = 'xx'",
    "DELETE FROM items WHERE order_id = 12 AND line = 0",
    "DELETE FROM items WHERE order_id = 13",
    "DELETE FROM items WHERE quantity = 3",
    "DELETE FROM orders WHERE id = 21",
    "CREATE INDEX orders_status ON orders(status)",
    "SELECT count(*) FROM orders WHERE status = 'paid'",
  ],
};

const forum: CorpusSchema = {
  name: "forum",
  setup: [
    "CREATE TABLE posts(id INTEGER PRIMARY KEY, parent INTEGER, author INTEGER, title TEXT, body TEXT, score INTEGER)",
    "CREATE TABLE authors(id TEXT PRIMARY KEY, name TEXT, karma INTEGER)",
    "CREATE TABLE tags(post_id INTEGER, tag TEXT, PRIMARY KEY (post_id, tag))",
    "CREATE INDEX posts_parent ON posts(parent)",
    "CREATE INDEX tags_tag ON tags(tag)",
    "CREATE INDEX posts_hot ON posts(score) WHERE score > 90",
    "CREATE TABLE history(post_id INTEGER, old INTEGER, new INTEGER)",
    "CREATE TRIGGER posts_scored AFTER UPDATE OF score ON posts BEGIN INSERT INTO history VALUES (old.id, old.score, new.score); END",
    `${
      numbers(3000)
    } INSERT INTO posts SELECT i, CASE WHEN i <= 30 THEN NULL ELSE 1 + i % 300 END, i % 100, 'title ' || i, 'body of post ' || i, i % 101 FROM n`,
    `${numbers(100)} INSERT INTO authors SELECT 'a' || i, 'author ' || i, i * 3 FROM n`,
    `${numbers(6000)} INSERT OR IGNORE INTO tags SELECT 1 + i % 3000, 'tag' || (i % 37) FROM n`,
    "CREATE VIRTUAL TABLE search USING fts5(title, body)",
    "INSERT INTO search(rowid, title, body) SELECT id, title, body FROM posts WHERE id <= 1000",
  ],
  statements: [
    "SELECT * FROM posts WHERE parent = 7",
    "SELECT count(*) FROM posts WHERE parent = 7",
    "SELECT * FROM posts WHERE parent IS NULL",
    "SELECT * FROM posts WHERE score > 95",
    "SELECT * FROM posts ORDER BY score DESC, id LIMIT 10",
    "SELECT p.title, c.title FROM posts p JOIN posts c ON c.parent = p.id WHERE p.id BETWEEN 10 AND 19",
    "SELECT p.id, count(c.id) FROM posts p JOIN posts c ON c.parent = p.id GROUP BY p.id",
    "WITH RECURSIVE thread(id, depth) AS (SELECT 5, 0 UNION ALL SELECT p.id, depth + 1 FROM posts p JOIN thread t ON p.parent = t.id WHERE depth < 3) SELECT id, depth FROM thread",
    "WITH RECURSIVE days(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM days WHERE d < 365) SELECT d FROM days",
    "SELECT * FROM authors WHERE id = 'a7'",
    "SELECT * FROM authors WHERE karma = 30",
    "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY count(*) DESC LIMIT 10",
    "SELECT p.* FROM tags t JOIN posts p ON p.id = t.post_id WHERE t.tag = 'tag5'",
    "SELECT p.* FROM tags t JOIN posts p ON p.id = t.post_id WHERE t.tag = 'tag5' ORDER BY p.score DESC LIMIT 5",
    "SELECT * FROM tags WHERE post_id = 15",
    "SELECT DISTINCT tag FROM tags WHERE post_id < 100",
    "SELECT a.tag, b.tag FROM tags a JOIN tags b ON a.post_id = b.post_id AND a.tag < b.tag WHERE a.post_id = 15",
    "SELECT title FROM posts WHERE parent = 3 OR id = 9",
    "SELECT author, avg(score) FROM posts GROUP BY author",
    "SELECT * FROM posts WHERE title = 'title 250'",
    "SELECT * FROM posts WHERE title = 'title 250' LIMIT 1",
    "SELECT rowid FROM search WHERE search MATCH 'title'",
    "SELECT rowid, title FROM search WHERE search MATCH '250' ORDER BY rank",
    "SELECT * FROM search WHERE rowid = 4",
    "SELECT p.id FROM search s JOIN posts p ON p.id = s.rowid WHERE s.body MATCH 'body' LIMIT 20",
    "SELECT value FROM json_each('[1,2,3,4,5]')",
    "SELECT p.title FROM json_each('[10,20,30]') j JOIN posts p ON p.id = j.value",
    "SELECT id, lag(score) OVER (ORDER BY id) FROM posts WHERE id <= 500",
    "SELECT group_concat(tag) FROM tags WHERE post_id = 15",
    "SELECT id FROM posts EXCEPT SELECT post_id FROM tags",
    "SELECT count(DISTINCT author) FROM posts",
    "SELECT 1",
    "SELECT id FROM posts WHERE id = (SELECT max(id) FROM posts)",
    "UPDATE posts SET score = score + 1 WHERE id = 12",
    "UPDATE posts SET score = score + 1 WHERE parent = 12",
    "UPDATE posts SET parent = 13 WHERE parent = 12",
    "DELETE FROM tags WHERE tag = 'tag9'",
    "INSERT INTO tags SELECT id, 'fresh' FROM posts WHERE score > 90",
    "INSERT INTO history SELECT post_id, new, old FROM history",
    "INSERT OR REPLACE INTO authors VALUES ('a7', 'again', 1)",
    "DELETE FROM history",
    "PRAGMA table_info(posts)",
  ],
};

const metrics: CorpusSchema = {
  name: "metrics",
  setup: [
    "CREATE TABLE samples(device TEXT, at INTEGER, value REAL, PRIMARY KEY (device, at)) WITHOUT ROWID",
    "CREATE TABLE devices(id TEXT PRIMARY KEY, site TEXT, kind TEXT)",
    "CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT, level INTEGER, at INTEGER, note TEXT)",
    "CREATE INDEX events_level_at ON events(level, at)",
    "CREATE INDEX events_at ON events(at)",
    `${numbers(5000)} INSERT INTO samples SELECT 'd' || (i % 25), 1000 + i / 25, i * 0.1 FROM n`,
    `${numbers(25)} INSERT INTO devices SELECT 'd' || (i - 1), 's' || (i % 4), 'k' || (i % 2) FROM n`,
    `${
      numbers(2500)
    } INSERT INTO events(device, level, at, note) SELECT 'd' || (i % 25), i % 6, 1000 + i, 'note ' || i FROM n`,
  ],
  statements: [
    "SELECT * FROM samples WHERE device = 'd3' AND at = 1050",
    "SELECT * FROM samples WHERE device = 'd3' ORDER BY at DESC LIMIT 10",
    "SELECT * FROM samples WHERE device = 'd3' AND at BETWEEN 1050 AND 1099",
    "SELECT avg(value) FROM samples WHERE device = 'd3'",
    "SELECT avg(value) FROM samples WHERE device = 'd3' AND at >= 1100",
    "SELECT device, max(value) FROM samples GROUP BY device",
    "SELECT device, at / 60, avg(value) FROM samples GROUP BY device, at / 60",
    "SELECT d.site, avg(s.value) FROM samples s JOIN devices d ON d.id = s.device GROUP BY d.site",
    "SELECT d.id, (SELECT value FROM samples s WHERE s.device = d.id ORDER BY at DESC LIMIT 1) FROM devices d",
    "SELECT d.id, max(s.at) FROM devices d LEFT JOIN samples s ON s.device = d.id GROUP BY d.id",
    "SELECT * FROM events WHERE level = 5 AND at > 3000",
    "SELECT * FROM events WHERE level = 5 ORDER BY at DESC LIMIT 20",
    "SELECT count(*) FROM events WHERE level >= 4",
    "SELECT * FROM events WHERE at > 3400 ORDER BY at",
    "SELECT * FROM events WHERE note LIKE 'note 12%'",
    "SELECT * FROM events WHERE device = 'd4' AND level = 2",
    "SELECT level, count(*) FROM events GROUP BY level",
    "SELECT min(at), max(at) FROM events",
    "SELECT min(at) FROM events",
    "SELECT e.note, d.site FROM events e JOIN devices d ON d.id = e.device WHERE e.level = 1",
    "SELECT e.note FROM devices d JOIN events e ON e.device = d.id WHERE d.site = 's2'",
    "SELECT * FROM events WHERE id IN (SELECT max(id) FROM events GROUP BY device)",
    "SELECT at, sum(value) OVER (ORDER BY at) FROM samples WHERE device = 'd1'",
    "SELECT count(*) FROM devices a, devices b",
    "SELECT * FROM sqlite_schema",
    "INSERT INTO samples VALUES ('d1', 5000, 1.5)",
    "INSERT INTO samples VALUES ('d1', 5000, 2.5) ON CONFLICT(device, at) DO UPDATE SET value = excluded.value",
    "INSERT INTO events(device, level, at) SELECT device, 3, at FROM samples WHERE device = 'd2'",
    "UPDATE events SET level = 0 WHERE at < 1100",
    "UPDATE events SET note = 'x' WHERE level = 1",
    "UPDATE samples SET value = 0 WHERE device = 'd5'",
    "DELETE FROM events WHERE at < 1200",
    "DELETE FROM events WHERE id > 2400",
    "DELETE FROM samples WHERE device = 'd6' AND at < 1100",
    "DELETE FROM samples",
  ],
};

/** Everything, in the order in which it is to run. */
export const rowsReadCorpus: readonly CorpusSchema[] = [shop, forum, metrics];
