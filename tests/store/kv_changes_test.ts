// A KV of one process tells of every change that is made through it, whoever makes it, and records that are cached for it are
// never older than the last one.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ControlPlane } from "../../lib/control/control_plane.ts";
import { keys } from "../../lib/store/keys.ts";
import { listenToChanges, withChanges } from "../../lib/store/kv_changes.ts";
import { withLifetimes } from "../../lib/store/lifetimes.ts";
import { databaseRecord } from "../testing/control_world.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

interface World {
  readonly kv: Deno.Kv;
  readonly clock: TurnableClock;
  /** How often the KV has been read. */
  reads: number;
  /** What happens between the reading of a list and its answer. */
  whileListed: () => Promise<unknown>;
}

async function withKv(body: (world: World) => Promise<void>): Promise<void> {
  const clock = new TurnableClock();
  const raw = await Deno.openKv(":memory:");
  const kv = withChanges(withLifetimes(raw, clock));
  const world: World = { kv, clock, reads: 0, whileListed: () => Promise.resolve() };
  const [get, getMany, list] = [raw.get.bind(raw), raw.getMany.bind(raw), raw.list.bind(raw)];
  Object.assign(raw, {
    get: (...asked: Parameters<typeof get>) => (world.reads++, get(...asked)),
    getMany: (...asked: Parameters<typeof getMany>) => (world.reads++, getMany(...asked)),
    list: async function* (...asked: Parameters<typeof list>) {
      world.reads++;
      const read = await Array.fromAsync(list(...asked));
      await world.whileListed();
      yield* read;
    },
  });
  try {
    await body(world);
  } finally {
    raw.close();
  }
}

Deno.test("every way of changing a record is told, after it has happened, also one that fails", async () => {
  await withKv(async ({ kv }) => {
    const told: string[] = [];
    assertEquals(listenToChanges(kv, (key, value) => told.push(`${key.join(" ")}=${value}`)), true);
    await kv.set(["a"], 1);
    await kv.set(["b"], 2, { expireIn: 60_000 });
    await kv.delete(["a"]);
    const operation = kv.atomic().set(["c"], 3).delete(["b"]);
    operation.mutate({ type: "set", key: ["d"], value: 4 }, { type: "delete", key: ["c"] });
    const before = [...told];
    await operation.commit();
    assertEquals(told.slice(before.length), ["c=3", "b=undefined", "d=4", "c=undefined"]);
    for (const one of ["a=1", "b=2", "a=undefined"]) assertEquals(before.includes(one), true, one);
    const refused = kv.atomic().check({ key: ["d"], versionstamp: null }).set(["d"], 5);
    assertEquals((await refused.commit()).ok, false);
    assertEquals(told.at(-1), "d=5");
    await assertRejects(() => kv.atomic().set(["e"], "x".repeat(100_000)).commit());
    assertEquals(told.at(-1)?.slice(0, 3), "e=x");
    const other = await Deno.openKv(":memory:");
    assertEquals(listenToChanges(other, () => {}), false);
    other.close();
  });
});

Deno.test("a database's record is read once in a minute, and after each change, also by who tells no cache", async () => {
  await withKv(async (world) => {
    const { kv, clock } = world;
    const { databases, namespaces } = new ControlPlane(kv, clock);
    const namespace = { id: "ns_1", slug: "acme", name: "acme", createdAt: 0 };
    await namespaces.add(namespace, 0);
    const record = databaseRecord(namespace.id, "orders", clock.now());
    await databases.announce(record.id);
    await databases.add(record);
    const found = () => databases.bySlug(namespace.id, "orders");
    assertEquals(await found(), record);
    const { reads } = world;
    for (let turn = 0; turn < 5; turn++) {
      clock.turn(10_000);
      assertEquals(await found(), record);
    }
    assertEquals(world.reads, reads);
    clock.turn(10_001);
    assertEquals(await found(), record);
    assertEquals(world.reads > reads, true);
    // By nobody that the cache knows.
    await kv.set(keys.database(namespace.id, record.id), { ...record, name: "other" });
    assertEquals((await found())?.name, "other");
    const next = databaseRecord(namespace.id, "orders", clock.now());
    await kv.atomic().set(keys.database(namespace.id, next.id), next)
      .set(keys.databaseBySlug(namespace.id, "orders"), next.id).commit();
    assertEquals((await found())?.id, next.id);
    await kv.delete(keys.database(namespace.id, next.id));
    assertEquals(await found(), null);
    await kv.set(keys.databaseBySlug(namespace.id, "orders"), record.id);
    assertEquals((await found())?.id, record.id);
    await kv.delete(keys.databaseBySlug(namespace.id, "orders"));
    assertEquals(await found(), null);
  });
});

