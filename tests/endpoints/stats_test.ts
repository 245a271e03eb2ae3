// Counts of an endpoint's calls by hour.
import { assert, assertEquals } from "@std/assert";
import { DAY_MS, HOUR_MS } from "../../lib/core/clock.ts";
import { type PublishedApp, publishedApp } from "../published/publish.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { startService } from "../testing/start_service.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const { run, test } = oneStore();
Deno.test("stats", run);

const ENDPOINTS = "/api/namespaces/acme/databases/main/endpoints";

interface Hour {
  readonly from: string;
  readonly calls: number;
  readonly byStatus: Record<string, number>;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly durationAvgMs: number;
  readonly durationMaxMs: number;
}

/** Times are unix milliseconds. */
async function stats(
  { app, acme }: PublishedApp,
  slug: string,
  range: { from?: number; to?: number } = {},
): Promise<Hour[]> {
  const query = new URLSearchParams(
    Object.entries(range).map(([name, value]) => [name, new Date(value).toISOString()]),
  );
  const path = `${ENDPOINTS}/${slug}/stats?${query}`;
  const { status, body, text } = await app.request("GET", path, { token: acme.token });
  assertEquals(status, 200, text);
  return body.data as Hour[];
}

/** A clock that stands shortly after a full hour, so that no test runs into the next one. */
function clockAtHour(): TurnableClock {
  const clock = new TurnableClock();
  clock.turn(HOUR_MS - clock.now() % HOUR_MS + 60_000);
  return clock;
}

test("stats count every call by hour and status, refused ones too, and agree with the rows", async () => {
  const clock = clockAtHour();
  await using world = await publishedApp({ clock });
  await world.put({ slug: "item", rateLimit: { perMin: 3 } });
  await world.put({ slug: "other" });
  const hour = new Date(clock.now() - clock.now() % HOUR_MS).toISOString();
  assertEquals(await stats(world, "item"), []);
  const refused = [
    await world.call("item?id=x"),
    await world.call("item?id=1", { method: "POST" }),
  ];
  assertEquals(refused.map(({ status }) => status), [400, 405]);
  const statuses: number[] = [];
  // A limit of three a minute was used once; the clock does not reach the next minute.
  for (let i = 0; i < 3; i++) statuses.push((await world.call("item?id=1")).status);
  assertEquals(statuses, [200, 200, 429]);
  await world.put({ slug: "item", rateLimit: { perMin: 3 } }, "paused");
  assertEquals((await world.call("item?id=1")).status, 503);
  await world.call("other?id=1");
  const [found, ...more] = await stats(world, "item");
  assertEquals(more, []);
  assert(found);
  const { durationAvgMs, durationMaxMs, ...counts } = found;
  assertEquals(counts, {
    ...{ from: hour, calls: 6, byStatus: { "200": 2, "400": 1, "405": 1, "429": 1, "503": 1 } },
    ...{ rowsRead: 2, rowsWritten: 0 },
  });
  const [[calls, averageMs, longestMs]] = rowsOf(
    await world.acme.query(
      "SELECT count(*), avg(duration_ms), max(duration_ms) FROM _service_meta_endpoint_call WHERE endpoint = 'item'",
    ),
  ) as [[number, number, number]];
  assertEquals([calls, longestMs], [6, durationMaxMs]);
  assert(Math.abs(averageMs - durationAvgMs) <= 0.001, `${averageMs} is not ${durationAvgMs}`);
});

test("stats of concurrent calls miss none and count none twice", async () => {
  const clock = clockAtHour();
  await using world = await publishedApp({ clock });
  await world.put({
    ...{ slug: "rename", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "UPDATE item SET name = name WHERE id = ?",
  });
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, i) => world.call("rename", { body: { id: i % 3 === 0 ? "none" : 1 } })),
  );
  const byStatus = Object.groupBy(answers, ({ status }) => status);
  assertEquals(Object.entries(byStatus).map(([status, of]) => [status, of?.length]), [["200", 200], [
    "400",
    100,
  ]]);
  const [found] = await stats(world, "rename");
  assertEquals([found?.calls, found?.byStatus, found?.rowsWritten], [300, { "200": 200, "400": 100 }, 200]);
});

