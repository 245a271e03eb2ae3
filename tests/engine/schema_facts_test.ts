// Which databases share what is known of statements: those with the very same schema, and nobody else.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { Connection } from "../../lib/engine/connection.ts";
import { type SchemaFacts, schemaFacts } from "../../lib/engine/schema_facts.ts";
import { PLAIN_ROWS } from "../../lib/sql/words/row_form.ts";

const BASE = [
  "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner INTEGER REFERENCES users)",
  "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)",
  "CREATE INDEX by_name ON items(name)",
  "CREATE INDEX by_owner ON items(owner)",
  "CREATE VIEW named AS SELECT id, name FROM items",
  "CREATE TRIGGER noted AFTER INSERT ON items BEGIN UPDATE users SET name = 'x' WHERE id = new.owner; END",
];

const replaced = (at: number, sql: string) => BASE.map((one, index) => index === at ? sql : one);

/** Each differs from `BASE` in one thing. */
const ALMOST: Readonly<Record<string, readonly string[]>> = {
  "another type": replaced(1, "CREATE TABLE users (id INTEGER PRIMARY KEY, name INTEGER)"),
  "another collation": replaced(1, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)"),
  "another column": replaced(1, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age)"),
  "another spelling": replaced(1, "CREATE TABLE users (id INTEGER PRIMARY KEY, Name TEXT)"),
  "a space more": replaced(1, "CREATE TABLE users (id INTEGER  PRIMARY KEY, name TEXT)"),
  "no rowids": replaced(1, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID"),
  "another reference": replaced(
    0,
    BASE[0]?.replace("REFERENCES users", "REFERENCES users ON DELETE CASCADE") ?? "",
  ),
  "a unique index": replaced(2, "CREATE UNIQUE INDEX by_name ON items(name)"),
  "a partial index": replaced(2, "CREATE INDEX by_name ON items(name) WHERE owner > 1"),
  "an index less": BASE.filter((_, at) => at !== 3),
  "indexes in another order": [BASE[0], BASE[1], BASE[3], BASE[2], BASE[4], BASE[5]].map(String),
  "another view": replaced(4, "CREATE VIEW named AS SELECT id, name FROM users"),
  "another trigger": replaced(5, BASE[5]?.replace("'x'", "'y'") ?? ""),
  "a trigger on another table": replaced(
    5,
    BASE[5]?.replace("ON items", "ON users").replace("new.owner", "1") ?? "",
  ),
  "nothing": [],
};

async function withDatabases(
  schemas: readonly (readonly string[])[],
  body: (connections: readonly Connection[]) => void,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_facts_" });
  const connections: Connection[] = [];
  try {
    for (const [at, schema] of schemas.entries()) {
      const path = `${folder}/${at}.db`;
      const maker = new DatabaseSync(path);
      for (const sql of schema) maker.exec(sql);
      maker.close();
      connections.push(new Connection(path, { readOnly: true }));
    }
    body(connections);
  } finally {
    for (const connection of connections) connection.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The rows of a read and what it read, as a group of reads runs it. */
function read(
  connection: Connection,
  sql: string,
): { columns: string[]; rows: unknown[][]; rowsRead: number } {
  connection.internalRun("BEGIN");
  connection.facts = schemaFacts(connection);
  try {
    const { json, rowCount } = connection.run(
      "read",
      sql,
      [],
      { maxRows: 100, maxBytes: 10_000 },
      PLAIN_ROWS,
    );
    return { ...JSON.parse(`${json}}`), rowsRead: connection.rowsRead(sql, rowCount, 0) };
  } finally {
    connection.facts = null;
    connection.internalRun("COMMIT");
  }
}

Deno.test("databases with the very same schema share facts, whatever rows they have", async () => {
  await withDatabases([BASE, [...BASE, "INSERT INTO users VALUES (1, 'Ada')"]], ([first, second]) => {
    assert(first && second);
    const facts = schemaFacts(first);
    assert(facts);
    assert(schemaFacts(second) === facts);
  });
});

Deno.test("databases with almost the same schema share nothing", async () => {
  const names = Object.keys(ALMOST);
  await withDatabases([BASE, ...Object.values(ALMOST)], (connections) => {
    const all = connections.map((connection) => schemaFacts(connection));
    const apart = new Set<SchemaFacts | null>(all);
    assertEquals(apart.size, names.length + 1, "two of them share facts");
    assert(!apart.has(null));
  });
});

Deno.test("schemas with virtual tables, statistics or text that is no text share nothing at all", async () => {
  const closed = [
    [...BASE, "CREATE VIRTUAL TABLE texts USING fts5(body)"],
    [...BASE, "INSERT INTO items VALUES (1, 'a', NULL)", "ANALYZE"],
    [...BASE, "CREATE TABLE long (a DEFAULT '" + "x".repeat(70_000) + "')"],
    [...BASE, "CREATE TABLE replaced (a DEFAULT '\ufffd')"],
  ];
  await withDatabases(closed, (connections) => {
    assertEquals(connections.map((connection) => schemaFacts(connection)), closed.map(() => null));
  });
});

Deno.test("what was learned in one database answers in another one with its own rows and numbers", async () => {
  const rows = (count: number) => [
    ...BASE,
    `INSERT INTO users WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) ` +
    "SELECT i, 'user ' || i FROM n",
  ];
  await withDatabases([rows(3), rows(50), rows(1)], (connections) => {
    const scan = "SELECT count(*) AS n FROM users WHERE name > ''";
    for (let round = 0; round < 3; round++) {
      const answers = connections.map((connection) => read(connection, scan));
      const figures = answers.map(({ rows: [row], rowsRead }) => [row, rowsRead]);
      assertEquals(figures, [[[3], 3], [[50], 50], [[1], 1]]);
      const found = connections.map((connection) => read(connection, "SELECT name FROM users WHERE id = 40"));
      assertEquals(found.map((one) => one.rows), [[], [["user 40"]], []]);
      assertEquals(found.map((one) => one.rowsRead), [1, 1, 1]);
    }
  });
});

Deno.test("the same text has in almost the same schemas what each of them says", async () => {
  const wide = replaced(1, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age)");
  const keyless = ["CREATE TABLE users (id, name)"];
  const seed = "INSERT INTO users (id, name) VALUES (1, 'Ada'), (2, 'Bo')";
  await withDatabases([[...BASE, seed], [...wide, seed], [...keyless, seed]], (connections) => {
    for (let round = 0; round < 3; round++) {
      const answers = connections.map((connection) => read(connection, "SELECT * FROM users WHERE id = 1"));
      assertEquals(answers.map((one) => one.columns.length), [2, 3, 2]);
      assertEquals(answers.map((one) => one.rowsRead), [1, 1, 2]);
    }
  });
});

Deno.test("a read that is known from another database is bounded as every other one", async () => {
  const long = (text: string) => [...BASE, `INSERT INTO users VALUES (1, ${text}), (2, ${text})`];
  await withDatabases([long("'short'"), long("hex(zeroblob(20000))")], ([short, large]) => {
    assert(short && large);
    for (const sql of ["SELECT name FROM users", "SELECT name FROM users WHERE id = 1"]) {
      for (let round = 0; round < 3; round++) read(short, sql);
      let message = "";
      try {
        read(large, sql);
      } catch (error) {
        message = String(error);
      }
      assert(/more than 10000 bytes/.test(message), message);
    }
  });
});

Deno.test("a change of the schema has facts of its own, and a read sees it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_facts_" });
  const writer = new DatabaseSync(`${folder}/a.db`);
  for (const sql of BASE) writer.exec(sql);
  const reader = new Connection(`${folder}/a.db`, { readOnly: true });
  try {
    const before = schemaFacts(reader);
    assertEquals(read(reader, "SELECT * FROM named").columns, ["id", "name"]);
    writer.exec("DROP VIEW named; CREATE VIEW named AS SELECT id, name, owner FROM items");
    reader.schemaChanged();
    assert(schemaFacts(reader) !== before);
    assertEquals(read(reader, "SELECT * FROM named").columns, ["id", "name", "owner"]);
  } finally {
    reader.close();
    writer.close();
    await Deno.remove(folder, { recursive: true });
  }
});