Deno.test("a read that was under way when a record changed is not kept", async () => {
  await withKv(async ({ kv, clock }) => {
    const { databases } = new ControlPlane(kv, clock);
    const record = databaseRecord("ns_1", "orders", clock.now());
    await kv.atomic().set(keys.database("ns_1", record.id), record)
      .set(keys.databaseBySlug("ns_1", "orders"), record.id).commit();
    for (let turn = 0; turn < 50; turn++) {
      const underWay = databases.bySlug("ns_1", "orders");
      await kv.set(keys.database("ns_1", record.id), { ...record, name: `n${turn}` });
      await underWay;
      assertEquals((await databases.bySlug("ns_1", "orders"))?.name, `n${turn}`);
    }
  });
});

/** Puts so many databases, `d0`, `d1` and so on, into the namespace. */
async function fill({ kv, clock }: World, namespaceId: string, count: number) {
  const records = Array.from(
    { length: count },
    (_, at) => ({ ...databaseRecord(namespaceId, `d${at}`, clock.now() + at), name: "first" }),
  );
  for (const record of records) {
    await kv.atomic().set(keys.database(namespaceId, record.id), record)
      .set(keys.databaseBySlug(namespaceId, record.slug), record.id).commit();
  }
  return records;
}

Deno.test("who reads one record has those of the namespace that were made next", async () => {
  await withKv(async (world) => {
    const { databases } = new ControlPlane(world.kv, world.clock);
    const records = await fill(world, "ns_1", 100);
    await fill(world, "ns_2", 3);
    const { reads } = world;
    for (const { slug, id } of records) assertEquals((await databases.bySlug("ns_1", slug))?.id, id);
    // Two for each 32.
    assertEquals(world.reads - reads, 8);
    assertEquals((await databases.bySlug("ns_2", "d1"))?.namespaceId, "ns_2");
  });
});

Deno.test("a record that was read with another one is as new as any", async () => {
  await withKv(async (world) => {
    const { kv, clock } = world;
    const { databases } = new ControlPlane(kv, clock);
    const records = await fill(world, "ns_1", 40);
    const found = async (at: number) => (await databases.bySlug("ns_1", `d${at}`))?.name ?? null;
    await found(0);
    for (const [at, record] of records.entries()) {
      if (at % 3 === 0) await databases.rename(record, "second");
      if (at % 3 === 1) await databases.softDelete(record, 1000);
    }
    const expected = ["second", null, "first"];
    for (const at of records.keys()) assertEquals(await found(at), expected[at % 3], `d${at}`);
    // Also where the change comes while they are read, at any moment or behind the reading itself.
    const changed = records[5];
    assert(changed);
    const change = (name: string) => kv.set(keys.database("ns_1", changed.id), { ...changed, name });
    for (let turn = 0; turn < 30; turn++) {
      const own = new ControlPlane(kv, clock).databases;
      const underWay = own.bySlug("ns_1", "d2");
      await change(`n${turn}`);
      await underWay;
      assertEquals((await own.bySlug("ns_1", "d5"))?.name, `n${turn}`);
    }
    const own = new ControlPlane(kv, clock).databases;
    world.whileListed = () => change("last");
    await own.bySlug("ns_1", "d2");
    assertEquals((await own.bySlug("ns_1", "d5"))?.name, "last");
  });
});

Deno.test("where nobody else makes databases, each addition announces the next id; it is given out once, in order, and soon", async () => {
  await withKv(async ({ kv, clock }) => {
    const { databases, leftovers, namespaces } = new ControlPlane(kv, clock);
    await namespaces.add({ id: "ns_1", slug: "acme", name: "acme", createdAt: 0 }, 0);
    const ids: string[] = [];
    const add = async (slug: string) => {
      const record = databaseRecord("ns_1", slug, clock.now());
      const id = await databases.announceNew("ns");
      clock.turn(5);
      assertEquals(await databases.add({ ...record, id }), { ok: true });
      ids.push(id);
      return id;
    };
    const noted = () => Array.fromAsync(kv.list({ prefix: ["leftover"] }), ({ key }) => key.at(-1));
    await add("first");
    const [next] = await noted();
    assertEquals([await add("second"), (await noted()).length], [String(next), 1]);
    await Promise.all(["a", "b", "c"].map(add));
    await add("d");
    clock.turn(60_000);
    await add("e");
    assertEquals(new Set(ids).size, ids.length);
    const { records } = await databases.list("ns_1", { cursor: null, pageSize: 10 });
    assertEquals(
      records.map(({ createdAt }) => createdAt),
      records.map(({ createdAt }) => createdAt).toSorted(),
    );
    // Nobody uses those that are left, and a sweep takes them; whoever had one too late would be told.
    const left = await noted();
    clock.turn(120_000);
    const late = await databases.announceNew("ns");
    assertEquals(left.includes(late), false);
    clock.turn(480_000);
    const taken = (await leftovers.takeAbandoned()).map(({ id }) => id);
    assertEquals(taken.toSorted(), left.map(String).toSorted());
    const record = { ...databaseRecord("ns_1", "late", clock.now()), id: taken[0] ?? "" };
    await leftovers.end(record.id);
    assertEquals(await databases.add(record), { ok: false, reason: "swept" });
  });
});
