// A stand-in of Turso Cloud for one test, and stores on it.
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import type { RemoteStore } from "../../lib/tenant/remote/remote_store.ts";
import { createTursoStore, type TursoStoreOptions } from "../../lib/tenant/turso/create_turso_store.ts";
import { startTursoStandIn, type TursoStandIn, type TursoStandInOptions } from "../testing/turso_stand_in.ts";

export interface TursoWorld {
  readonly turso: TursoStandIn;
  /** A store as another process would have it. Closed at the end. */
  store(options?: Partial<TursoStoreOptions>): RemoteStore;
}

/** Runs `body` with a stand-in of its own; where there is no sqld for this machine it says so and returns. */
export async function withTurso(
  body: (world: TursoWorld) => Promise<void>,
  options: TursoStandInOptions = {},
): Promise<void> {
  const turso = await startTursoStandIn(options);
  if (turso === null) return;
  const stores: RemoteStore[] = [];
  try {
    await body({
      turso,
      store: (options = {}) => {
        const store = tursoStore(turso, options);
        stores.push(store);
        return store;
      },
    });
  } finally {
    for (const store of stores) await store.close();
    await turso.stop();
  }
}

export function tursoStore(turso: TursoStandIn, options: Partial<TursoStoreOptions> = {}): RemoteStore {
  const { organization, group, platformToken: token, apiUrl } = turso;
  return createTursoStore({
    ...{ organization, group, token, apiUrl },
    ...{ clock: systemClock, log: silentLog, queryTimeoutMs: 5000, logDays: 30, snapshotDays: 7 },
    ...options,
  });
}
