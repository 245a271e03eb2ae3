// What is told where tenants are in sqld: their calls as everywhere, and in place of an engine the requests to the server.
import { assert, assertEquals } from "@std/assert";
import { withSqld } from "../tenant/sqld_world.ts";
import { startApp } from "../testing/start_app.ts";
import { changes, readMetrics } from "./read_metrics.ts";

Deno.test("on sqld the same calls count, requests to it stand in the place of engine processes, and its loss is seen", async () => {
  await withSqld(async ({ sqld: { url, adminUrl, kill } }) => {
    await using app = await startApp({ settings: { TENANTS_URL: `sqld+${url}?admin=${adminUrl}` } });
    const scrape = async () =>
      readMetrics((await app.request("GET", "/metrics", { token: app.operatorKey })).text);
    const acme = await app.namespace();
    await acme.query("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)");
    const before = await scrape();
    const answers = [
      await acme.query("INSERT INTO items VALUES (1, 'a')"),
      await acme.query("SELECT name FROM items"),
    ];
    const after = await scrape();
    const changed = changes(before, after);
    assertEquals(changed['cubby_calls_total{class="write",outcome="ok"}'], 1);
    assertEquals(changed['cubby_calls_total{class="read",outcome="ok"}'], 1);
    const rowsRead = answers.reduce((sum, { body }) => sum + (body.meta?.rowsRead ?? NaN), 0);
    assertEquals([changed["cubby_rows_read_total"], changed["cubby_rows_written_total"]], [rowsRead, 1]);
    assert((changed['cubby_remote_requests_total{outcome="answered"}'] ?? 0) >= 2);
    assertEquals(after.samples.get('cubby_remote_requests_total{outcome="failed"}'), 0);
    assertEquals([...after.types.keys()].filter((name) => /engine|commit|lookups|spool/.test(name)), []);
    await kill();
    assertEquals((await acme.query("SELECT name FROM items WHERE id = 1")).status, 503);
    const lost = changes(after, await scrape());
    assert((lost['cubby_remote_requests_total{outcome="failed"}'] ?? 0) >= 1);
    assertEquals(lost['cubby_http_errors_total{code="store_unavailable"}'], 1);
  });
});
