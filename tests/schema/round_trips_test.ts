// How often describe, search and doctor ask the engine: once, as soon as their statements are known.
import { assertEquals } from "@std/assert";
import { createApp } from "../../routes/app.ts";
import { appDeps } from "../../routes/http/app_deps.ts";
import type { DatabaseIds } from "../../lib/core/database_ids.ts";
import type { TenantDatabase, TenantStore } from "../../lib/tenant/tenant_store.ts";
import { callApi } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";

/** The same store; `asked` counts every call that reaches an engine. */
function counted(store: TenantStore): { store: TenantStore; asked: () => number } {
  let calls = 0;
  const countedDatabase = (database: TenantDatabase) =>
    new Proxy(database, {
      get: (target, name) => (...input: unknown[]) => {
        calls++;
        return Reflect.apply(Reflect.get(target, name), target, input);
      },
    });
  const proxy = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "open") return value.bind(target);
      return (database: DatabaseIds) => countedDatabase(target.open(database));
    },
  });
  return { store: proxy, asked: () => calls };
}

Deno.test("describe, search and doctor are one call to the engine each, and see what has changed since", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { config, baseUrl, clock, log, kv, tenants, bodyWatch, operatorKeyHash } = app.deps;
  const { store, asked } = counted(tenants);
  const deps = appDeps({ config, baseUrl, clock, log, kv, tenants: store, bodyWatch, operatorKeyHash });
  const watched = createApp(deps);
  const get = async (operation: string) => {
    const before = asked();
    const answer = await callApi(watched, "GET", `${tenant.database.path}/${operation}`, {
      token: tenant.token,
    });
    assertEquals(answer.status, 200, answer.text);
    return { calls: asked() - before, text: answer.text };
  };
  await tenant.batch([
    ["CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)"],
    ["CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers(id))"],
  ]);
  const operations = ["describe", "search?q=customer", "doctor"];
  for (const operation of operations) await get(operation);
  for (const operation of operations) assertEquals((await get(operation)).calls, 1, operation);
  await tenant.query("INSERT INTO customers VALUES (1, 'Ada', 'old')");
  const mixed = await get("doctor");
  assertEquals([mixed.calls, mixed.text.includes("integer_text_mix")], [1, true], "rows are looked at anew");
  await tenant.setup("CREATE TABLE made (a)");
  assertEquals((await get("doctor")).text.includes("made"), true, "and so is the schema");
  assertEquals((await get("doctor")).calls, 1);
  await tenant.query("DROP TABLE orders");
  await tenant.query("DROP TABLE customers");
  const after = await get("doctor");
  assertEquals([after.text.includes("customers"), after.text.includes("made")], [false, true]);
  assertEquals((await get("doctor")).calls, 1);
  await deps.query.meter.close();
});
