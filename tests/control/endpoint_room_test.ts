// How much the endpoints of a database and their revisions take at most: their lists come whole.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Endpoints } from "../../lib/control/endpoints.ts";
import type { EndpointSpec } from "../../lib/core/endpoint_spec.ts";
import { MAX_ENDPOINT_CHARACTERS, MAX_REVISION_CHARACTERS } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import { databaseRecord } from "../testing/control_world.ts";
import { startApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const LONG = 55_000;
const long = (slug: string, more = 0) => ({
  ...{
    slug,
    name: slug,
    kind: "query",
    method: "GET",
    sql: `SELECT '${"x".repeat(LONG + more)}'`,
    input: [],
  },
  output: "rows",
} as const satisfies EndpointSpec);
const place = { namespaceId: "ns_1", databaseId: "db_1", actor: "tok_1" };

async function openEndpoints() {
  const kv = await Deno.openKv(":memory:");
  await kv.set(keys.database("ns_1", "db_1"), { ...databaseRecord("ns_1", "main", 0), id: "db_1" });
  const endpoints = new Endpoints(kv, new TurnableClock());
  const create = (slug: string) => endpoints.create(long(slug), { ...place, slug });
  return { kv, endpoints, create, [Symbol.dispose]: () => kv.close() };
}

const full = (work: () => Promise<unknown>) => assertRejects(work, /Delete an endpoint first, or shorten it/);

/** As many as there is room for, several at a time. */
async function fill({ create }: Pick<Awaited<ReturnType<typeof openEndpoints>>, "create">): Promise<number> {
  let made = 0;
  for (let at = 0;; at += 8) {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, one) => create(`e${at + one}`)));
    made += outcomes.filter(({ status }) => status === "fulfilled").length;
    if (outcomes.some(({ status }) => status === "rejected")) return made;
  }
}

Deno.test("the endpoints of a database have a bound, also those that come at once, and what is deleted or shortened makes room", async () => {
  using world = await openEndpoints();
  const { endpoints, create } = world;
  assertEquals(await fill(world), Math.floor(MAX_ENDPOINT_CHARACTERS / JSON.stringify(long("e100")).length));
  await full(() => create("more"));
  await full(() => endpoints.replace(long("e1", LONG), { ...place, slug: "e1" }));
  assert(await endpoints.replace({ ...long("e1"), sql: "SELECT 1" }, { ...place, slug: "e1" }));
  assert(await create("more"));
  await full(() => create("another"));
  // What takes no more room goes on.
  assert((await endpoints.setStatus({ status: "published", from: ["draft"] }, { ...place, slug: "e2" })).ok);
  assert(await endpoints.remove({ ...place, slug: "e3" }));
  assert(await create("another"));
  await full(() => create("e3"));
  assertEquals(await endpoints.read("db_1", "e3"), null);
});

Deno.test("the endpoints of a database that were made before they were counted are counted with the next", async () => {
  using world = await openEndpoints();
  await fill(world);
  await world.kv.delete(keys.endpointCharacters("db_1"));
  await full(() => world.create("more"));
  await world.endpoints.remove({ ...place, slug: "e1" });
  assert(await world.create("more"));
  await full(() => world.create("another"));
});

Deno.test("of long revisions fewer are kept", async () => {
  using world = await openEndpoints();
  const by = { ...place, slug: "one" };
  await world.create("one");
  for (let change = 1; change < 200; change++) await world.endpoints.replace(long("one"), by);
  const revisions = await world.endpoints.revisions("db_1", "one");
  assertEquals(revisions[0]?.revision, 200);
  assertEquals(revisions.length, Math.ceil(MAX_REVISION_CHARACTERS / JSON.stringify(long("one")).length));
});

Deno.test("an endpoint for which there is no room is 409 and not there, and the list of the others is bounded", async () => {
  await using app = await startApp();
  await app.namespace();
  const path = "/api/namespaces/acme/databases/main/endpoints";
  const token = app.operatorKey;
  const create = (slug: string) => app.request("POST", path, { token, body: long(slug) });
  for (let at = 0;; at += 8) {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, one) => create(`e${at + one}`)));
    const refused = answers.find(({ status }) => status !== 201);
    if (!refused) continue;
    assertEquals([refused.status, refused.body.code], [409, "too_many_endpoints"], refused.text);
    break;
  }
  const list = await app.request("GET", path, { token });
  assert(
    list.text.length > MAX_ENDPOINT_CHARACTERS * 0.9 && list.text.length < MAX_ENDPOINT_CHARACTERS * 1.1,
  );
  assertEquals((await app.request("DELETE", `${path}/e1`, { token })).status, 200);
  assertEquals((await create("e1")).status, 201);
});
