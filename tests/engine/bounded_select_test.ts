// The forms in which reads run give the rows of the statement itself, in its order, or end at a bound.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { BoundedRows } from "../../lib/engine/bounded_rows.ts";
import { Connection } from "../../lib/engine/connection.ts";
import { jsonValue } from "../../lib/engine/result_json.ts";
import { PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";
import { rowsReadCorpus } from "./rows_read_corpus.ts";

const WIDE = { maxRows: 1_000_000, maxBytes: 100_000_000 };
const READS = /^\s*(?:SELECT|VALUES|WITH(?!.*\b(?:INSERT|UPDATE|DELETE)\b))/is;

/** The statement by itself, without a bound. */
function plainRows(connection: Connection, sql: string, params: readonly (string | number)[]): unknown {
  const statement = connection.database.prepare(sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const values = params.map((value) => typeof value === "number" ? BigInt(value) : value);
  return statement.all(...values).map((row) =>
    Array.isArray(row) ? row.map((value) => jsonValue(value, PLAIN_ROWS)) : []
  );
}

async function withConnection(body: (connection: Connection) => void): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".db" });
  const connection = new Connection(path);
  try {
    body(connection);
  } finally {
    connection.close();
    await Deno.remove(path);
  }
}

for (const { name, setup, statements } of rowsReadCorpus) {
  Deno.test(`reads of the corpus (${name}) have the rows of the statement itself, the first time and the next`, async () => {
    await withConnection((connection) => {
      for (const sql of setup) connection.database.exec(sql);
      for (const one of statements) {
        const { sql, params } = typeof one === "string" ? { sql: one, params: [] } : one;
        if (!READS.test(sql) || /random\(/.test(sql)) {
          connection.run("schema", sql, params, WIDE, PLAIN_ROWS);
          continue;
        }
        const expected = plainRows(connection, sql, params);
        for (const time of ["first", "next"]) {
          const { json } = connection.run("read", sql, params, WIDE, PLAIN_ROWS);
          assertEquals(JSON.parse(`${json}}`).rows, expected, `${time}: ${sql}`);
        }
      }
    });
  });
}

Deno.test("order, names, kinds of values and ends of texts stay as they are", async () => {
  await withConnection((connection) => {
    connection.database.exec(
      "CREATE TABLE t(a INTEGER, b TEXT COLLATE NOCASE, c REAL, d BLOB, e);" +
        "INSERT INTO t VALUES (1,'b',2,x'00',3.0),(2,'A',1e300,NULL,'3'),(NULL,'c',-0.5,x'',9007199254740993)",
    );
    const statements = [
      "SELECT * FROM t ORDER BY b DESC",
      "SELECT a, a, b AS a FROM t ORDER BY c; -- the end",
      "SELECT b FROM t UNION SELECT 'z' UNION ALL SELECT 'a' ORDER BY 1 DESC /* open",
      "WITH t(a) AS (VALUES (3),(1)) SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 1;",
      "VALUES (1,'x'),(2,NULL)",
      "VALUES (1,'x'),(2,NULL) UNION SELECT 3, b FROM t UNION SELECT 4, 'B' ORDER BY 2",
      "VALUES (1,'a'),(1,'C') UNION SELECT 1, b FROM t",
      "SELECT typeof(e), e, typeof(c), c, typeof(d) FROM t ORDER BY rowid DESC LIMIT 2",
      "SELECT b, count(*) FROM t GROUP BY b HAVING count(*) > 0 ORDER BY count(*), b",
      `SELECT ${Array.from({ length: 900 }, (_, n) => n)}`,
      "SELECT a, row_number() OVER (ORDER BY c) FROM t ORDER BY c DESC",
      "SELECT a FROM t WHERE b LIKE '%b%' ORDER BY abs(a) DESC",
    ];
    for (const sql of statements) {
      const expected = plainRows(connection, sql, []);
      for (let time = 0; time < 2; time++) {
        const { json } = connection.run("read", sql, [], WIDE, PLAIN_ROWS);
        assertEquals(JSON.parse(`${json}}`).rows, expected, sql);
      }
    }
  });
});

Deno.test("statements are read as SQLite cuts them into words, and end at their bounds however they are written", async () => {
  await withConnection((connection) => {
    const names = ["t", "t\u00a0", "t\u2028", "t\ufeff", "t😀"];
    for (const name of names) {
      connection.database.exec(`CREATE TABLE "${name}"(a); INSERT INTO "${name}" VALUES ('${name}')`);
    }
    for (const name of names) {
      for (
        const sql of [
          `SELECT a FROM ${name}`,
          `;SELECT a FROM ${name} ; -- end`,
          `\ufeffSELECT a FROM ${name}`,
        ]
      ) {
        const { json } = connection.run("read", sql, [], WIDE, PLAIN_ROWS);
        assertEquals(JSON.parse(`${json}}`).rows, [[name]], sql);
      }
    }
    const many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 300000)";
    const texts = "SELECT CAST(1 AS INTEGER) AS x UNION ALL SELECT * FROM (SELECT printf('%01000d', 1) FROM";
    const large = [
      `; ${many} SELECT zeroblob(300) FROM c`,
      `/* ${"x".repeat(999_800)} */ ${many} SELECT zeroblob(300) FROM c`,
      `${texts} (${many} SELECT x FROM c))`,
      `${many} SELECT ${Array.from({ length: 500 }, () => "x")} FROM c`,
    ];
    const bounds = { maxRows: 100_000, maxBytes: 1_000_000 };
    const bounded = new BoundedRows(connection.database, connection.guard);
    for (const sql of large) {
      const columns = connection.database.prepare(sql).columns().map(({ name }) => name);
      const forms = bounded.formsOf({ sql, columns, forms: undefined, known: null }, bounds);
      assert(forms, sql.slice(0, 100));
      const rowCount = () => bounded.read(forms, [], bounds, false).length;
      if (columns.length === 1) assertThrows(rowCount, /more than 1000000 bytes/);
      else assert(rowCount() < 2000);
    }
  });
});

Deno.test("a failing row is an error and never the end of a result", async () => {
  await withConnection((connection) => {
    const failing =
      "SELECT CASE column1 WHEN 2 THEN abs(-9223372036854775808) ELSE column1 END FROM (VALUES (1),(2))";
    for (let time = 0; time < 2; time++) {
      assertThrows(() => connection.run("read", failing, [], WIDE, PLAIN_ROWS), /integer overflow/);
    }
    const bounds = { maxRows: 10, maxBytes: 1000 };
    const large = "SELECT hex(zeroblob(300)) FROM (VALUES (1),(2),(3))";
    assertThrows(() => connection.run("read", large, [], bounds, PLAIN_ROWS), /more than 1000 bytes/);
    assertThrows(
      () => connection.run("read", "SELECT _service_meta_result_bytes(1)", [], WIDE, PLAIN_ROWS),
      /RESULT|authorized|denied|prohibited|bytes/i,
    );
  });
});
