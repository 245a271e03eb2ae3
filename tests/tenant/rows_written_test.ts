// Rows written as the service counts and bills them, beside the counter of a real sqld: equal but for what is named here.
import { assert, assertEquals } from "@std/assert";
import { startSqld } from "../testing/sqld.ts";
import { startApp } from "../testing/start_app.ts";

/** What sqld counts beyond the rows of the tenant's tables, and the service does not. */
type Beyond =
  /** Rows of the engine's catalogue. */
  | { readonly catalogue: number }
  /** An entry of each index of a row counts as a row. */
  | { readonly entries: number }
  /** Of a virtual table: below zero, for the service counts the rows that the module writes into its own tables. */
  | { readonly module: "some" };

const NUMBERS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100) SELECT n, n * 2";

/** In this order on one database; `null`: both count the same. */
const CORPUS: readonly (readonly [sql: string, beyond: Beyond | null])[] = [
  ["CREATE TABLE plain (a INTEGER, b INTEGER)", { catalogue: 2 }],
  [`INSERT INTO plain ${NUMBERS} FROM c`, null],
  ["CREATE TABLE keyed (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)", { catalogue: 2 }],
  ["CREATE TABLE unique_name (name TEXT UNIQUE)", { catalogue: 3 }],
  ["CREATE TABLE no_rowid (k TEXT PRIMARY KEY, v) WITHOUT ROWID", { catalogue: 2 }],
  [`INSERT INTO keyed (name, size) SELECT 'n' || a, b FROM plain`, null],
  ["INSERT INTO unique_name SELECT name FROM keyed", { entries: 100 }],
  ["INSERT INTO no_rowid SELECT name, 1 FROM keyed", null],
  ["CREATE TABLE copied AS SELECT * FROM keyed", { catalogue: 2 }],
  ["CREATE TABLE few AS SELECT * FROM keyed WHERE size < 20", { catalogue: 2 }],
  ["CREATE TABLE nobody AS SELECT * FROM keyed WHERE 0", { catalogue: 2 }],
  ["CREATE TABLE IF NOT EXISTS few AS SELECT 1", null],
  ["CREATE INDEX keyed_name ON keyed (name)", { catalogue: 1 }],
  ["CREATE UNIQUE INDEX keyed_size ON keyed (size)", { catalogue: 1 }],
  ["CREATE INDEX keyed_some ON keyed (name) WHERE size > 150", { catalogue: 1 }],
  ["CREATE INDEX IF NOT EXISTS keyed_name ON keyed (size)", null],
  ["CREATE INDEX no_rowid_v ON no_rowid (v)", { catalogue: 1 }],
  ["REINDEX keyed_some", null],
  ["REINDEX keyed", null],
  ["REINDEX no_rowid", null],
  ["REINDEX unique_name", null],
  ["INSERT INTO keyed (name, size) VALUES ('x', 1000)", { entries: 3 }],
  ["UPDATE plain SET a = a + 1", null],
  ["UPDATE plain SET a = a WHERE b > 100", null],
  ["UPDATE keyed SET name = name || '!' WHERE size <= 20", { entries: 10 }],
  ["REPLACE INTO copied SELECT * FROM few", null],
  ["INSERT OR IGNORE INTO keyed (id, name) VALUES (1, 'y')", null],
  ["INSERT INTO keyed (id, name) VALUES (2, 'z') ON CONFLICT DO UPDATE SET size = 7000", { entries: 2 }],
  ["DELETE FROM copied WHERE size > 100", null],
  ["DELETE FROM copied", null],
  ["ALTER TABLE few ADD COLUMN more DEFAULT 3", { catalogue: 1 }],
  ["ALTER TABLE few ADD COLUMN twice AS (size * 2)", { catalogue: 1 }],
  ["CREATE VIEW big AS SELECT * FROM keyed WHERE size > 100", { catalogue: 2 }],
  ["CREATE TABLE log (m)", { catalogue: 2 }],
  [
    "CREATE TRIGGER noted AFTER INSERT ON plain BEGIN INSERT INTO log VALUES (new.a); UPDATE log SET m = m; END",
    { catalogue: 1 },
  ],
  ["INSERT INTO plain VALUES (1, 1), (2, 2), (3, 3)", null],
  ["CREATE TABLE parents (id INTEGER PRIMARY KEY)", { catalogue: 2 }],
  ["CREATE TABLE kids (parent REFERENCES parents ON DELETE CASCADE)", { catalogue: 2 }],
  ["INSERT INTO parents VALUES (1), (2)", null],
  ["INSERT INTO kids VALUES (1), (1), (2)", null],
  ["DELETE FROM parents WHERE id = 1", null],
  ["CREATE VIRTUAL TABLE words USING fts5(x)", { module: "some" }],
  ["INSERT INTO words SELECT name FROM keyed", { module: "some" }],
  ["INSERT INTO words(words) VALUES ('optimize')", { module: "some" }],
  ["CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1)", { catalogue: 1 }],
  ["INSERT INTO boxes SELECT a, a, b FROM plain GROUP BY a", { module: "some" }],
  ["DROP INDEX keyed_name", null],
  ["DROP TABLE keyed", null],
  ["DROP VIEW IF EXISTS big", null],
];

