import { assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { CACHE_AGE_MS } from "../../lib/core/limits.ts";
import { controlWorld } from "../testing/control_world.ts";

Deno.test("Namespaces.add() lets one of many have a slug, across processes", async () => {
  using world = await controlWorld();
  const planes = [world.control, world.other(), world.other()];
  const added = await Promise.all(planes.flatMap(({ namespaces }) =>
    Array.from({ length: 5 }, () => {
      const now = world.clock.now();
      return namespaces.add({ id: newId("ns", now), slug: "acme", name: "x", createdAt: now }, 0);
    })
  ));
  assertEquals(added.filter((won) => won).length, 1);
  assertEquals((await world.control.namespaces.list({ cursor: null, pageSize: 10 })).records.length, 1);
});

Deno.test("Namespaces.remove() frees the slug at once in this process and within the cache's age in others", async () => {
  using world = await controlWorld();
  const other = world.other();
  const old = await world.namespace("acme");
  assertEquals((await other.namespaces.bySlug("acme"))?.id, old.id);
  await world.control.namespaces.remove(old);
  assertEquals(await world.control.namespaces.bySlug("acme"), null);
  world.clock.turn(CACHE_AGE_MS);
  assertEquals(await other.namespaces.bySlug("acme"), null);
});

Deno.test("Namespaces.remove() repeated does not take the slug from whoever has it now", async () => {
  using world = await controlWorld();
  const old = await world.namespace("acme");
  await world.control.namespaces.remove(old);
  const next = await world.namespace("acme");
  await world.control.namespaces.remove(old);
  assertEquals((await world.control.namespaces.bySlug("acme"))?.id, next.id);
});

Deno.test("Namespaces.rename() shows at once in this process and gives null for one that is gone", async () => {
  using world = await controlWorld();
  const record = await world.namespace("acme");
  await world.control.namespaces.bySlug("acme");
  assertEquals((await world.control.namespaces.rename(record, "New"))?.name, "New");
  assertEquals((await world.control.namespaces.bySlug("acme"))?.name, "New");
  await world.control.namespaces.remove(record);
  assertEquals(await world.control.namespaces.rename(record, "Newer"), null);
});

Deno.test("many renames at once all come through and one of them stays", async () => {
  using world = await controlWorld();
  const record = await world.namespace("acme");
  const names = Array.from({ length: 10 }, (_, at) => `name ${at}`);
  await Promise.all(names.map((name) => world.control.namespaces.rename(record, name)));
  assertEquals(names.includes((await world.control.namespaces.bySlug("acme"))?.name ?? ""), true);
});
