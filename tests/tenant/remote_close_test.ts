// A store over sqld that is closed: nothing of it is under way any more, also of what no caller waits for.
import { pause } from "../../lib/core/pause.ts";
import { assertEquals } from "@std/assert";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { type Asked, asksWhetherItAnswers, failureOf, standBetween, withSqld } from "./sqld_world.ts";

/** Milliseconds for which what is looked at is kept from its answer once the store closes. */
const LATE_MS = 200;

Deno.test("a store that is closed has ended its questions whether the server answers, and given up its transactions", async () => {
  await withSqld(async (world) => {
    const answered: string[] = [];
    const [asked, closing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let slow = false;
    const late = async (what: string, go: () => Promise<Response>) => {
      await closing.promise;
      await pause(LATE_MS);
      const answer = await go();
      answered.push(what);
      return answer;
    };
    const store = world.store({
      fetch: standBetween(async (request: Asked, go) => {
        if (asksWhetherItAnswers(request)) {
          asked.resolve();
          return await late("question", go);
        }
        if (request.sql.includes('"ROLLBACK"}}]')) return await late("rollback", go);
        if (slow && request.sql.includes("'slow'")) await asked.promise;
        return await go();
      }),
    });
    const other = world.store();
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    const { schemaVersion } = await tenant.database.inspect([]);
    slow = true;
    assertEquals(await tenant.rows("SELECT 'slow'", [], { log: null }), [["slow"]]);
    const elsewhere = other.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    const changed = await elsewhere.inspect([]);
    await elsewhere.run(tenantCall(changed.schemaVersion, "schema", [["CREATE TABLE u (a)"]]));
    const stale = await tenant.database.run(
      tenantCall(schemaVersion, "write", [["INSERT INTO t VALUES (1)"]]),
    );
    assertEquals(stale.ok, "stale");
    const closed = store.close();
    closing.resolve();
    await closed;
    assertEquals(answered.sort(), ["question", "rollback"]);
  });
});

Deno.test("of two questions of the catalogue the second is asked again after the first has failed, and before the store has closed", async () => {
  await withSqld(async (world) => {
    let isAway = false;
    let asked = 0;
    const store = world.store({
      fetch: standBetween((request, go) => {
        if (!isAway) return go();
        if (!request.sql.includes(" UNION ALL ")) return Promise.resolve(new Response(null, { status: 401 }));
        asked++;
        return Promise.resolve(new Response(null, { status: 502 }));
      }),
    });
    const { id } = await Tenant.create(store);
    isAway = true;
    assertEquals((await failureOf(() => store.drop(id))).code, "store_unavailable");
    await store.close();
    assertEquals(asked, 2);
  });
});
