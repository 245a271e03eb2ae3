// Restores in place of embedded databases that are dropped meanwhile: what is dropped does not come back.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { withLocalStore } from "../testing/local_store.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { codeOf } from "./archive_world.ts";

/** Restores begin and wait. */
function heldRestores(store: LocalStore) {
  const begun = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  store.willReplace = async () => {
    begun.resolve();
    await goesOn.promise;
  };
  return { begun, goesOn };
}

Deno.test("a drop waits for a restore that has begun, and the restore changes nothing any more", async () => {
  await withLocalStore(async (store) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    await tenant.database.takeSnapshot("before");
    const { begun, goesOn } = heldRestores(store);
    const ended: string[] = [];
    const restore = () => codeOf(tenant.database.restore("before", { undoLabel: "undo" }));
    const restoring = restore().then((code) => ended.push(`restore: ${code}`));
    await begun.promise;
    const dropping = store.drop(tenant.id).then(() => ended.push("drop"));
    const meanwhile = restore();
    await Promise.race([dropping, pause(300)]);
    goesOn.resolve();
    await Promise.all([restoring, dropping]);
    assertEquals(ended, ["restore: store_unavailable", "drop"]);
    assertEquals(await meanwhile, "store_unavailable");
  });
});

Deno.test("a transaction that begins while a restore runs begins behind it, in what was restored", async () => {
  await withLocalStore(async (store) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    await tenant.database.takeSnapshot("before");
    await tenant.run("write", [["INSERT INTO t VALUES (1)"]]);
    const { begun, goesOn } = heldRestores(store);
    const ended: string[] = [];
    const restoring = tenant.database.restore("before", { undoLabel: "undo" }).then(() =>
      ended.push("restore")
    );
    await begun.promise;
    const transaction = tenant.database.begin({ mode: "readonly", tokenId: "tok_1" });
    const reading = transaction.inspect([]).then(() => ended.push("transaction"));
    await Promise.race([reading, pause(300)]);
    goesOn.resolve();
    await Promise.all([restoring, reading]);
    assertEquals(ended, ["restore", "transaction"]);
    const { schemaVersion } = await transaction.inspect([]);
    const read = await transaction.run(tenantCall(schemaVersion, "read", [["SELECT count(*) FROM t"]]));
    assertEquals(
      read.ok === true && read.results[0]?.json.includes(`"rows":[[0]]`),
      true,
      JSON.stringify(read),
    );
    await transaction.commit();
  });
});

Deno.test("a transaction waits for the write slot no longer than a statement may take", async () => {
  await withLocalStore(async (store) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    const { schemaVersion } = await tenant.database.inspect([]);
    const write = () => tenantCall(schemaVersion, "write", [["INSERT INTO t VALUES (1)"]]);
    const [holder, other] = ["tok_1", "tok_2"].map((tokenId) =>
      tenant.database.begin({ mode: "immediate", tokenId })
    );
    assert(holder && other);
    assertEquals((await holder.run(write())).ok, true);
    assertEquals(await codeOf(other.run(write())), "database_busy");
    // Behind that its holder would have lost it.
    assertEquals(await holder.commit(), null);
    await other.rollback();
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[1]]);
  }, { queryTimeoutMs: 1000 });
});
