// Transactions over several requests through the door for libSQL, by libSQL's own client.
import { assertEquals, assertRejects } from "@std/assert";
// @ts-types="./libsql_client.d.ts"
import { type Client, createClient } from "@libsql/client/http";
import type { StartedApp } from "../testing/start_app.ts";
import { testSteps } from "../testing/cases.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

interface ClientWorld {
  readonly client: Client;
  readonly tenant: TestNamespace;
  rows(sql: string): Promise<unknown[][]>;
}

async function worldOf(app: StartedApp, slug: string): Promise<ClientWorld> {
  const tenant = await app.namespace(slug);
  const client = createClient({
    url: `http://127.0.0.1/hrana/${slug}/main/`,
    authToken: tenant.token,
    fetch: (request: Request) => app.app.request(request),
  });
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)");
  return { client, tenant, rows: async (sql) => rowsOf(await tenant.query(sql)) };
}

testSteps<ClientWorld>("@libsql/client transactions", worldOf, {
  "commit keeps, rollback and close keep nothing": async ({ client, rows }) => {
    const one = await client.transaction("write");
    const { lastInsertRowid } = await one.execute({ sql: "INSERT INTO t (a) VALUES (?)", args: ["x"] });
    const { rows: [row] } = await one.execute({
      sql: "SELECT a FROM t WHERE id = ?",
      args: [lastInsertRowid ?? 0n],
    });
    assertEquals(row?.["a"], "x");
    assertEquals(await rows("SELECT count(*) FROM t"), [[0]]);
    await one.commit();
    for (const end of ["rollback", "close"] as const) {
      const two = await client.transaction("deferred");
      await two.batch(["INSERT INTO t (a) VALUES ('y')", "INSERT INTO t (a) VALUES ('z')"]);
      await two[end]();
    }
    assertEquals(await rows("SELECT a FROM t"), [["x"]]);
  },

  "a failed statement leaves the transaction open": async ({ client, rows }) => {
    const one = await client.transaction("write");
    await one.execute("INSERT INTO t VALUES (1, 'x')");
    const failed = await one.execute("INSERT INTO t VALUES (2, 'x')").catch((error: unknown) => error);
    assertEquals(Reflect.get(Object(failed), "code"), "SQLITE_CONSTRAINT");
    await one.execute("INSERT INTO t VALUES (3, 'y')");
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1], [3]]);
  },

  "savepoints nest, as drizzle has them": async ({ client, rows }) => {
    const one = await client.transaction("write");
    await one.execute("INSERT INTO t VALUES (1, 'x')");
    await one.execute("savepoint sp0");
    await one.execute("INSERT INTO t VALUES (2, 'y')");
    await one.execute("savepoint sp1");
    await one.execute("INSERT INTO t VALUES (3, 'z')");
    await one.execute("rollback to savepoint sp1");
    await one.execute("release savepoint sp0");
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1], [2]]);
  },

  "a read transaction sees one state": async ({ client, tenant }) => {
    await tenant.setup("INSERT INTO t VALUES (1, 'x')");
    const one = await client.transaction("read");
    const count = async () => (await one.execute("SELECT count(*) AS n FROM t")).rows[0]?.["n"];
    assertEquals(await count(), 1);
    await tenant.setup("INSERT INTO t VALUES (2, 'y')");
    assertEquals(await count(), 1);
    await assertRejects(() => one.execute("INSERT INTO t VALUES (3, 'z')"));
    one.close();
  },

  "two transactions wait for each other": async ({ client, rows }) => {
    const add = async () => {
      const one = await client.transaction("write");
      const { rows: [row] } = await one.execute("SELECT count(*) AS n FROM t");
      await one.execute({ sql: "INSERT INTO t VALUES (?, NULL)", args: [Number(row?.["n"]) + 1] });
      await one.commit();
    };
    await Promise.all([add(), add(), add()]);
    assertEquals(await rows("SELECT id FROM t"), [[1], [2], [3]]);
  },
});
