// A large schema in memory: made without reading the engine's catalogue again and again, and the same as if made text by text.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { MemoryConnection } from "../../lib/engine/memory_connection.ts";
import { makeSchema, type SchemaTarget } from "../../lib/engine/make_schema.ts";
import { gateEngine } from "../../lib/tenant/remote/gate/gate_engine.ts";

const OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";

/** Objects of every kind, each far from what it stands on. */
function texts(): string[] {
  const tables = Array.from(
    { length: 700 },
    (_, at) =>
      `CREATE TABLE t${at} (id INTEGER PRIMARY KEY${
        at % 7 ? "" : " AUTOINCREMENT"
      }, v TEXT UNIQUE, p REFERENCES t0)`,
  );
  return [
    ...tables,
    "CREATE VIRTUAL TABLE words USING fts5(body)",
    "CREATE VIRTUAL TABLE places USING rtree(id, x0, x1)",
    ...Array.from({ length: 300 }, (_, at) => `CREATE INDEX i${at} ON t${699 - at} (p, v)`),
    "CREATE VIEW both AS SELECT a.v FROM t1 AS a JOIN t699 AS b ON a.id = b.p",
    "CREATE TRIGGER noted AFTER INSERT ON t3 BEGIN INSERT INTO words (body) VALUES (new.v); END",
  ];
}

function made(target: SchemaTarget, statements = texts()): unknown[] {
  const failures: unknown[] = [];
  makeSchema(target, statements, (error) => failures.push(error));
  return failures;
}

/** Made as it was before, one text after the other. */
function plainly(): MemoryConnection {
  const connection = new MemoryConnection();
  for (const text of texts()) connection.exec(text);
  return connection;
}

Deno.test("a text is never run over a catalogue of all texts before it", () => {
  let most = 0;
  class Counting extends MemoryConnection {
    override exec(sql: string): void {
      super.exec(sql);
      if (sql.startsWith("CREATE")) {
        most = Math.max(most, Number(this.internalRow("SELECT count(*) FROM sqlite_schema")?.[0]));
      }
    }
  }
  const connection = new Counting();
  try {
    assertEquals(made(connection), []);
    assert(most < 600, `${most} rows`); // 256 texts, each with the index of its key
  } finally {
    connection.close();
  }
});

for (const engine of ["node", "wasm"] as const) {
  Deno.test(`a schema of more than a thousand objects is whole and can be changed (${engine})`, async () => {
    const connection = (await gateEngine(engine, []))();
    const expected = plainly();
    try {
      assertEquals(made(connection), []);
      assertEquals(connection.internalRows(OBJECTS), expected.internalRows(OBJECTS));
      assertEquals(connection.internalRows("PRAGMA integrity_check"), [["ok"]]);
      connection.change("ALTER TABLE t1 RENAME TO first");
      connection.change("ALTER TABLE t3 DROP COLUMN p");
      connection.change("DROP TABLE t699");
      connection.change("CREATE INDEX one_more ON t2 (v)");
      assertEquals(connection.internalRows("SELECT sql FROM sqlite_schema WHERE name = 'both'"), [[
        'CREATE VIEW both AS SELECT a.v FROM "first" AS a JOIN t699 AS b ON a.id = b.p',
      ]]);
      assertEquals(connection.internalRows("PRAGMA integrity_check"), [["ok"]]);
      assertThrows(() => connection.exec("PRAGMA writable_schema=ON; DELETE FROM sqlite_schema"));
    } finally {
      connection.close();
      expected.close();
    }
  });

  Deno.test(`what this engine cannot read is left out, and all others are there (${engine})`, async () => {
    const connection = (await gateEngine(engine, []))();
    const expected = plainly();
    try {
      const all = texts();
      const unreadable = [
        "CREATE TABLE odd (a) OF ANOTHER KIND",
        "CREATE VIRTUAL TABLE gone USING fts5(a, b=c)",
      ];
      const failures = made(connection, [...all.slice(0, 600), ...unreadable, ...all.slice(600)]);
      assertEquals(failures.length, 2);
      assertEquals(connection.internalRows(OBJECTS), expected.internalRows(OBJECTS));
    } finally {
      connection.close();
      expected.close();
    }
  });
}
