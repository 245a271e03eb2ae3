// The catalogue's requests leave this process once, whatever becomes of the connection.
import { assertEquals } from "@std/assert";
import { Tenant } from "../contracts/tenant_store.ts";
import { openRelay } from "../testing/relay.ts";
import { type Asked, failureOf, standBetween, withSqld } from "./sqld_world.ts";

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

/** The two requests by which a database goes. */
const DROPPING: Readonly<Record<string, (asked: Asked) => boolean>> = {
  "the change of the catalogue": ({ sql }) => sql.includes("DELETE FROM tenant"),
  "the word that closes its location": ({ location, url }) => location === "" && url.endsWith("/config"),
};

Deno.test("a database goes although a connection closes unanswered under its drop", async () => {
  await withSqld(async (world) => {
    for (const [what, isIt] of Object.entries(DROPPING)) {
      for (const [ran, most] of [[true, 1], [false, 1], [false, 2]] as const) {
        let cuts = 0;
        let dropping = false;
        const store = world.store({
          fetch: standBetween(async (asked, go) => {
            if (!dropping || cuts >= most || !isIt(asked)) return await go();
            cuts++;
            if (ran) await (await go()).body?.cancel();
            throw new TypeError("the connection has closed");
          }),
        });
        const { id } = await Tenant.create(store);
        assertEquals((await store.storageOf(id)).state, "ok");
        dropping = true;
        await store.drop(id);
        assertEquals([cuts, await store.storageOf(id)], [most, { sizeBytes: 0, state: "corrupt" }], what);
        await store.close();
      }
    }
  });
});
