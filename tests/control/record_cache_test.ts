import { assertEquals, assertRejects } from "@std/assert";
import { RecordCache } from "../../lib/control/record_cache.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

interface Named {
  readonly name: string;
}

function open(maxEntries = 10) {
  const clock = new TurnableClock();
  const cache = new RecordCache<Named>(clock, { maxAgeMs: 1_000_000, maxEntries });
  let loads = 0;
  const load = (name: string | null) => () => {
    loads++;
    return Promise.resolve(name === null ? null : { name });
  };
  return { clock, cache, load, loads: () => loads };
}

Deno.test("RecordCache gives a kept record at once and reads it once", async () => {
  const { cache, load, loads } = open();
  assertEquals(await cache.read("a", load("x")), { name: "x" });
  assertEquals(cache.read("a", load("y")), { name: "x" });
  assertEquals(loads(), 1);
});

Deno.test("RecordCache reads again what has reached its age", async () => {
  const { clock, cache, load } = open();
  await cache.read("a", load("x"));
  clock.turn(1_000_000);
  const olds: unknown[] = [];
  const next = (old: Named | undefined) => {
    olds.push(old);
    return load("y")();
  };
  assertEquals(await cache.read("a", next), { name: "y" });
  assertEquals(await cache.read("b", next), { name: "y" });
  assertEquals(olds, [{ name: "x" }, undefined]);
});

Deno.test("RecordCache counts the age from the beginning of the read", async () => {
  const { clock, cache, load } = open();
  const slow = Promise.withResolvers<Named>();
  const reading = cache.read("a", () => slow.promise);
  clock.turn(1_000_000);
  slow.resolve({ name: "old" });
  await reading;
  assertEquals(await cache.read("a", load("new")), { name: "new" });
});

Deno.test("RecordCache never keeps that something does not exist", async () => {
  const { cache, load, loads } = open();
  assertEquals(await cache.read("a", load(null)), null);
  assertEquals(await cache.read("a", load("x")), { name: "x" });
  assertEquals(loads(), 2);
});

Deno.test("RecordCache shares one read among those who ask meanwhile", async () => {
  const { cache, load, loads } = open();
  const answers = await Promise.all(Array.from({ length: 20 }, () => cache.read("a", load("x"))));
  assertEquals([answers.length, loads()], [20, 1]);
});

Deno.test("RecordCache does not keep a read that was under way when the record changed", async () => {
  const { cache, load } = open();
  const slow = Promise.withResolvers<Named>();
  const before = cache.read("a", () => slow.promise);
  cache.forget("a");
  const after = cache.read("a", load("new"));
  assertEquals(await after, { name: "new" });
  slow.resolve({ name: "old" });
  assertEquals(await before, { name: "old" });
  assertEquals(cache.read("a", load("newer")), { name: "new" });
});

Deno.test("RecordCache forgets all at once, reads under way too", async () => {
  const { cache, load } = open();
  await cache.read("a", load("x"));
  const slow = Promise.withResolvers<Named>();
  const running = cache.read("b", () => slow.promise);
  cache.clear();
  slow.resolve({ name: "old" });
  await running;
  assertEquals(await cache.read("a", load("y")), { name: "y" });
  assertEquals(await cache.read("b", load("y")), { name: "y" });
});

Deno.test("RecordCache passes a failed read on to all who wait and tries again for the next", async () => {
  const { cache, load } = open();
  const failing = () => Promise.reject(new Error("gone"));
  const first = cache.read("a", failing);
  const second = cache.read("a", load("x"));
  await assertRejects(async () => await first, /gone/);
  await assertRejects(async () => await second, /gone/);
  assertEquals(await cache.read("a", load("x")), { name: "x" });
});

Deno.test("RecordCache holds no more than its number of entries and drops the oldest", async () => {
  const { cache, load } = open(3);
  for (const key of ["a", "b", "c", "d"]) await cache.read(key, load(key));
  assertEquals(cache.read("d", load("again")), { name: "d" });
  assertEquals(cache.read("b", load("again")), { name: "b" });
  assertEquals(await cache.read("a", load("again")), { name: "again" });
});

Deno.test("RecordCache takes what was read beside a record, as old as it is and where it has none", async () => {
  const { clock, cache, load, loads } = open();
  await cache.read("a", load("x"));
  const moment = cache.moment();
  clock.turn(600_000);
  cache.offer([["a", { name: "other" }], ["b", { name: "y" }]], moment);
  assertEquals(cache.read("a", load("again")), { name: "x" });
  assertEquals(cache.read("b", load("again")), { name: "y" });
  assertEquals(loads(), 1);
  clock.turn(400_000);
  assertEquals(await cache.read("b", load("again")), { name: "again" });
});

Deno.test("RecordCache takes nothing that was read before a change, and nothing in the place of another record", async () => {
  const { cache, load } = open(2);
  for (const change of [() => cache.forget("z"), () => cache.forgetWhere(() => false), () => cache.clear()]) {
    const moment = cache.moment();
    change();
    cache.offer([["b", { name: "old" }]], moment);
    assertEquals(await cache.read("b", load("new")), { name: "new" });
    cache.forget("b");
  }
  await cache.read("a", load("x"));
  await cache.read("b", load("x"));
  cache.offer([["c", { name: "y" }]], cache.moment());
  assertEquals(cache.read("a", load("again")), { name: "x" });
  assertEquals(await cache.read("c", load("read")), { name: "read" });
});

Deno.test("RecordCache keeps what is long only while all of it has room, and no longer one at all", async () => {
  const { cache, load, loads } = open();
  const long = "x".repeat(8_000_000);
  for (const key of ["a", "b", "c"]) await cache.read(key, load(key + long));
  await cache.read("small", load("x"));
  await cache.read("too long", load(long.repeat(3)));
  const before = loads();
  for (const key of ["b", "c", "small"]) await cache.read(key, load("y"));
  assertEquals(loads() - before, 0);
  await cache.read("too long", load(long.repeat(3)));
  await cache.read("a", load("a"));
  assertEquals(loads() - before, 2);
  // What is forgotten makes room.
  cache.forget("b");
  await cache.read("d", load(`d${long}`));
  await cache.read("c", load("y"));
  assertEquals(loads() - before, 3);
});
