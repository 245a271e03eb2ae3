// Where the files of embedded tenants are. An id is checked before it becomes part of a path.
import { isId } from "../../core/ids.ts";

export interface TenantPaths {
  /** The one folder that engine children may touch. */
  readonly tenants: string;
  /** Progress files of the children; emptied at the start. */
  readonly run: string;
}

export function tenantPaths(dataDirectory: string): TenantPaths {
  return { tenants: `${dataDirectory}/tenants`, run: `${dataDirectory}/run` };
}

/** `<tenants>/<two characters>/<id>.db`: 1,024 folders keep each listing short. */
export function databasePath(tenants: string, databaseId: string): string {
  if (!isId("db", databaseId)) throw new TypeError("not a database id");
  return `${tenants}/${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
}

/** Where a database's snapshots are. */
export function snapshotFolder(tenants: string, databaseId: string): string {
  return `${databasePath(tenants, databaseId).slice(0, -".db".length)}.snapshots`;
}

/** Where files of the database are that restores have found damaged and set aside. */
export function damagedFolder(tenants: string, databaseId: string): string {
  return `${databasePath(tenants, databaseId).slice(0, -".db".length)}.damaged`;
}

/** The database file and what is kept beside it, by SQLite and as the ancestor of a branch. */
export function databaseFiles(tenants: string, databaseId: string): string[] {
  const path = databasePath(tenants, databaseId);
  const ancestor = `${path.slice(0, -".db".length)}.ancestor.db`;
  const restoring = `${path}.restoring`;
  return [path, ancestor, restoring].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]).concat(
    `${ancestor}-journal`,
  );
}
