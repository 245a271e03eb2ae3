// A scrape of the service as a process, while others call it.
import { assert, assertEquals } from "@std/assert";
import { callService, serviceWorld } from "../testing/service_world.ts";
import { changes, readMetrics } from "./read_metrics.ts";

const METRICS_TOKEN = crypto.randomUUID() + crypto.randomUUID();

Deno.test("every scrape under load is whole, and in the end each call is counted once", async () => {
  await using world = await serviceWorld({ METRICS_TOKEN, FLOOD_PER_10S: "0" });
  const scrape = async () => {
    const response = await fetch(`${world.service.url}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    assertEquals(response.status, 200);
    return readMetrics(await response.text());
  };
  await callService(world, "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
  const before = await scrape();
  let isDone = false;
  const load = Promise.all(Array.from({ length: 8 }, async (_, writer) => {
    for (let at = 0; at < 25; at++) {
      const sql = at % 5 === 0
        ? `INSERT INTO items (name) VALUES ('w${writer}')`
        : "SELECT name FROM items WHERE id = 1";
      assertEquals((await callService(world, sql)).status, 200);
    }
  })).finally(() => isDone = true);
  let scrapes = 0;
  for (; !isDone; scrapes++) await scrape();
  await load;
  const after = await scrape();
  const changed = changes(before, after);
  assert(scrapes > 0);
  assertEquals(changed['cubby_http_requests_total{surface="v1",status="2xx"}'], 200);
  assertEquals(changed['cubby_http_requests_total{surface="other",status="2xx"}'], scrapes + 1);
  assertEquals(changed['cubby_calls_total{class="read",outcome="ok"}'], 160);
  assertEquals(changed['cubby_calls_total{class="write",outcome="ok"}'], 40);
  assertEquals(changed["cubby_commit_calls_total"], 40);
  assertEquals(after.samples.get("cubby_http_requests_in_flight"), 1);
  // As `deno task start` may do: it needs no permission beside those.
  assert((after.samples.get("cubby_disk_free_bytes") ?? 0) > 0);
  assert((after.samples.get("cubby_process_resident_memory_bytes") ?? 0) > 0);
  for (const secret of [METRICS_TOKEN, world.token]) assert(!world.service.errors().includes(secret));
  const head = await fetch(`${world.service.url}/metrics`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  assertEquals([head.status, await head.text()], [200, ""]);
});
