// Statements that fail, sent by @libsql/client to this door and to a real sqld: both answer with the same code and words, but
// for those that are named here.
// @ts-types="./libsql_client.d.ts"
import { type Client, createClient } from "@libsql/client/http";
import { assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";
import { startSqld } from "../testing/sqld.ts";

const TABLES = [
  "CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INT CHECK (age > 0))",
  "CREATE TABLE c (id INTEGER PRIMARY KEY, p_id INT NOT NULL REFERENCES p(id))",
  "CREATE TABLE d (id INTEGER PRIMARY KEY, p_id INT REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)",
  "CREATE TABLE s (n INTEGER, t TEXT) STRICT",
  "CREATE TABLE pair (a, b, UNIQUE (a, b))",
  "CREATE TABLE w (a TEXT PRIMARY KEY) WITHOUT ROWID",
  "CREATE TABLE last (id INTEGER PRIMARY KEY AUTOINCREMENT)",
  "CREATE TABLE g (a INT, b INT GENERATED ALWAYS AS (a * 2))",
  "CREATE VIEW v AS SELECT * FROM p",
  "CREATE INDEX p_age ON p (age)",
  "CREATE TRIGGER raises BEFORE DELETE ON p WHEN old.id = 2 BEGIN SELECT RAISE(ABORT, 'keep it'); END",
  "INSERT INTO p VALUES (1, 'one', 1), (2, 'two', 2)",
  "INSERT INTO c VALUES (1, 1)",
  "INSERT INTO pair VALUES (1, 2)",
  "INSERT INTO w VALUES ('a')",
  "INSERT INTO last VALUES (9223372036854775807)",
];

const ones = (count: number, between: string) => Array(count).fill("1").join(between);

const WRONG: readonly (string | { readonly sql: string; readonly args: unknown })[] = [
  // What no grammar takes.
  ...["SELEC 1", "SELECT", "SELECT 'open", "SELECT * FROM p WHERE (", "CREATE TABLE twice (a, a)"],
  ...["SELECT 1; SELECT 2", "", "-- nothing"],
  // Names that there are not.
  ...["SELECT * FROM missing", "INSERT INTO missing VALUES (1)", "CREATE INDEX i ON missing (a)"],
  ...[
    "DROP TABLE missing",
    "DROP VIEW missing",
    "DROP INDEX missing",
    "DROP TRIGGER missing",
    "DROP TABLE v",
  ],
  ...[
    "ALTER TABLE missing ADD COLUMN a",
    "ALTER TABLE p DROP COLUMN missing",
    "CREATE INDEX i ON p (missing)",
  ],
  ...["SELECT missing FROM p", "SELECT p.missing FROM p", "DELETE FROM p WHERE missing = 1"],
  ...["INSERT INTO p (missing) VALUES (1)", "INSERT INTO p VALUES (3, 'three', 1) RETURNING missing"],
  ...["EXPLAIN SELECT missing", "SELECT id FROM p, c", "SELECT missing(1)", "SELECT 1 COLLATE missing"],
  ...["SELECT * FROM p JOIN c USING (missing)", "SELECT * FROM p INDEXED BY missing", "REINDEX missing"],
  ...["RELEASE missing", "ROLLBACK TO missing", "COMMIT", "ROLLBACK"],
  // Names that there are already.
  ...[
    "CREATE TABLE p (a)",
    "CREATE VIEW p AS SELECT 1",
    "CREATE TABLE v (a)",
    "CREATE INDEX p_age ON p (age)",
  ],
  ...["CREATE INDEX p ON c (id)", "ALTER TABLE c RENAME TO p", "ALTER TABLE p ADD COLUMN name"],
  "CREATE TRIGGER raises AFTER INSERT ON p BEGIN SELECT 1; END",
  // What does not fit together.
  ...["INSERT INTO p VALUES (1)", "INSERT INTO p (id, name) VALUES (1)", "INSERT INTO g VALUES (1, 2)"],
  ...[
    "SELECT abs()",
    "SELECT abs(1, 2)",
    "SELECT count(*) FROM p WHERE count(*) > 1",
    "SELECT (SELECT 1, 2)",
  ],
  ...["SELECT id FROM p UNION SELECT id, name FROM p", "SELECT 1 ORDER BY 5", "SELECT row_number() FROM p"],
  ...["UPDATE g SET b = 1", "INSERT INTO v VALUES (1)", "UPDATE v SET name = 'x'"],
  ...["ALTER TABLE p DROP COLUMN name", "ALTER TABLE p ADD COLUMN must NOT NULL"],
  ...["CREATE TABLE r (a wrong) STRICT", "CREATE TABLE r (a) WITHOUT ROWID"],
  "INSERT INTO p VALUES (1, 'x', 1) ON CONFLICT (age) DO NOTHING",
  "WITH RECURSIVE c(x) AS (SELECT x FROM c) SELECT * FROM c",
  // Constraints.
  ...[
    "INSERT INTO p VALUES (1, 'other', 1)",
    "INSERT INTO p VALUES (3, 'one', 1)",
    "INSERT INTO w VALUES ('a')",
  ],
  ...["INSERT INTO pair VALUES (1, 2)", "CREATE UNIQUE INDEX u ON p (id % 1)", "UPDATE p SET name = NULL"],
  ...["INSERT INTO p VALUES (3, NULL, 1)", "INSERT INTO p VALUES (3, 'three', 0)"],
  ...[
    "INSERT INTO c VALUES (2, 99)",
    "INSERT INTO d VALUES (2, 99)",
    "DELETE FROM p WHERE id = 1",
    "DROP TABLE p",
  ],
  ...["DELETE FROM p WHERE id = 2", "INSERT INTO s VALUES ('text', 't')"],
  "INSERT INTO p VALUES ('text', 'three', 1)",
  // Values, and too much of something.
  ...["SELECT abs(-9223372036854775808)", "SELECT sum(9223372036854775807) FROM p", "SELECT json('{')"],
  ...["SELECT json_extract('{}', 'bad')", "SELECT 'a' LIKE 'b' ESCAPE 'cc'", "SELECT 1 WHERE 'a' MATCH 'b'"],
  ...["SELECT length(zeroblob(3000000000))", `SELECT ${ones(2100, ", ")}`, `SELECT ${ones(2000, "+")}`],
  `SELECT max(${ones(300, ", ")})`,
  { sql: "SELECT ?", args: [] },
  { sql: "SELECT ?", args: [1, 2] },
  { sql: "SELECT :a", args: { b: 1 } },
];

/** Codes of sqld and of this door, where they differ. */
const DIFFERENT: Readonly<Record<string, readonly [sqld: string, here: string]>> = {
  // SQLite says so of a full disk.
  "INSERT INTO last DEFAULT VALUES": ["SQLITE_FULL", "SQLITE_UNKNOWN"],
  // sqld does not say where it is.
  "UPDATE p SET missing = 1": ["SQLITE_UNKNOWN", "SQL_INPUT_ERROR"],
  // No role may do that.
  "CREATE TABLE sqlite_own (a)": ["SQLITE_UNKNOWN", "STATEMENT_REFUSED"],
  "UPDATE sqlite_schema SET sql = ''": ["SQLITE_UNKNOWN", "STATEMENT_REFUSED"],
  "CREATE VIRTUAL TABLE x USING missing": ["SQLITE_UNKNOWN", "STATEMENT_REFUSED"],
  "PRAGMA missing": ["SQL_PARSE_ERROR", "STATEMENT_REFUSED"],
  // What sqld's own grammar does not take.
  "ANALYZE missing": ["SQL_PARSE_ERROR", "SQLITE_UNKNOWN"],
  "SELECT name FROM p HAVING 1": ["SQL_PARSE_ERROR", "SQLITE_UNKNOWN"],
  // A function of its own.
  "SELECT 'a' REGEXP 'b'": ["ok", "SQL_INPUT_ERROR"],
};

/** The words of both in front of messages that are each one's own. */
const OWN_WORDS =
  /(?<=^SQL_PARSE_ERROR: SQL string could not be parsed: ).+$|(?<=^(?:ARGS_INVALID|SQL_\w+_STATEMENTS?): ).+$/;

async function failure(client: Client, statement: typeof WRONG[number]) {
  try {
    await client.execute(statement);
    return { code: "ok", message: "" };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { message } = error;
    const told = message.replace(/ \(at offset \d+\)$/, "").replace(OWN_WORDS, "…");
    return { code: String(Reflect.get(error, "code")), message: told };
  }
}

Deno.test("a statement that fails is told in sqld's words", async (t) => {
  await using app = await startApp();
  const { token } = await app.namespace("acme");
  const sqld = await startSqld();
  if (sqld === null) return;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  const here = createClient({
    url: `http://127.0.0.1:${server.addr.port}/hrana/acme/main/`,
    authToken: token,
  });
  const there = createClient({ url: sqld.url, authToken: "" });
  for (const sql of TABLES) await Promise.all([here, there].map((client) => client.execute(sql)));
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });

  await step("with the same code and message", async () => {
    for (const statement of WRONG) {
      assertEquals(
        await failure(here, statement),
        await failure(there, statement),
        JSON.stringify(statement),
      );
    }
  });

  await step("apart from those that differ for a reason", async () => {
    for (const [sql, codes] of Object.entries(DIFFERENT)) {
      const told = [(await failure(there, sql)).code, (await failure(here, sql)).code];
      assertEquals(told, [...codes], sql);
    }
  });

  for (const client of [here, there]) client.close();
  await server.shutdown();
  await sqld.stop();
});
