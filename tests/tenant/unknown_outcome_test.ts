// A write of which nobody can tell whether it was committed: whoever follows the database is told to look.
import { assert, assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { LocalDatabase } from "../../lib/tenant/local/local_database.ts";
import { Tenant, tenantCall } from "../contracts/tenant_store.ts";

Deno.test("followers are told of a write whose outcome nobody knows, and not of one that was never taken", async () => {
  const dataDirectory = await Deno.makeTempDir({ prefix: "cubby_unknown_" });
  const store = await createLocalStore({
    ...{ dataDirectory, queryTimeoutMs: 1000, logDays: 30, snapshotDays: 7, clock: systemClock },
    ...{ log: silentLog, engineEnvironment: configFromEnvironment().engineEnvironment },
  });
  try {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (n)"]);
    const { schemaVersion } = await tenant.database.inspect([]);
    const { database } = tenant;
    assert(database instanceof LocalDatabase);
    const { lanes } = database;
    let told = 0;
    const unwatch = store.commits.watch(tenant.id, () => told++);
    for (const [code, expected] of [["outcome_unknown", 1], ["database_busy", 0]] as const) {
      told = 0;
      // As a lane does whose engine has ended at the commit and cannot be asked, and one with too many calls.
      lanes.addCall = (job) => job.reject(new AppError(code));
      const call = tenantCall(schemaVersion, "write", [["INSERT INTO t VALUES (1)"]]);
      const ended = await database.run(call).catch((error) => error instanceof AppError && error.code);
      assertEquals([ended, told], [code, expected]);
    }
    unwatch();
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
});
