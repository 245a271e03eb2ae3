// A process of its own with a transaction, for tests that kill it: <directory> <database> <steps>. It prints a line when it
// has done so many of the steps of `STEPS`.
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { tenantCall } from "../contracts/tenant_store.ts";
import { print } from "../testing/print.ts";

const [dataDirectory = "", databaseId = "", steps = "0"] = Deno.args;
const store = await createLocalStore({
  dataDirectory,
  queryTimeoutMs: 60_000,
  logDays: 30,
  snapshotDays: 7,
  clock: systemClock,
  log: silentLog,
  engineEnvironment: configFromEnvironment().engineEnvironment,
});
const database = store.open({ databaseId, namespaceId: "ns_1" });
const { schemaVersion } = await database.inspect([]);
const transaction = database.begin({ mode: "immediate", tokenId: "tok_1" });
const insert = (id: number) =>
  transaction.run(tenantCall(schemaVersion, "write", [["INSERT INTO t VALUES (?)", id]]));
const all = [
  () => insert(1),
  () => transaction.savepoint("savepoint", "s"),
  () => insert(2),
  () => transaction.commit(),
];
for (const step of all.slice(0, Number(steps))) await step();
print("done");
// The store's timers keep the process until it is killed.
