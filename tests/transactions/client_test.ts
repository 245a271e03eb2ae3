// Transactions over several requests through the door for libSQL, by libSQL's own client.
import { assertEquals, assertRejects } from "@std/assert";
// @ts-types="./libsql_client.d.ts"
import { type Client, createClient } from "@libsql/client/http";
import type { StartedApp } from "../testing/start_app.ts";
import { testSteps } from "../testing/cases.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

interface ClientWorld {
  readonly app: StartedApp;
  readonly client: Client;
  readonly tenant: TestNamespace;
  rows(sql: string): Promise<unknown[][]>;
}

async function worldOf(app: StartedApp, slug: string): Promise<ClientWorld> {
  const tenant = await app.namespace(slug);
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)");
  const client = clientOf(app, tenant, "main");
  return { app, client, tenant, rows: async (sql) => rowsOf(await tenant.query(sql)) };
}

function clientOf(app: StartedApp, { slug, token }: TestNamespace, database: string): Client {
  return createClient({
    url: `http://127.0.0.1/hrana/${slug}/${database}/`,
    authToken: token,
    // By the app's own way, which reaches instances in other processes too.
    fetch: async ({ method, url, headers, body }: Request) => {
      const answer = await app.request(method, new URL(url).pathname, {
        headers: Object.fromEntries(headers),
        body: body === null ? undefined : await new Response(body).text(),
      });
      return new Response(answer.text, { status: answer.status, headers: answer.headers });
    },
  });
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

  "a deferred transaction that has only read may write, though log rows of reads were written since": async (
    { client, tenant, rows },
  ) => {
    await tenant.setup("INSERT INTO t VALUES (1, 'x')");
    // Whoever reads the log has the rows of the reads before written.
    const logs = async () => await rows("SELECT count(*) FROM _service_meta_query_log");
    const one = await client.transaction("deferred");
    assertEquals((await one.execute("SELECT a FROM t")).rows.length, 1);
    await logs();
    await one.execute("savepoint sp0");
    await one.execute("savepoint sp1");
    await logs();
    await one.execute("INSERT INTO t VALUES (2, 'y')");
    await one.execute("rollback to sp1");
    await one.execute("INSERT INTO t VALUES (3, 'z')");
    await one.execute("release sp0");
    await one.execute("INSERT INTO t VALUES (4, NULL)");
    assertEquals((await one.execute("SELECT id FROM t")).rows.map((row) => row["id"]), [1, 3, 4]);
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1], [3], [4]]);
  },

  "a deferred transaction may not write where a row has changed since it has read": async (
    { client, tenant, rows },
  ) => {
    const one = await client.transaction("deferred");
    assertEquals((await one.execute("SELECT a FROM t")).rows.length, 0);
    await tenant.setup("INSERT INTO t VALUES (1, 'x')");
    const failed = await one.execute("INSERT INTO t VALUES (2, 'y')").catch((error: unknown) => error);
    assertEquals(Reflect.get(Object(failed), "code"), "SQLITE_BUSY");
    assertEquals((await one.execute("SELECT a FROM t")).rows.length, 0);
    await one.commit();
    assertEquals(await rows("SELECT id FROM t"), [[1]]);
  },

  "more transactions than a database has open at a time wait for their turn": async ({ client, rows }) => {
    const add = async (id: number) => {
      const one = await client.transaction("deferred");
      await one.execute({ sql: "INSERT INTO t VALUES (?, NULL)", args: [id] });
      await one.commit();
    };
    await Promise.all(Array.from({ length: 12 }, (_, id) => add(id)));
    assertEquals(await rows("SELECT count(*) FROM t"), [[12]]);
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

  "a rule about many rows counts what the whole transaction has changed and kept": async (
    { app, tenant },
  ) => {
    // Made before its first write, because other processes may know a database's rules for five seconds.
    const { slug } = await tenant.createDatabase("ruled");
    const made = await app.request("POST", `/api/namespaces/${tenant.slug}/databases/${slug}/rules`, {
      token: tenant.token,
      body: { tableGlob: "t", effect: "deny", actions: ["insert", "update", "delete"], minRows: 4 },
    });
    assertEquals(made.status, 201, made.text);
    const client = clientOf(app, tenant, slug);
    await client.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)");
    await client.execute("CREATE TABLE u (b)");
    const one = await client.transaction("write");
    const code = async (sql: string) => {
      const failed = await one.execute(sql).then(() => null, (error: unknown) => error);
      return failed === null ? null : String(Reflect.get(Object(failed), "code"));
    };
    assertEquals(await code("INSERT INTO t VALUES (1, 'a'), (2, 'b')"), null);
    await one.execute("savepoint s");
    assertEquals(await code("INSERT INTO t VALUES (3, 'c')"), null);
    assertEquals(await code("INSERT INTO t VALUES (4, 'd')"), "RULE_DENIED");
    assertEquals(await code("INSERT INTO t VALUES (1, 'd')"), "SQLITE_CONSTRAINT");
    await one.execute("rollback to s");
    assertEquals(await code("INSERT INTO t VALUES (4, 'd')"), null);
    assertEquals(await code("INSERT INTO u VALUES (1), (2), (3)"), null);
    assertEquals(await code("UPDATE t SET a = 'z' WHERE id = 9"), null);
    assertEquals(await code("DELETE FROM t WHERE id = 1"), "RULE_DENIED");
    await one.commit();
    const { rows: kept } = await client.execute(
      "SELECT group_concat(id) AS ids, (SELECT count(*) FROM u) AS n FROM t",
    );
    assertEquals({ ...kept[0] }, { ids: "1,2,4", n: 3 });
  },
});
