// What the service does each minute and each ten minutes beside requests.
import { assert, assertEquals } from "@std/assert";
import { everyMinute, everyTenMinutes } from "../../routes/http/upkeep.ts";
import { startApp } from "../testing/start_app.ts";

Deno.test("each part of the upkeep is tried though others fail, and each failure is told", async () => {
  await using app = await startApp();
  const { kv, tenants, exports } = app.deps;
  assert(exports);
  const fails = () => {
    throw new TypeError("it does not answer");
  };
  const names = ["list", "get", "getMany", "atomic"] as const;
  const own = Object.fromEntries(names.map((name) => [name, kv[name].bind(kv)]));
  Object.assign(kv, Object.fromEntries(names.map((name) => [name, fails])));
  for (const swept of [tenants, exports]) {
    swept.sweep = () => Promise.reject(new TypeError("it does not answer"));
  }
  const before = app.logLines.length;
  await everyMinute({ deps: app.deps, backups: null });
  await everyTenMinutes({ deps: app.deps, backups: null });
  Object.assign(kv, own);
  const events = app.logLines.slice(before).map((line) => String(JSON.parse(line).event));
  assertEquals(events, [
    "blocks_not_swept",
    "leftovers_not_swept",
    "webhooks_not_read",
    "lifetimes_not_swept",
    "tenants_not_swept",
    "exports_not_swept",
  ]);
});
