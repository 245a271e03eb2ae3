// Paths of embedded tenants' files; makes and removes them. An id is checked before it becomes part of a path.
import { isId } from "../../core/ids.ts";

/** The folders of the store. */
export interface TenantPaths {
  /** The one folder that engine children may touch. */
  readonly tenants: string;
  /** Progress files of the children; emptied at the start. */
  readonly run: string;
}

/** The folders below a data folder. */
export function tenantPaths(dataDirectory: string): TenantPaths {
  return { tenants: `${dataDirectory}/tenants`, run: `${dataDirectory}/run` };
}

/** `<tenants>/<two characters>/<id>.db`: 1,024 folders keep each listing short. */
export function databasePath(tenants: string, databaseId: string): string {
  if (!isId("db", databaseId)) throw new TypeError("not a database id");
  return `${tenants}/${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
}

/** The folder of a database's snapshots. */
export function snapshotFolder(tenants: string, databaseId: string): string {
  return `${databasePath(tenants, databaseId).slice(0, -".db".length)}.snapshots`;
}

/** The folder of the damaged files that restores have set aside. */
export function damagedFolder(tenants: string, databaseId: string): string {
  return `${databasePath(tenants, databaseId).slice(0, -".db".length)}.damaged`;
}

/** The database file and the files beside it: SQLite's own, and a branch's ancestor. */
export function databaseFiles(tenants: string, databaseId: string): string[] {
  const path = databasePath(tenants, databaseId);
  const ancestor = `${path.slice(0, -".db".length)}.ancestor.db`;
  const restoring = `${path}.restoring`;
  return [path, ancestor, restoring].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]).concat(
    `${ancestor}-journal`,
  );
}

/** Bytes of a file, 0 where there is none. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** Makes the folder in which the database's file will be. */
export async function makeFolder(tenants: string, databaseId: string): Promise<void> {
  const path = databasePath(tenants, databaseId);
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
}

/** Removes everything of a database. */
export async function removeAll(tenants: string, databaseId: string): Promise<void> {
  for (const file of databaseFiles(tenants, databaseId)) await removeIfThere(file);
  for (const folder of [snapshotFolder, damagedFolder]) await removeIfThere(folder(tenants, databaseId));
}

/** Removes a file or a folder with its content, if it exists. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
