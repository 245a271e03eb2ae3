// How long calls took, from the query log: by nearest rank, in hours and days of UTC, of calls that reached the engine.
import { assert, assertEquals } from "@std/assert";
import { DAY_MS, HOUR_MS } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

interface World {
  readonly app: StartedApp;
  readonly tenant: TestNamespace;
  /** Puts calls into the log as the pipeline does, each with the time that it took. */
  readonly log: (ts: number, ...durations: readonly number[]) => Promise<void>;
  readonly read: (query: Readonly<Record<string, string>>) => Promise<unknown>;
}

async function world(app: StartedApp, slug: string): Promise<World> {
  const tenant = await app.namespace(slug);
  const { control, tenants } = app.deps;
  const namespaceId = (await control.namespaces.bySlug(slug))?.id ?? "";
  const databaseId = (await control.databases.bySlug(namespaceId, "main"))?.id ?? "";
  return {
    ...{ app, tenant },
    log: (ts, ...durations) => {
      const database = tenants.open({ databaseId, namespaceId });
      for (const durationMs of durations) {
        database.record({
          ...{ id: newId("qry", ts), ts, namespaceId, databaseId, tokenId: "tok_x", userId: null },
          ...{ operation: "query", statementCount: 1, sql: "SELECT 1", status: "ok", errorKind: null },
          ...{ rowsRead: 0, rowsWritten: 0, durationMs },
        });
      }
      return Promise.resolve();
    },
    read: async (query) => {
      const path = `${tenant.database.path}/latency?${new URLSearchParams(query)}`;
      const { status, text } = await app.request("GET", path, { token: tenant.token });
      assertEquals(status, 200, text);
      return JSON.parse(text).data;
    },
  };
}

/** Three days ago: older rows of the log may be gone. */
const DAY = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;
const NINE = DAY + 9 * HOUR_MS;
const at = (ms: number) => new Date(ms).toISOString();
const upTo = (last: number) => Array.from({ length: last }, (_, place) => place + 1);
const days = { since: at(DAY), until: at(DAY + 2 * DAY_MS) };

testSteps("latency", world, {
  "is nothing where nobody has called": async ({ read }) => {
    assertEquals(await read({}), { calls: 0, p50Ms: null, p95Ms: null, over: [] });
  },
  "is what half and 95 of 100 calls stayed below, overall and by hour or day": async ({ log, read }) => {
    await log(NINE + 1, ...upTo(100).reverse());
    await log(NINE + HOUR_MS, 7.25);
    await log(NINE + 30 * HOUR_MS, 500, 400);
    // Turned away before they reached the engine: they say nothing about it.
    await log(NINE + 2, 0, 0, 0);
    const nine = { from: at(NINE), calls: 100, p50Ms: 50, p95Ms: 95 };
    const ten = { from: at(NINE + HOUR_MS), calls: 1, p50Ms: 7.25, p95Ms: 7.25 };
    const late = { from: at(NINE + 30 * HOUR_MS), calls: 2, p50Ms: 400, p95Ms: 500 };
    const all = { calls: 103, p50Ms: 51, p95Ms: 97 };
    assertEquals(await read({ ...days, by: "hour" }), { ...all, over: [nine, ten, late] });
    const byDays = [
      { from: at(DAY), calls: 101, p50Ms: 50, p95Ms: 95 },
      { ...late, from: at(DAY + DAY_MS) },
    ];
    const byDay = await read({ ...days, by: "day" }) as { over: unknown };
    assertEquals(byDay.over, byDays);
    const only = { since: at(NINE + HOUR_MS), until: at(NINE + 30 * HOUR_MS) };
    assertEquals(await read(only), { calls: 1, p50Ms: 7.25, p95Ms: 7.25, over: [ten] });
  },
  "counts the calls that one makes, costs nothing and leaves no row": async ({ tenant, read, app }) => {
    await tenant.query("SELECT 1");
    const { calls, p50Ms } = await read({}) as { calls: number; p50Ms: number };
    assertEquals(calls, 1);
    assert(p50Ms > 0);
    await read({});
    const log = await app.request("GET", `${tenant.database.path}/query_log`, { token: tenant.token });
    assertEquals((log.body.data as { entries: unknown[] }).entries.length, 1);
  },
  "of very many calls looks at the newest 10,000": async ({ log, read }) => {
    await log(NINE, ...upTo(50).map(() => 1000));
    // In parts, each of which is in its table before the next one comes: what waits there is bounded.
    for (let part = 0; part < 10; part++) {
      await log(NINE + 1, ...upTo(1000).map(() => 2));
      await read(days);
    }
    assertEquals(await read(days), {
      ...{ calls: 10_000, p50Ms: 2, p95Ms: 2 },
      over: [{ from: at(NINE), calls: 10_000, p50Ms: 2, p95Ms: 2 }],
    });
  },
});
