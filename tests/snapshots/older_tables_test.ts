// Databases and snapshots of a version whose log of calls had fewer columns: they get the columns and lose nothing.
import { assert, assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { type PublishedApp, publishedApp } from "../published/publish.ts";
import { killChildren } from "../testing/engine_children.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf } from "../testing/test_namespace.ts";

/** Of a call an hour ago. */
function oldRow(): string {
  const ts = Date.now() - 3_600_000;
  return `INSERT INTO _service_meta_endpoint_call VALUES ('${
    newId("evt", ts)
  }', ${ts}, 'item', 'ok', 200, 1, 0, 0.5, NULL, NULL)`;
}

const ROWS = "SELECT status, http_status, code, hits, count FROM _service_meta_endpoint_call ORDER BY id";

/** Makes the table what it was, and ends whoever has the database open. */
async function makeOlder({ app, acme }: PublishedApp, whileOld: () => Promise<void>): Promise<void> {
  const namespace = await app.deps.control.namespaces.bySlug("acme");
  assert(namespace);
  const statements = ["count", "hits", "code"].map((name) =>
    `ALTER TABLE _service_meta_endpoint_call DROP COLUMN ${name}`
  );
  await app.deps.tenants.open({ databaseId: acme.database.id, namespaceId: namespace.id }).write(
    [...statements, oldRow()].map((sql) => ({ sql, params: [] })),
  );
  await whileOld();
  if (isEmbedded()) await killChildren(app.deps.config.dataDir);
}

Deno.test("an older database gets the new columns at its first use, whatever that is, and keeps its rows", async () => {
  const uses: readonly ((world: PublishedApp) => Promise<unknown>)[] = [
    (world) => world.call("closed?id=1"),
    (world) => world.acme.query("SELECT 1"),
    (world) => world.acme.query("INSERT INTO item (name) VALUES ('new')"),
    (world) => world.acme.query("CREATE TABLE more (a)"),
  ];
  for (const [at, use] of uses.entries()) {
    await using world = await publishedApp();
    await world.put({ slug: "closed" }, "paused");
    await makeOlder(world, () => Promise.resolve());
    await use(world);
    for (let i = 0; i < 2; i++) await world.call("closed?id=1");
    assertEquals(rowsOf(await world.acme.query(ROWS)), [
      ["ok", 200, null, null, 1],
      ["error", 503, "endpoint_paused", null, at === 0 ? 3 : 2],
    ]);
  }
});

Deno.test("statistics are told of an older database that nobody has written to", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await makeOlder(world, () => Promise.resolve());
  const path = "/api/namespaces/acme/databases/main/endpoints/item/stats";
  const stats = await world.app.request("GET", path, { token: world.acme.token });
  assertEquals(JSON.parse(stats.text).data.map(({ calls }: { calls: number }) => calls), [1], stats.text);
});

Deno.test("a snapshot of an older version is restored with the log of the newer one, and copied", async () => {
  await using world = await publishedApp();
  const { app, acme } = world;
  await world.put({ slug: "item" });
  await makeOlder(world, async () => {
    const taken = await app.request("POST", `${acme.database.path}/snapshots`, {
      token: acme.token,
      body: { label: "older" },
    });
    assertEquals(taken.status, 201, taken.text);
  });
  for (let i = 0; i < 2; i++) await world.call("item?id=x");
  await acme.query("SELECT count(*) FROM _service_meta_endpoint_call");
  const restore = (body: object) =>
    app.request("POST", `${acme.database.path}/restore`, { token: acme.token, body });
  const restored = await restore({ snapshot: "older" });
  assertEquals(restored.status, 200, restored.text);
  await world.call("item?id=1");
  assertEquals(rowsOf(await acme.query(ROWS)), [
    ["ok", 200, null, null, 1],
    ["error", 400, "validation_failed", null, 2],
    ["ok", 200, null, null, 1],
  ]);
  const copied = await restore({ snapshot: "older", into: "copy" });
  assertEquals(copied.status, 201, copied.text);
  const rows = await app.request("POST", "/v1/db/acme/copy/query", {
    token: acme.token,
    body: { sql: ROWS },
  });
  assertEquals(rowsOf(rows), [], rows.text);
});
