// @libsql/client over HTTP, unmodified: what applications do with it.
// @ts-types="./libsql_client.d.ts"
import { createClient } from "@libsql/client/http";
import { assertEquals, assertRejects } from "@std/assert";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { startApp } from "../testing/start_app.ts";

Deno.test("@libsql/client over HTTP", async (t) => {
  await using app = await startApp();
  const { token } = await app.namespace("acme");
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  const root = `http://127.0.0.1:${server.addr.port}`;
  const client = createClient({ url: `${root}/hrana/acme/main/`, authToken: token });
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });
  const values = async () => (await client.execute("SELECT v FROM t ORDER BY id")).rows.map(({ v }) => v);

  await step("runs statements with positional and named values of every kind", async () => {
    await client.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    const bytes = new Uint8Array([0, 255]);
    const args = { a: 1.5, b: "text", c: 9007199254740993n, d: bytes, e: null, f: true };
    const read = await client.execute({ sql: "SELECT :a, @b, $c || '', :d, :e, :f, typeof(:a)", args });
    const [row = {}] = read.rows;
    const [a, b, c, d, e, f, g] = Array.from({ length: 7 }, (_, at) => row[at]);
    assertEquals([a, b, c, e, f, g], [1.5, "text", "9007199254740993", null, 1, "real"]);
    assertEquals(new Uint8Array(d as ArrayBuffer), bytes);
    const added = await client.execute({ sql: "INSERT INTO t (v) VALUES (?)", args: ["one"] });
    assertEquals([added.rowsAffected, added.lastInsertRowid], [1, 1n]);
  });

  await step("a batch is kept or not kept as a whole, and names the statement that failed", async () => {
    await client.batch(["INSERT INTO t (v) VALUES ('two')", "SELECT 1"], "write");
    const failing = ["INSERT INTO t (v) VALUES ('three')", "INSERT INTO t (id) VALUES (1)"];
    await assertRejects(() => client.batch(failing, "write"), /UNIQUE constraint failed: t\.id/);
    await assertRejects(() => client.batch(["DELETE FROM t"], "read"), /SQLITE_READONLY/);
    assertEquals(await values(), ["one", "two"]);
  });

  await step("a migration runs without foreign keys", async () => {
    await client.migrate(["CREATE TABLE child (t_id REFERENCES t)", "INSERT INTO child VALUES (99)"]);
    await assertRejects(() => client.execute("INSERT INTO child VALUES (98)"), /FOREIGN KEY/);
  });

  await step(
    "the address works without its slash where a segment stands behind it, and alone for one database",
    async () => {
      for (
        const url of [
          `${root}/hrana/acme/main/sql`,
          `${root}/hrana/acme/main/sql/`,
          `${root}/hrana/acme/main`,
          root,
        ]
      ) {
        const other = createClient({ url, authToken: token });
        assertEquals((await other.execute("SELECT count(*) AS n FROM t")).rows[0]?.["n"], 2, url);
        other.close();
      }
    },
  );

  await step(
    "an address of the HTTP API, given as the URL, is answered with the one that is right",
    async () => {
      for (const url of [`${root}/v1/db/acme/main`, `${root}/v1/db/acme/main/`, `${root}/acme/main`]) {
        const other = createClient({ url, authToken: token });
        await assertRejects(() => other.execute("SELECT 1"), /\/hrana\/<namespace>\/<database>\//);
        other.close();
      }
    },
  );

  if (isEmbedded()) {
    await step(
      "a transaction over several requests sees its own changes, and is kept or undone",
      async () => {
        const kept = await client.transaction("write");
        await kept.execute("INSERT INTO t (v) VALUES ('kept')");
        assertEquals((await kept.execute("SELECT count(*) AS n FROM t")).rows[0]?.["n"], 3);
        await kept.commit();
        const undone = await client.transaction("write");
        await undone.execute({ sql: "DELETE FROM t WHERE v = ?", args: ["one"] });
        await assertRejects(() => undone.execute("SELECT missing"), /missing/);
        await undone.rollback();
        assertEquals(await values(), ["one", "two", "kept"]);
      },
    );
  }
  client.close();
  await server.shutdown();
});