/** What sqld counts of it depends on how many objects the catalogue has. */
const REWRITES: readonly (readonly [sql: string, rows: number])[] = [
  ["ALTER TABLE few RENAME COLUMN more TO other", 0],
  ["ALTER TABLE few DROP COLUMN twice", 0],
  ["ALTER TABLE few DROP COLUMN other", 9],
  ["ALTER TABLE few RENAME TO several", 0],
];

/** Rows of the catalogue that one of those may rewrite here. */
const MAX_REWRITTEN = 80;

Deno.test("rows written are those that sqld counts, but for its catalogue, index entries and virtual tables", async () => {
  const sqld = await startSqld();
  if (!sqld) return;
  try {
    await using app = await startApp({ settings: { TENANTS_URL: "file:" } });
    const shop = await app.namespace();
    const written = async (sql: string) => {
      const { status, body, text } = await shop.query(sql);
      assertEquals(status, 200, `${sql}: ${text}`);
      return body.meta?.rowsWritten ?? -1;
    };
    await countedBySqld(sqld.url, "PRAGMA foreign_keys=on");
    for (const [sql, beyond] of CORPUS) {
      const [theirs, ours] = [await countedBySqld(sqld.url, sql), await written(sql)];
      if (beyond && "module" in beyond) assert(ours >= theirs - 2, `${sql}: ${ours} for ${theirs}`);
      else {
        const more = beyond === null ? 0 : "catalogue" in beyond ? beyond.catalogue : beyond.entries;
        assertEquals(ours + more, theirs, sql);
      }
    }
    for (const [sql, rows] of REWRITES) {
      const [theirs, ours] = [await countedBySqld(sqld.url, sql), await written(sql)];
      assertEquals(ours, rows, sql);
      assert(theirs > ours && theirs <= ours + MAX_REWRITTEN, `${sql}: ${ours} for ${theirs}`);
    }
  } finally {
    await sqld.stop();
  }
});

/** `rows_written` of the statement's own result. */
async function countedBySqld(url: string, sql: string): Promise<number> {
  const settings = { type: "execute", stmt: { sql: "PRAGMA foreign_keys=on" } };
  const requests = [settings, { type: "execute", stmt: { sql } }, { type: "close" }];
  const answer = await fetch(`${url}/v3/pipeline`, { method: "POST", body: JSON.stringify({ requests }) });
  const text = await answer.text();
  const counted = JSON.parse(text).results[1].response?.result.rows_written;
  assert(typeof counted === "number", `${sql}: ${text}`);
  return counted;
}
