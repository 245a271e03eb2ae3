// A database of a store over sqld that a restore has closed and not moved: who opens it again, and what happens meanwhile.
import { assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { RemoteStore } from "../../lib/tenant/remote/remote_store.ts";
import type { TenantDatabase } from "../../lib/tenant/tenant_store.ts";
import { rowsOf, Tenant } from "../contracts/tenant_store.ts";
import { ask, type Between, forward, standBetween, withSqld } from "./sqld_world.ts";

/** Restores the snapshot "mine"; "restored", or the error's code. */
function restoreIn(store: RemoteStore, databaseId: string): Promise<string> {
  const restored = store.open({ databaseId, namespaceId: "ns_1" }).restore("mine", {
    undoLabel: newId("snap", systemClock.now()),
  });
  return restored.then(() => "restored", ({ code }) => code);
}

/** A database with the empty table t, which the snapshot "mine" is of. */
async function snapshotted(store: RemoteStore): Promise<string> {
  const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
  await tenant.database.takeSnapshot("mine");
  return tenant.id;
}

/** Lets a restore fail at its copy, and then asks `after` about each request that opens the database again: no renewal. */
function failing(after: Between): Between {
  let failed = false;
  return async (request, go) => {
    failed ||= request.url.includes("/fork/");
    if (request.url.includes("/fork/")) throw new TypeError("reset");
    const claims = request.sql.includes("UPDATE tenant SET closed_until") && !request.sql.includes(`"10000"`);
    const opens = request.url.endsWith("/config") || claims;
    return await (failed && opens ? after(request, go) : go());
  };
}

async function insert(database: TenantDatabase, value: string): Promise<unknown> {
  return (await ask(database, "write", `INSERT INTO t VALUES ('${value}')`)).ok;
}

async function rowsIn(store: RemoteStore, databaseId: string): Promise<unknown> {
  return rowsOf(await ask(store.open({ databaseId, namespaceId: "ns_1" }), "read", "SELECT a FROM t"));
}

Deno.test("no restore begins while one that failed opens the database again, and no acknowledged write is lost", async () => {
  await withSqld(async (world) => {
    const id = await snapshotted(world.store());
    const writer = world.store().open({ databaseId: id, namespaceId: "ns_1" });
    assertEquals(await insert(writer, "before"), true);
    const meanwhile: string[] = [];
    const between = failing(async ({ url }, go) => {
      if (url.endsWith("/config")) meanwhile.push(await restoreIn(world.store(), id));
      return await go();
    });
    const failed = await restoreIn(world.store({ fetch: standBetween(between) }), id);
    assertEquals(await insert(writer, "kept"), true);
    assertEquals(await rowsIn(world.store(), id), [["before"], ["kept"]]);
    assertEquals([failed, meanwhile], ["store_unavailable", ["database_busy"]]);
    assertEquals(await restoreIn(world.store(), id), "restored");
    assertEquals(await rowsIn(world.store(), id), []);
  });
});

Deno.test("no restore begins while a caller opens what a dead one has closed, and no acknowledged write is lost", async () => {
  await withSqld(async (world) => {
    const id = await snapshotted(world.store());
    const dies = failing(() => Promise.reject(new TypeError("gone")));
    assertEquals(
      await restoreIn(world.store({ fetch: standBetween(dies) }), id),
      "store_unavailable",
    );
    await forward(world.sqld);
    const meanwhile: string[] = [];
    const opens: Between = async ({ url }, go) => {
      if (url.endsWith("/config")) meanwhile.push(await restoreIn(world.store(), id));
      return await go();
    };
    const writer = world.store({ fetch: standBetween(opens) }).open({ databaseId: id, namespaceId: "ns_1" });
    assertEquals(await insert(writer, "kept"), true);
    assertEquals(await rowsIn(world.store(), id), [["kept"]]);
    assertEquals(meanwhile, ["database_busy"]);
    assertEquals(await restoreIn(world.store(), id), "restored");
    assertEquals(await rowsIn(world.store(), id), []);
  });
});

Deno.test("a restore that comes to its move after somebody has opened the database does not move it", async () => {
  await withSqld(async (world) => {
    const id = await snapshotted(world.store());
    const underWay: (() => Promise<Response>)[] = [];
    const slow: Between = async ({ sql }, go) => {
      if (sql.includes("generation = generation + 1")) underWay.push(go);
      if (underWay.length > 0) throw new TypeError("connection closed before message completed");
      return await go();
    };
    assertEquals(
      await restoreIn(world.store({ fetch: standBetween(slow) }), id),
      "outcome_unknown",
    );
    await forward(world.sqld);
    const writer = world.store().open({ databaseId: id, namespaceId: "ns_1" });
    assertEquals(await insert(writer, "one"), true);
    for (const go of underWay) {
      assertEquals((await (await go()).text()).includes("UNIQUE constraint failed"), true);
    }
    assertEquals(await insert(writer, "two"), true);
    assertEquals(await rowsIn(world.store(), id), [["one"], ["two"]]);
    assertEquals(underWay.length, 1);
  });
});

Deno.test("of the requests that open a database again any may be lost: it opens in the end, and no acknowledged write is lost", async () => {
  await withSqld(async (world) => {
    for (const lost of [1, 2, 3]) {
      for (const ran of [false, true]) {
        const id = await snapshotted(world.store());
        const writer = world.store().open({ databaseId: id, namespaceId: "ns_1" });
        assertEquals(await insert(writer, "before"), true);
        let requests = 0;
        const between = failing(async (_request, go) => {
          if (++requests !== lost) return await go();
          if (ran) await (await go()).body?.cancel();
          throw new TypeError("connection closed before message completed");
        });
        const failed = await restoreIn(world.store({ fetch: standBetween(between) }), id);
        const isOpen = lost === 3 || lost === 2 && ran;
        // One that is still closed is waited for.
        if (!isOpen) await forward(world.sqld);
        assertEquals(await insert(writer, "kept"), true);
        assertEquals(await rowsIn(world.store(), id), [["before"], ["kept"]]);
        assertEquals([failed, requests], ["store_unavailable", lost]);
        if (isOpen) await forward(world.sqld);
        assertEquals(await restoreIn(world.store(), id), "restored");
        assertEquals(await rowsIn(world.store(), id), []);
      }
    }
  });
});
