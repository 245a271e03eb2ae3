// Restores in place of embedded databases that are dropped meanwhile: what is dropped does not come back.
import { pause } from "../../lib/core/pause.ts";
import { assertEquals } from "@std/assert";
import { withLocalStore } from "../testing/local_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { codeOf } from "./archive_world.ts";

Deno.test("a drop waits for a restore that has begun, and the restore changes nothing any more", async () => {
  await withLocalStore(async (store) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    await tenant.database.takeSnapshot("before");
    const begun = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    store.willReplace = async () => {
      begun.resolve();
      await goesOn.promise;
    };
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
