// Rate limits: exact, shared by all processes on one KV, never above the limit.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { RateCounters, type RateWindow } from "../../lib/control/rate_counters.ts";
import { oneStore } from "../testing/cases.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { publishedApp } from "./publish.ts";

const { run, test } = oneStore();
Deno.test("rate", run);

const subject = { databaseId: "db_1", slug: "item", client: "somebody" };

function windows(limit: number): () => RateWindow[] {
  return () => [{ name: "minute", id: "minute1", limit, endsAtMs: Date.now() + 60_000 }];
}

async function admitted(counters: RateCounters, calls: number, limit: number): Promise<number> {
  const outcomes = await Promise.all(
    Array.from({ length: calls }, () => counters.take(subject, windows(limit))),
  );
  return outcomes.filter((outcome) => outcome.admitted).length;
}

test("of any number of calls at once exactly the limit passes", async () => {
  using kv = await Deno.openKv(":memory:");
  for (const limit of [1, 5, 60, 1000]) {
    const counters = new RateCounters(kv, new TurnableClock());
    const own = { ...subject, slug: `item-${limit}` };
    const outcomes = await Promise.all(
      Array.from({ length: limit * 2 + 10 }, () => counters.take(own, windows(limit))),
    );
    assertEquals(outcomes.filter((outcome) => outcome.admitted).length, limit);
  }
});

test("several processes on one KV never admit more than the limit together, and together all of it", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = new TurnableClock();
  const processes = Array.from({ length: 4 }, () => new RateCounters(kv, clock));
  let sum = 0;
  for (let round = 0; round < 20; round++) {
    const parts = await Promise.all(processes.map((counters) => admitted(counters, 10, 100)));
    sum += parts.reduce((all, part) => all + part, 0);
    assert(sum <= 100);
  }
  assertEquals(sum, 100);
});

test("a busy client costs a commit for many calls, and a refused one none", async () => {
  using real = await Deno.openKv(":memory:");
  let commits = 0;
  const kv: Deno.Kv = new Proxy(real, {
    get(target, name) {
      if (name === "atomic") commits++;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const counters = new RateCounters(kv, new TurnableClock());
  for (let i = 0; i < 10_000; i++) await counters.take(subject, windows(10_000));
  assert(commits < 200, String(commits));
  const before = commits;
  for (let i = 0; i < 100; i++) assert(!(await counters.take(subject, windows(10_000))).admitted);
  assertEquals(commits, before);
});

test("an endpoint counts by address and UTC minute and says what is left", async () => {
  const clock = new TurnableClock();
  // To the begin of a day: the minutes that pass below are all of one.
  clock.turn(86_400_000 - clock.now() % 86_400_000);
  await using world = await publishedApp({ clock, settings: { TRUST_PROXY: "1" } });
  await world.put({ slug: "item", rateLimit: { perMin: 2, perDay: 5 } });
  const from = (address: string) => world.call("item?id=1", { headers: { "x-forwarded-for": address } });
  const first = await from("192.0.2.1");
  assertEquals(first.status, 200);
  assertEquals(first.headers.get("ratelimit-policy"), '"minute";q=2;w=60, "day";q=5;w=86400');
  assertMatch(first.headers.get("ratelimit") ?? "", /^"minute";r=1;t=\d+, "day";r=4;t=\d+$/);
  assertEquals((await from("192.0.2.1")).status, 200);
  const third = await from("192.0.2.1");
  assertEquals([third.status, third.body.code], [429, "rate_limited"]);
  const wait = Number(third.headers.get("retry-after"));
  assert(wait >= 1 && wait <= 60, String(wait));
  assertMatch(third.headers.get("ratelimit") ?? "", /^"minute";r=0;t=\d+, "day";r=3;t=\d+$/);
  assertEquals((await from("192.0.2.2")).status, 200);
  // What the client itself writes in front of the proxy's entry changes nothing.
  assertEquals((await from("203.0.113.9, 192.0.2.1")).status, 429);
  clock.turn(60_000);
  assertEquals([(await from("192.0.2.1")).status, (await from("192.0.2.1")).status], [200, 200]);
  clock.turn(60_000);
  assertEquals((await from("192.0.2.1")).status, 200);
  const day = await from("192.0.2.1");
  assertEquals(day.status, 429);
  assert(Number(day.headers.get("retry-after")) > 60);
});

test("without a trusted proxy X-Forwarded-For changes nothing", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", rateLimit: { perDay: 1 } });
  const statuses = [];
  for (const address of ["192.0.2.1", "192.0.2.2"]) {
    statuses.push((await world.call("item?id=1", { headers: { "x-forwarded-for": address } })).status);
  }
  assertEquals(statuses, [200, 429]);
});

test("each endpoint has a limit of its own", async () => {
  await using world = await publishedApp();
  for (const slug of ["item", "other"]) await world.put({ slug, rateLimit: { perDay: 1 } });
  const statuses = [];
  for (const path of ["item?id=1", "other?id=1", "item?id=1"]) statuses.push((await world.call(path)).status);
  assertEquals(statuses, [200, 200, 429]);
});

test("a refused method costs nothing of the limit, refused input does", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", rateLimit: { perDay: 2 } });
  assertEquals((await world.call("item", { method: "POST" })).status, 405);
  assertEquals((await world.call("item?id=x")).status, 400);
  assertEquals((await world.call("item?id=1")).status, 200);
  assertEquals((await world.call("item?id=1")).status, 429);
});
