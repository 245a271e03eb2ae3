// A store of embedded databases in a folder of its own, for a test that needs nothing above it.
import { configFromEnvironment } from "../../lib/config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLog } from "../../lib/core/log.ts";
import { createLocalStore, type LocalStoreOptions } from "../../lib/tenant/local/create_local_store.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";

/** Opens a store on a folder. */
export function openLocalStore(
  dataDirectory: string,
  more: Partial<LocalStoreOptions> = {},
): Promise<LocalStore> {
  return createLocalStore({
    dataDirectory,
    ...{ queryTimeoutMs: 30_000, logDays: 30, snapshotDays: 7, clock: systemClock, log: silentLog },
    engineEnvironment: configFromEnvironment().engineEnvironment,
    ...more,
  });
}

/** Does `work` with a store that is gone afterwards. */
export async function withLocalStore(
  work: (store: LocalStore, folder: string) => Promise<void>,
  more: Partial<LocalStoreOptions> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const store = await openLocalStore(folder, more);
  try {
    await work(store, folder);
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}
