// A process of its own with a store and an endless statement, for tests that kill it: <directory> <parent tie>.
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { print } from "../testing/print.ts";

const [dataDirectory = "", parentTie] = Deno.args;
const store = await createLocalStore({
  dataDirectory,
  queryTimeoutMs: 60_000,
  logDays: 30,
  snapshotDays: 7,
  clock: systemClock,
  log: silentLog,
  engineEnvironment: configFromEnvironment().engineEnvironment,
  parentTie: parentTie === "watcher" ? "watcher" : "pdeathsig",
});
const tenant = await Tenant.create(store);
void tenant.run("read", [[
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
]]).catch(() => {});
setTimeout(() => print("running"), 300);
