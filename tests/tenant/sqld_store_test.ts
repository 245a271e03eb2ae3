// The store over sqld against the contract of every tenant store, on a real sqld.
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createSqldStore } from "../../lib/tenant/sqld/create_sqld_store.ts";
import { tenantStoreContract } from "../contracts/tenant_store.ts";
import { startSqld } from "../testing/sqld.ts";

const args = ["--enable-namespaces", "--disable-default-namespace"];
const probe = await startSqld({ args });
await probe?.stop();

if (probe !== null) {
  tenantStoreContract("sqld", async () => {
    const sqld = await startSqld({ args, required: true });
    if (sqld === null) throw new TypeError("no sqld");
    const store = createSqldStore({
      url: sqld.url,
      adminUrl: sqld.adminUrl,
      adminToken: null,
      jwtKeyPem: null,
      clock: systemClock,
      log: silentLog,
      queryTimeoutMs: 2000,
      logDays: 30,
      snapshotDays: 7,
    });
    return {
      store,
      close: async () => {
        await store.close();
        await sqld.stop();
      },
    };
  });
}
