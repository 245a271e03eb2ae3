// The store over Turso's platform API against the contract of every tenant store, on the stand-in.
import { tenantStoreContract } from "../contracts/tenant_store.ts";
import { startTursoStandIn } from "../testing/turso_stand_in.ts";
import { tursoStore } from "./turso_world.ts";

const probe = await startTursoStandIn();
await probe?.stop();

if (probe !== null) {
  tenantStoreContract("turso", async () => {
    const turso = await startTursoStandIn({ required: true });
    if (turso === null) throw new TypeError("no sqld");
    const store = tursoStore(turso, { queryTimeoutMs: 2000 });
    return {
      store,
      close: async () => {
        await store.close();
        await turso.stop();
      },
    };
  });
}
