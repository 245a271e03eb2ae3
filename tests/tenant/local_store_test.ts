// The embedded store against the contract of every tenant store.
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { tenantStoreContract } from "../contracts/tenant_store.ts";

tenantStoreContract("local", async () => {
  const dataDirectory = await Deno.makeTempDir();
  const store = await createLocalStore({
    dataDirectory,
    queryTimeoutMs: 1000,
    logDays: 30,
    snapshotDays: 7,
    clock: systemClock,
    log: silentLog,
    engineEnvironment: configFromEnvironment().engineEnvironment,
  });
  return {
    store,
    close: async () => {
      await store.close();
      await Deno.remove(dataDirectory, { recursive: true });
    },
  };
});
