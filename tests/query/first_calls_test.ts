// The first call of a database that this process knows nothing of: what its statements are is taken from another database of
// the same schema, and from no other one.
import { assert, assertEquals } from "@std/assert";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { NO_SNAPSHOT } from "../testing/call_api.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf, type TestDatabase } from "../testing/test_namespace.ts";

const ITEMS = "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)";
const READ = "SELECT name FROM items WHERE id = ?";
const ALL = "SELECT name FROM items";

interface World {
  readonly app: StartedApp;
  readonly reader: string;
  /** A database of which this process knows nothing, made by these statements. */
  readonly unknown: (slug: string, ...statements: readonly string[]) => Promise<TestDatabase>;
  readonly query: (database: TestDatabase, sql: string, params?: unknown[], token?: string) => ReturnType<
    StartedApp["request"]
  >;
  readonly forget: (database: TestDatabase) => void;
  /** Asks the store for facts of statements while `work` lasts: how often. */
  readonly asked: (work: () => Promise<void>) => Promise<number>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  const { query: { facts }, tenants } = app.deps;
  assert(facts instanceof FactsCache);
  const query: World["query"] = (database, sql, params = [], token = tenant.token) =>
    app.request("POST", `${database.path}/query`, { token, body: { sql, params }, headers: NO_SNAPSHOT });
  const forget = ({ id }: TestDatabase) => facts.forget(id);
  return {
    ...{ app, query, forget, reader: (await tenant.mint("read")).token },
    unknown: async (name, ...statements) => {
      const database = await tenant.createDatabase(name);
      for (const sql of statements) {
        const answer = await query(database, sql);
        assertEquals(answer.status, 200, `${sql}: ${answer.text}`);
      }
      forget(database);
      return database;
    },
    asked: async (work) => {
      const open = tenants.open.bind(tenants);
      let count = 0;
      tenants.open = (...which) => {
        const database = open(...which);
        const inspect = database.inspect.bind(database);
        database.inspect = (...all) => {
          count++;
          return inspect(...all);
        };
        return database;
      };
      try {
        await work();
      } finally {
        tenants.open = open;
      }
      return count;
    },
  };
}

testSteps("first calls", world, {
  "of databases of one schema ask one of them what the statement is": async ({ unknown, query, asked }) => {
    const names = ["a1", "a2", "a3", "a4"];
    const databases: TestDatabase[] = [];
    for (const name of names) {
      databases.push(await unknown(name, ITEMS, `INSERT INTO items VALUES (1, '${name}')`));
    }
    const found: unknown[] = [];
    const count = await asked(async () => {
      for (const database of databases) {
        for (let turn = 0; turn < 2; turn++) found.push(rowsOf(await query(database, READ, [1]))[0]?.[0]);
      }
    });
    assertEquals(found, names.flatMap((name) => [name, name]));
    assertEquals(count, isEmbedded() ? 1 : names.length);
  },
  "read in each what its own schema says": async ({ unknown, query, reader }) => {
    const table = await unknown("b1", ITEMS, "INSERT INTO items VALUES (1, 'a table')");
    const wider = await unknown(
      "b2",
      "CREATE TABLE items (name TEXT, id TEXT PRIMARY KEY, more TEXT)",
      "INSERT INTO items VALUES ('wider', '1', 'x')",
    );
    const view = await unknown("b3", "CREATE VIEW items AS SELECT 1 AS id, 'a view' AS name");
    const none = await unknown("b4");
    for (let round = 0; round < 2; round++) {
      for (const [database, name] of [[table, "a table"], [wider, "wider"], [view, "a view"]] as const) {
        assertEquals(rowsOf(await query(database, ALL, [], reader)), [[name]]);
      }
      const missing = await query(none, ALL, [], reader);
      assertEquals([missing.status, missing.body.code], [400, "sql_error"], missing.text);
      assert(missing.text.includes("items"), missing.text);
    }
  },
  "see the log rows that still wait where the same name is a view of the log": async (
    { unknown, query, forget },
  ) => {
    const table = await unknown("c1", ITEMS);
    const log = await unknown(
      "c2",
      "CREATE VIEW items AS SELECT sql AS name FROM _service_meta_query_log WHERE operation = 'query'",
    );
    for (let turn = 1; turn <= 3; turn++) {
      await query(log, `SELECT ${turn} AS turn`);
      forget(log);
      await query(table, ALL);
      const found = rowsOf(await query(log, ALL)).map(([sql]) => sql);
      assert(found.includes(`SELECT ${turn} AS turn`), JSON.stringify(found));
    }
  },
  "are refused by the schema of their own, and by no other one": async (
    { unknown, query, forget, reader },
  ) => {
    const open = await unknown("d1", ITEMS, "INSERT INTO items VALUES (1, 'open')");
    const closed = await unknown("d2", "CREATE VIEW items AS SELECT name FROM dbstat");
    for (let turn = 0; turn < 3; turn++) {
      const refused = await query(closed, ALL, [], reader);
      assertEquals([refused.status, refused.body.code], [403, "statement_refused"], refused.text);
      assertEquals(rowsOf(await query(open, ALL, [], reader)), [["open"]]);
      for (const database of [open, closed]) forget(database);
    }
  },
  "write only by facts of their own": async ({ unknown, query, asked }) => {
    const insert = "INSERT INTO items (id, name) VALUES (?, ?)";
    const plain = await unknown("e1", ITEMS);
    await query(plain, insert, [1, "one"]);
    const same = await unknown("e2", ITEMS);
    const count = await asked(async () => {
      const answer = await query(same, insert, [1, "one"]);
      assertEquals(answer.status, 200, answer.text);
    });
    assertEquals(count, 1);
  },
  "find a schema that has changed since": async ({ unknown, query, forget }) => {
    const [one, other] = [await unknown("f1", ITEMS), await unknown("f2", ITEMS)];
    await query(one, ALL);
    for (const sql of ["ALTER TABLE items RENAME TO things", "CREATE VIEW items AS SELECT 'new' AS name"]) {
      assertEquals((await query(other, sql)).status, 200);
    }
    forget(other);
    assertEquals(rowsOf(await query(other, ALL)), [["new"]]);
    assertEquals(rowsOf(await query(one, ALL)), []);
  },
  "may be many at once": async ({ unknown, query }) => {
    const databases = await Promise.all(
      Array.from(
        { length: 12 },
        (_, at) => unknown(`g${at}`, ITEMS, `INSERT INTO items VALUES (1, 'g${at}')`),
      ),
    );
    const answers = await Promise.all(
      databases.flatMap((database) => [1, 2, 3].map(() => query(database, READ, [1]))),
    );
    assertEquals(
      answers.map((answer) => rowsOf(answer)),
      databases.flatMap((_, at) => [1, 2, 3].map(() => [[`g${at}`]])),
    );
  },
});
