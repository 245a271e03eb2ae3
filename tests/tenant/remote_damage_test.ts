// Databases of a store over sqld whose location is lost: what is said of them, and that a snapshot is all a restore needs.
import { assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { locationOf } from "../../lib/tenant/remote/locations/locations.ts";
import { rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { ask, failureOf, type SqldWorld, withSqld } from "./sqld_world.ts";

async function loseNamespace({ sqld }: SqldWorld, name: string): Promise<void> {
  const answer = await fetch(`${sqld.adminUrl}/v1/namespaces/${name}`, { method: "DELETE" });
  assertEquals(answer.status, 200, await answer.text());
}

async function sold(world: SqldWorld): Promise<Tenant> {
  const tenant = await Tenant.create(world.store(), ["CREATE TABLE t (a)"]);
  await tenant.run("write", [["INSERT INTO t VALUES ('kept')"]]);
  await tenant.database.takeSnapshot("good");
  await tenant.run("write", [["INSERT INTO t VALUES ('lost')"]]);
  return tenant;
}

Deno.test("a database whose namespace is gone is database_corrupt and says so, and its snapshot comes back", async () => {
  await withSqld(async (world) => {
    const tenant = await sold(world);
    await loseNamespace(world, locationOf(tenant.id));
    const store = world.store();
    const lost = store.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    assertEquals((await failureOf(() => ask(lost, "read", "SELECT a FROM t"))).code, "database_corrupt");
    assertEquals(await store.storageOf(tenant.id), { sizeBytes: 0, state: "corrupt" });
    const { schemaVersion } = await tenant.database.inspect([]);
    const snapshot = "before";
    const copying = [
      () => lost.takeSnapshot("more"),
      () => lost.run({ ...tenantCall(schemaVersion, "write", [["DELETE FROM t"]]), snapshot }),
      () => store.copy(newId("db", 1), { databaseId: tenant.id, snapshot: null }),
    ];
    for (const copy of copying) assertEquals((await failureOf(copy)).code, "database_corrupt");
    const into = newId("db", 1);
    await store.copy(into, { databaseId: tenant.id, snapshot: "good" });
    assertEquals(
      rowsOf(await ask(store.open({ databaseId: into, namespaceId: "ns_1" }), "read", "SELECT a FROM t")),
      [["kept"]],
    );
    const restored = await lost.restore("good", { undoLabel: "undo" });
    assertEquals(restored, { undo: false, setAside: null });
    assertEquals(rowsOf(await ask(lost, "read", "SELECT a FROM t")), [["kept"]]);
    assertEquals((await lost.snapshots()).map(({ label }) => label), ["good"]);
    assertEquals((await store.storageOf(tenant.id)).state, "ok");
    assertEquals((await ask(lost, "write", "INSERT INTO t VALUES ('more')")).ok, true);
  });
});
