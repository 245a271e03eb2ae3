// Opens the embedded store: its folders, the bound of its memory and its first engine child.
import { findParentTie, type ParentTie } from "./engine_process.ts";
import { ConfigError } from "../../core/errors.ts";
import { childrenFor, findEngineMemory } from "./engine_memory.ts";
import { openFolders } from "./tenant_paths.ts";
import { prepareProgressFiles } from "./progress_files.ts";
import { Scheduler } from "./scheduler.ts";
import { LocalStore, type LocalStoreSettings } from "./local_store.ts";

/** What the embedded store is opened with. */
export interface LocalStoreOptions extends LocalStoreSettings {
  readonly dataDirectory: string;
  /** The KV is empty, so no database can be there. */
  readonly newHere?: boolean;
  /** The environment that Deno needs to start a child (`HOME`, `DENO_DIR`). */
  readonly engineEnvironment: Readonly<Record<string, string>>;
  /** MB that all children may hold together. Default: see `findEngineMemory`. */
  readonly engineMemoryMb?: number | null;
  readonly maxChildren?: number;
  /** Tests set the portable one. */
  readonly parentTie?: ParentTie;
}

/**
 * Opens the store under `dataDirectory` (made if missing) and starts the first child. Throws `ConfigError` where the
 * memory of a child cannot be bounded, or the folders are not to be used.
 */
export async function createLocalStore(options: LocalStoreOptions): Promise<LocalStore> {
  const paths = await openFolders(options.dataDirectory, options.newHere ?? false);
  const memoryBytes = await findEngineMemory(options.engineMemoryMb ?? null);
  const maxChildren = options.maxChildren ?? childrenFor(memoryBytes);
  await prepareProgressFiles(paths.run, maxChildren);
  const scheduler = new Scheduler({
    tenantsDirectory: paths.tenants,
    runDirectory: paths.run,
    parentTie: options.parentTie ?? await findParentTie(),
    environment: options.engineEnvironment,
    clock: options.clock,
    log: options.log,
    maxChildren,
  });
  const store = new LocalStore(options, scheduler, paths.tenants, memoryBytes);
  if (await scheduler.slots[0]?.child.reports()) return store;
  await store.close();
  throw new ConfigError(
    "Let engine processes start under a bound of memory; the first one ended or did not say what it holds",
  );
}
