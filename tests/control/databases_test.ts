import { assert, assertEquals } from "@std/assert";
import { CACHE_AGE_MS } from "../../lib/core/limits.ts";
import { controlWorld, databaseRecord } from "../testing/control_world.ts";

/** Longer than anything that is being made is left alone. */
const ABANDONED_MS = 600_000;

Deno.test("Databases.add() lets one of many have a slug", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const outcomes = await Promise.all(Array.from({ length: 8 }, async () => {
    const record = databaseRecord(id, "orders", world.clock.now());
    await world.control.databases.announce(record.id);
    return await world.control.databases.add(record);
  }));
  assertEquals(outcomes.filter(({ ok }) => ok).length, 1);
  const reasons = outcomes.flatMap((outcome) => outcome.ok ? [] : outcome.reason);
  assertEquals(new Set(reasons), new Set(["slug_taken" as const]));
  assertEquals((await world.control.databases.list(id, { cursor: null, pageSize: 10 })).records.length, 1);
});

Deno.test("Databases.add() refuses a database of a namespace that is gone", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace();
  const record = databaseRecord(namespace.id, "orders", world.clock.now());
  await world.control.databases.announce(record.id);
  await world.control.namespaces.remove(namespace);
  assertEquals(await world.control.databases.add(record), { ok: false, reason: "namespace_gone" });
});

Deno.test("Databases.add() refuses storage that a sweep has taken", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const record = databaseRecord(id, "orders", world.clock.now());
  await world.control.databases.announce(record.id);
  world.clock.turn(ABANDONED_MS);
  assertEquals(await world.control.leftovers.takeAbandoned(), [{ id: record.id, kind: "database" }]);
  await world.control.leftovers.end(record.id);
  assertEquals(await world.control.databases.add(record), { ok: false, reason: "swept" });
});

Deno.test("a database that was made is no leftover, one that was removed is until its storage is gone", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const record = await world.database(id, "orders");
  world.clock.turn(ABANDONED_MS);
  assertEquals(await world.control.leftovers.takeAbandoned(), []);
  await world.control.databases.remove(record);
  assertEquals(await world.control.leftovers.takeAbandoned(), []);
  world.clock.turn(ABANDONED_MS);
  assertEquals(await world.control.leftovers.takeAbandoned(), [{ id: record.id, kind: "database" }]);
  assertEquals(await world.control.leftovers.takeAbandoned(), []);
});

Deno.test("Databases.add() does what goes with it together with the record, or not at all", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const add = async (slug: string) => {
    const record = databaseRecord(id, slug, world.clock.now());
    await world.control.databases.announce(record.id);
    return await world.control.databases.add(record, (change) => change.set(["note", record.id], 1));
  };
  assertEquals([await add("orders"), await add("orders")].map(({ ok }) => ok), [true, false]);
  assertEquals((await Array.fromAsync(world.kv.list({ prefix: ["note"] }))).length, 1);
});

Deno.test("Databases.remove() hides the database at once in this process and within the cache's age in others", async () => {
  using world = await controlWorld();
  const other = world.other();
  const { id } = await world.namespace();
  const record = await world.database(id, "orders");
  for (const { databases } of [world.control, other]) {
    assertEquals((await databases.bySlug(id, "orders"))?.id, record.id);
  }
  await world.control.databases.remove(record);
  assertEquals(await world.control.databases.bySlug(id, "orders"), null);
  world.clock.turn(CACHE_AGE_MS);
  assertEquals(await other.databases.bySlug(id, "orders"), null);
});

Deno.test("Databases.remove() hides a database at once that came back under another slug since it was listed", async () => {
  using world = await controlWorld();
  const { databases } = world.control;
  const { id } = await world.namespace();
  const listed = await world.database(id, "orders");
  await databases.softDelete(listed, 1000);
  const deleted = await databases.findDeleted(id, "orders");
  assert(deleted !== null);
  await databases.undelete(deleted, "found");
  assertEquals((await databases.bySlug(id, "found"))?.id, listed.id);
  await databases.remove(listed);
  assertEquals([await databases.bySlug(id, "orders"), await databases.bySlug(id, "found")], [null, null]);
});

Deno.test("another process sees a new name, and another database of the same slug, within the cache's age", async () => {
  using world = await controlWorld();
  const other = world.other();
  const { id } = await world.namespace();
  const record = await world.database(id, "orders");
  assertEquals(await other.databases.bySlug(id, "orders"), record);
  await world.control.databases.rename(record, "Orders of today");
  world.clock.turn(CACHE_AGE_MS);
  assertEquals(await other.databases.bySlug(id, "orders"), { ...record, name: "Orders of today" });
  await world.control.databases.remove(record);
  const next = await world.database(id, "orders");
  world.clock.turn(CACHE_AGE_MS);
  assertEquals(await other.databases.bySlug(id, "orders"), next);
});

Deno.test("Databases.remove() repeated does not take the slug from the database that has it now", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const old = await world.database(id, "orders");
  await world.control.databases.remove(old);
  const next = await world.database(id, "orders");
  await world.control.databases.remove(old);
  assertEquals((await world.control.databases.bySlug(id, "orders"))?.id, next.id);
});

Deno.test("Databases.softDelete() deletes once, and neither what came back under another slug nor what has the slug now", async () => {
  using world = await controlWorld();
  const { databases } = world.control;
  const { id } = await world.namespace();
  const old = await world.database(id, "orders");
  const at = [1, 2, 3, 4].map(() => databases.softDelete(old, 1000));
  assertEquals((await Promise.all(at)).filter((deleted) => deleted).length, 1);
  const deleted = await databases.findDeleted(id, "orders");
  assert(deleted !== null);
  assertEquals(await databases.undelete(deleted, "found"), { ok: true });
  const next = await world.database(id, "orders");
  assertEquals(await databases.softDelete(old, 1000), false);
  assertEquals((await databases.bySlug(id, "orders"))?.id, next.id);
  assertEquals((await databases.bySlug(id, "found"))?.id, old.id);
});

Deno.test("the same slug in two namespaces is two databases", async () => {
  using world = await controlWorld();
  const [a, b] = [await world.namespace("a"), await world.namespace("b")];
  const first = await world.database(a.id, "orders");
  const second = await world.database(b.id, "orders");
  assertEquals((await world.control.databases.bySlug(a.id, "orders"))?.id, first.id);
  assertEquals((await world.control.databases.bySlug(b.id, "orders"))?.id, second.id);
  assertEquals(await world.control.databases.byId(a.id, second.id), null);
});

Deno.test("Databases.rename() shows at once in this process and gives null for one that is gone", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const record = await world.database(id, "orders");
  await world.control.databases.bySlug(id, "orders");
  await world.control.databases.rename(record, "New");
  assertEquals((await world.control.databases.bySlug(id, "orders"))?.name, "New");
  await world.control.databases.remove(record);
  assertEquals(await world.control.databases.rename(record, "Newer"), null);
});
