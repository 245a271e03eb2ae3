// The snapshot in front of a write over sqld that ends in an error: it stays unless the write is known to be undone.
import { assertEquals, assertRejects } from "@std/assert";
import { Tenant } from "../contracts/tenant_store.ts";
import { failureOf, standBetween, withSqld } from "./sqld_world.ts";

const labels = async ({ database }: Tenant) => (await database.snapshots()).map(({ label }) => label);

Deno.test("a write that is known to be undone leaves no snapshot; one that fails for a reason of ours does", async () => {
  await withSqld(async (world) => {
    const store = world.store({
      fetch: standBetween(({ sql }, go) =>
        sql.includes("'unsent'") ? Promise.reject(new TypeError("tcp connect error")) : go()
      ),
    });
    const tenant = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY, a)"]);
    const unsent = () =>
      tenant.run("write", [["DELETE FROM t WHERE a = 'unsent'"]], { snapshot: "auto-unsent" });
    assertEquals((await failureOf(unsent)).code, "store_unavailable");
    assertEquals(await labels(tenant), []);
    // Fails while the request for the commit is made.
    const auditTables = Object.assign(["t"], {
      toJSON: () => {
        throw new RangeError("a fault of the service");
      },
    });
    const broken = () => tenant.run("write", [["DELETE FROM t"]], { snapshot: "auto-broken", auditTables });
    await assertRejects(broken, /a fault of the service/);
    assertEquals(await labels(tenant), ["auto-broken"]);
  });
});
