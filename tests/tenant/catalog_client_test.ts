// The catalogue's requests leave this process once, whatever becomes of the connection.
import { assertEquals } from "@std/assert";
import { Tenant } from "../contracts/tenant_store.ts";
import { openRelay } from "../testing/relay.ts";
import { failureOf, withSqld } from "./sqld_world.ts";

Deno.test("a change of the catalogue goes out once when its connection closes unanswered, and counts if it was made", async () => {
  await withSqld(async (world) => {
    await using relay = openRelay(world.sqld.url);
    const store = world.store({ url: relay.url });
    // A connection that stays open is there to be closed.
    await Tenant.create(store);
    for (const isMade of [true, false]) {
      let sent = 0;
      relay.between = async ({ body }, go) => {
        if (!body.includes("INSERT INTO tenant")) return await go();
        sent++;
        if (isMade) await go();
        return null;
      };
      const create = () => Tenant.create(store);
      if (isMade) assertEquals((await (await create()).database.inspect([])).failure, null);
      else assertEquals((await failureOf(create)).code, "store_unavailable");
      assertEquals(sent, 1);
    }
    relay.between = null;
    await store.close();
  });
});
