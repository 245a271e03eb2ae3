// The rows-read estimate against the counter of a real sqld, and its own promises.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../lib/core/clock.ts";
import { RowsReadEstimates } from "../../lib/engine/rows_read/rows_read.ts";
import { TableCounts } from "../../lib/engine/rows_read/table_counts.ts";
import { startSqld } from "../testing/sqld.ts";
import { type CorpusSchema, type CorpusStatement, rowsReadCorpus } from "./rows_read_corpus.ts";

/** Of a comparison the figures are worth seeing also when it passes. */
function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

interface Comparison {
  readonly sql: string;
  readonly estimated: number;
  readonly counted: number;
  readonly returned: number;
}

Deno.test("the rows-read estimate agrees with sqld on at least 80 % of the corpus", async () => {
  const sqld = await startSqld();
  if (!sqld) return;
  using database = new DatabaseSync(":memory:");
  try {
    const all: Comparison[] = [];
    for (const schema of rowsReadCorpus) {
      all.push(...await compare(schema, database, sqld.url));
    }
    const misses = all.filter((one) => !within(one));
    for (const miss of misses) {
      print(`  ${miss.estimated} for ${miss.counted}: ${miss.sql}`);
    }
    const share = 1 - misses.length / all.length;
    print(`  ${all.length} statements, ${(100 * share).toFixed(1)} % within max(3, 25 %) of sqld`);
    assert(all.length >= 152);
    assert(share >= 0.8, `only ${(100 * share).toFixed(1)} % are near`);
    for (
      const one of all.filter((one) => /\bFROM [a-z]/.test(one.sql) && !one.sql.startsWith("WITH RECURSIVE"))
    ) {
      assert(
        one.estimated >= one.returned || !one.sql.startsWith("SELECT"),
        `less than was returned: ${one.sql}`,
      );
    }
  } finally {
    await sqld.stop();
  }
});

interface Estimator {
  rowsRead(sql: string, rowsReturned: number, rowsWritten: number): number;
  schemaChanged(): void;
}

function estimatorOf(database: DatabaseSync): Estimator {
  const on = { database, counts: new TableCounts(database, systemClock) };
  let estimates = new RowsReadEstimates();
  return {
    schemaChanged: () => {
      estimates = new RowsReadEstimates();
      on.counts.forget();
    },
    rowsRead: (sql, rowsReturned, rowsWritten) => estimates.rowsRead(on, { sql, rowsReturned, rowsWritten }),
  };
}

function shopDatabase(): { database: DatabaseSync; estimator: Estimator } {
  const database = new DatabaseSync(":memory:");
  for (const sql of rowsReadCorpus[0]?.setup ?? []) database.exec(sql);
  return { database, estimator: estimatorOf(database) };
}

Deno.test("a look-up by key reads one row, found or not, and a plain insert none", () => {
  const { database, estimator } = shopDatabase();
  using _open = database;
  assertEquals(estimator.rowsRead("SELECT * FROM customers WHERE id = ?", 1, 0), 1);
  assertEquals(estimator.rowsRead("SELECT * FROM customers WHERE id = ?", 0, 0), 1);
  assertEquals(estimator.rowsRead("SELECT 1", 1, 0), 0);
  assertEquals(estimator.rowsRead("INSERT INTO customers(email) VALUES (?)", 0, 1), 0);
});

Deno.test("a scan is counted with the rows that the table has now, not had before", () => {
  const { database, estimator } = shopDatabase();
  using _open = database;
  const sql = "SELECT * FROM products WHERE name LIKE '%7'";
  assertEquals(estimator.rowsRead(sql, 30, 0), 300);
  database.exec("INSERT INTO products(sku) VALUES ('a'), ('b')");
  assertEquals(estimator.rowsRead(sql, 30, 0), 302);
});

Deno.test("names made to look like a plan, comments and unfinished text do not lower an estimate", () => {
  const { database, estimator } = shopDatabase();
  using _open = database;
  database.exec('CREATE TABLE "p USING INTEGER PRIMARY KEY (rowid=?)"(a)');
  database.exec('INSERT INTO "p USING INTEGER PRIMARY KEY (rowid=?)" SELECT id FROM customers');
  estimator.schemaChanged();
  const disguised = 'SELECT a FROM "p USING INTEGER PRIMARY KEY (rowid=?)" WHERE a <> 1';
  assertEquals(estimator.rowsRead(disguised, 999, 0), 1000);
  const aliased =
    'SELECT total FROM orders AS "customers USING INTEGER PRIMARY KEY (rowid=?)" WHERE total = 1';
  assertEquals(estimator.rowsRead(aliased, 8, 0), 4000);
  assertEquals(
    estimator.rowsRead("SELECT /* LIMIT 1 */ * FROM orders -- LIMIT 1\nWHERE total = 1", 8, 0),
    4000,
  );
  for (
    const sql of [
      "",
      "SELECT (",
      "'",
      "/*",
      "WITH",
      "SELECT * FROM missing",
      "CREATE INDEX",
      "ALTER TABLE DROP",
    ]
  ) {
    assert(estimator.rowsRead(sql, 0, 0) >= 0);
  }
});

function within({ estimated, counted }: Comparison): boolean {
  return Math.abs(estimated - counted) <= Math.max(3, counted / 4);
}

/** The schemas' names do not overlap: one database on either side holds them all. */
async function compare(schema: CorpusSchema, database: DatabaseSync, url: string): Promise<Comparison[]> {
  for (const sql of schema.setup) {
    database.exec(sql);
    await onSqld(url, sql);
  }
  const estimator = estimatorOf(database);
  const results: Comparison[] = [];
  for (const statement of schema.statements) {
    const { sql, params } = typeof statement === "string" ? { sql: statement, params: [] } : statement;
    const before = changes(database);
    const returned = database.prepare(sql).all(...params).length;
    const written = changes(database) - before;
    if (/^(CREATE|DROP|ALTER)/.test(sql)) estimator.schemaChanged();
    const estimated = estimator.rowsRead(sql, returned, written);
    results.push({ sql, estimated, counted: await onSqld(url, statement), returned });
  }
  return results;
}

function changes(database: DatabaseSync): number {
  return Number(database.prepare("SELECT total_changes() AS n").get()?.["n"]);
}

async function onSqld(url: string, statement: CorpusStatement): Promise<number> {
  const { sql, params } = typeof statement === "string" ? { sql: statement, params: [] } : statement;
  const args = params.map((value) =>
    typeof value === "number" ? { type: "integer", value: String(value) } : { type: "text", value }
  );
  const response = await fetch(`${url}/v2/pipeline`, {
    method: "POST",
    body: JSON.stringify({ requests: [{ type: "execute", stmt: { sql, args } }, { type: "close" }] }),
  });
  const [answer] = (await response.json()).results;
  if (answer.type === "error") throw new Error(`${answer.error.message}: ${sql}`);
  return answer.response.result.rows_read ?? 0;
}
