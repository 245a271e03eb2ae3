// Endpoint records: what is kept, for how long, and what another process sees.
import { assert, assertEquals } from "@std/assert";
import { Endpoints } from "../../lib/control/endpoints.ts";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { CACHE_AGE_MS, MAX_REVISIONS } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import { databaseRecord } from "../testing/control_world.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const spec: EndpointSpec = {
  ...{ slug: "one", name: "One", kind: "query", method: "GET", sql: "SELECT 1", input: [], output: "rows" },
};
const by = { namespaceId: "ns_1", databaseId: "db_1", slug: "one", actor: "tok_1" };

/** A KV that holds databases with these ids and nothing else. */
async function openWith(...ids: string[]): Promise<Deno.Kv> {
  const kv = await Deno.openKv(":memory:");
  for (const id of ids) {
    const record = { ...databaseRecord(by.namespaceId, "main", 0), id };
    await kv.set(keys.database(by.namespaceId, id), record);
  }
  return kv;
}
const publish = { status: "published", from: ["draft", "paused"] } as const;
const pause = { status: "paused", from: ["published"] } as const;

Deno.test("a change is seen at once in its own process, and within the age of the cache in another", async () => {
  using kv = await openWith("db_1");
  const clock = new TurnableClock();
  const [here, there] = [new Endpoints(kv, clock), new Endpoints(kv, clock)];
  await here.create(spec, by);
  assertEquals((await there.bySlug("db_1", "one"))?.status, "draft");
  assert((await here.setStatus(publish, by)).ok);
  assertEquals((await here.bySlug("db_1", "one"))?.status, "published");
  assertEquals((await here.published("db_1")).length, 1);
  assertEquals((await there.bySlug("db_1", "one"))?.status, "draft");
  clock.turn(CACHE_AGE_MS);
  assertEquals((await there.bySlug("db_1", "one"))?.status, "published");
  await here.remove(by);
  assertEquals(await here.bySlug("db_1", "one"), null);
  assertEquals(await here.published("db_1"), []);
});

Deno.test("publishing and pausing at once leaves one state, and a revision for every change", async () => {
  using kv = await openWith("db_1");
  const clock = new TurnableClock();
  const processes = Array.from({ length: 4 }, () => new Endpoints(kv, clock));
  const [first] = processes;
  assert(first);
  await first.create(spec, by);
  const outcomes = await Promise.all(
    processes.flatMap((one) => [one.setStatus(publish, by), one.setStatus(pause, by)]),
  );
  const revisions = await first.revisions("db_1", "one");
  const record = await first.read("db_1", "one");
  assertEquals(revisions.map(({ revision }) => revision), revisions.map((_, at) => revisions.length - at));
  assertEquals([record?.revision, record?.status], [revisions[0]?.revision, revisions[0]?.status]);
  assert(outcomes.some(({ ok }) => ok));
});

Deno.test("the newest revisions of an endpoint are kept, also of one that was deleted meanwhile", async () => {
  using kv = await openWith("db_1");
  const endpoints = new Endpoints(kv, new TurnableClock());
  await endpoints.create(spec, by);
  for (let change = 1; change < MAX_REVISIONS; change++) await endpoints.replace(spec, by);
  const numbers = async () => (await endpoints.revisions("db_1", "one")).map(({ revision }) => revision);
  const all = await numbers();
  assertEquals([all.length, all[0], all.at(-1)], [MAX_REVISIONS, MAX_REVISIONS, 1]);
  await endpoints.remove(by);
  assertEquals((await endpoints.create(spec, by))?.revision, MAX_REVISIONS + 2);
  const left = await numbers();
  assertEquals([left.length, left[0], left.at(-1)], [MAX_REVISIONS, MAX_REVISIONS + 2, 3]);
});

Deno.test("of an endpoint that had more revisions before there was a bound, changes end the oldest, a number of them each", async () => {
  using kv = await openWith("db_1");
  const endpoints = new Endpoints(kv, new TurnableClock());
  const record = await endpoints.create(spec, by);
  assert(record);
  const newest = 2 * MAX_REVISIONS + 200;
  const [first] = await endpoints.revisions("db_1", "one");
  assert(first);
  for (let revision = 2; revision <= newest; revision++) {
    await kv.set(keys.endpointRevision("db_1", "one", revision), { ...first, revision });
  }
  await kv.set(keys.endpoint("db_1", "one"), { ...record, revision: newest });
  const oldest = async () => (await endpoints.revisions("db_1", "one")).at(-1)?.revision;
  assert((await endpoints.setStatus(publish, by)).ok);
  const left = await oldest();
  assert(left !== undefined && left > 100 && left < MAX_REVISIONS, String(left));
  for (let more = 2; more <= 5; more++) await endpoints.replace(spec, by);
  assertEquals(await oldest(), newest + 5 - MAX_REVISIONS + 1);
  await endpoints.remove(by);
  assertEquals(await oldest(), newest + 6 - MAX_REVISIONS + 1);
});

Deno.test("removing all of a database leaves the others alone", async () => {
  using kv = await openWith("db_1", "db_2");
  const endpoints = new Endpoints(kv, new TurnableClock());
  for (const databaseId of ["db_1", "db_2"]) {
    for (let at = 0; at < 205; at++) {
      await endpoints.create({ ...spec, slug: `e${at}` }, { ...by, databaseId, slug: `e${at}` });
    }
  }
  await endpoints.removeAll("db_1");
  assertEquals([(await endpoints.list("db_1")).length, (await endpoints.list("db_2")).length], [0, 205]);
  assertEquals((await endpoints.revisions("db_1", "e7")).length, 0);
  assertEquals((await endpoints.revisions("db_2", "e7")).length, 1);
});

Deno.test("of the lists of endpoints of many databases as many are cached as have their bound of characters together", async () => {
  const ids = ["db_1", "db_2", "db_3"];
  using kv = await openWith(...ids);
  const endpoints = new Endpoints(kv, new TurnableClock());
  const sql = `SELECT '${"x".repeat(50_000)}'`;
  // Two lists of three have room.
  const each = 160;
  for (const databaseId of ids) {
    for (let at = 0; at < each; at++) {
      const slug = `e${at}`;
      const record = { databaseId, spec: { ...spec, slug, sql }, revision: 1, createdAt: 0, updatedAt: 0 };
      await kv.set(keys.endpoint(databaseId, slug), { ...record, status: "published" });
    }
  }
  const [first, second, third] = [
    await endpoints.published("db_1"),
    await endpoints.published("db_2"),
    await endpoints.published("db_3"),
  ];
  assertEquals([first.length, second.length, third.length], [each, each, each]);
  assert(await endpoints.published("db_3") === third);
  assert(await endpoints.published("db_2") === second);
  assert(await endpoints.published("db_1") !== first);
});
