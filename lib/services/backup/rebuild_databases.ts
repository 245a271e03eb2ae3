// Brings the files of databases from the archive, as they were last there, into a data folder that no service has.
import { AppError } from "../../core/errors.ts";
import { ArchiveFolder, archiveFolder } from "../../tenant/archive/archive_state.ts";
import { buildMoment } from "../../tenant/archive/build_moment.ts";
import type { ReadObjects } from "../../tenant/object_store.ts";
import { folderOf } from "../../core/folder_of.ts";
import { databasePath, sizeOf, syncPath, tenantPaths } from "../../tenant/local/files/tenant_paths.ts";
import type { KnownDatabase } from "./known_databases.ts";
import { removeIfThere } from "../../store/if_there.ts";

/** Where they are brought. */
export interface RebuildOptions {
  readonly store: ReadObjects;
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Now, in unix milliseconds. */
  readonly nowMs: number;
  /** Told of each, with what is wrong with it; null: it is there. */
  readonly told: (database: KnownDatabase, wrong: string | null) => void;
}

/** Files that are made at a time: each takes a processor. */
const AT_ONCE = 2;

/**
 * Makes those whose files are missing, each by one rename; what stands there stays. One that cannot be made keeps no other from
 * being made. Errors: those of the disk.
 */
export async function rebuildDatabases(
  known: readonly KnownDatabase[],
  options: RebuildOptions,
): Promise<void> {
  const waiting = [...known];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      options.told(next, await rebuild(next, options));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function rebuild(
  { databaseId }: KnownDatabase,
  { store, dataDir, environment, nowMs: restartMs }: RebuildOptions,
): Promise<string | null> {
  const path = databasePath(tenantPaths(dataDir).tenants, databaseId);
  if (await sizeOf(path) > 0) return null;
  const folder = `${dataDir}/restoring/${databaseId}`;
  try {
    // All that the archive has.
    const atMs = Number.MAX_SAFE_INTEGER;
    const built = await buildMoment({ store, databaseId, atMs, end: null, folder, environment, restartMs });
    await syncPath(built);
    await Deno.mkdir(folderOf(path), { recursive: true, mode: 0o700 });
    // Of a file that was lost alone: the engine would write what stands there over the one that comes.
    for (const end of ["-wal", "-shm"]) await removeIfThere(path + end);
    await beginAnew(dataDir, databaseId);
    await Deno.rename(built, path);
    await syncPath(folderOf(path));
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  } finally {
    await removeIfThere(folder);
  }
}

/** What is known of the lost file's log says nothing of the file that comes: the archive goes on by a base of its own. */
async function beginAnew(dataDir: string, databaseId: string): Promise<void> {
  const folder = new ArchiveFolder(archiveFolder(`${dataDir}/archive`, databaseId));
  const state = await folder.read();
  if (state !== null && state.phase !== "lost") await folder.write({ ...state, phase: "reads", file: "" });
}