test("from counts in and to does not; without them it is the last 24 hours; hours without calls are left out", async () => {
  const clock = clockAtHour();
  await using world = await publishedApp({ clock });
  await world.put({ slug: "item" });
  const startedMs = clock.now();
  const startHour = startedMs - startedMs % HOUR_MS;
  for (const calls of [1, 2, 3]) {
    for (let i = 0; i < calls; i++) await world.call("item?id=1");
    clock.turn(11 * HOUR_MS);
  }
  const counts = (hours: Hour[]) =>
    hours.map(({ from, calls }) => [(Date.parse(from) - startHour) / HOUR_MS, calls]);
  assertEquals(counts(await stats(world, "item")), [[11, 2], [22, 3]]);
  const all = { from: startHour, to: startHour + 40 * HOUR_MS };
  assertEquals(counts(await stats(world, "item", all)), [[0, 1], [11, 2], [22, 3]]);
  const middle = { from: startHour + 11 * HOUR_MS, to: startHour + 22 * HOUR_MS };
  assertEquals(counts(await stats(world, "item", middle)), [[11, 2]]);
  const [[ts]] = rowsOf(
    await world.acme.query("SELECT min(ts) FROM _service_meta_endpoint_call"),
  ) as [[number]];
  assertEquals(counts(await stats(world, "item", { from: ts, to: ts + 1 })), [[0, 1]]);
  assertEquals(counts(await stats(world, "item", { from: ts - 1, to: ts })), []);
});

test("stats refuse what is no range and name from or to, and an endpoint that is not there", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  const ask = (path: string) => world.app.request("GET", `${ENDPOINTS}/${path}`, { token: world.acme.token });
  const at = (ms: number) => new Date(ms).toISOString();
  const now = Date.now();
  const wrong = [
    ["from=yesterday", "from"],
    ["to=1700000000", "to"],
    [`from=${at(now)}&to=${at(now)}`, "to"],
    [`from=${at(now)}&to=${at(now - 1)}`, "to"],
    [`from=${at(now + DAY_MS)}`, "from"],
    [`from=${at(now - 31 * DAY_MS - 1)}&to=${at(now)}`, "from"],
    [`from=${at(now - 1)}&from=${at(now)}`, "from"],
    ["until=now", "until"],
  ];
  for (const [query, path] of wrong) {
    const { status, body, text } = await ask(`item/stats?${query}`);
    assertEquals([status, body.code], [400, "validation_failed"], query);
    assertEquals(body.issues?.map((issue) => issue.path), [path], text);
  }
  assertEquals((await ask(`item/stats?from=${at(now - 31 * DAY_MS)}&to=${at(now)}`)).status, 200);
  const unknown = await ask("nothing/stats");
  assertEquals([unknown.status, unknown.body.code], [404, "endpoint_not_found"]);
});

test("stats outlive a restart of the service", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_stats_" });
  const operator = "cub_op_statsstatsstatsstats";
  const send = async (url: string, method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${operator}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data }: { data: unknown } = await answer.json();
    return data;
  };
  const settings = { OPERATOR_KEY: operator, DEMO: "0" };
  const path = `${ENDPOINTS}/one`;
  const calls = async (url: string) =>
    (await send(url, "GET", `${path}/stats`) as Hour[]).reduce((sum, hour) => sum + hour.calls, 0);
  try {
    for (const before of [0, 5]) {
      await using service = await startService({ folder, settings });
      const { url } = service;
      if (before === 0) {
        await send(url, "POST", "/api/namespaces", { slug: "acme" });
        await send(url, "POST", "/api/namespaces/acme/databases", { slug: "main" });
        await send(url, "POST", ENDPOINTS, {
          ...{ slug: "one", name: "One", kind: "query", method: "GET", sql: "SELECT 1", input: [] },
          output: "rows",
        });
        await send(url, "POST", `${path}/publish`);
      }
      assertEquals(await calls(url), before);
      for (let i = 0; i < 5; i++) {
        assertEquals(await (await fetch(`${url}/p/acme/main/one`)).json(), { columns: ["1"], rows: [[1]] });
      }
      assertEquals((await service.stop()).code, 0, service.errors());
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
