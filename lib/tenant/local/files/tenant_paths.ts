// Paths of the embedded store's folders and files; makes, opens and removes them. An id is checked before it becomes part
// of a path.
import { damagedBeside, snapshotsBeside } from "../../folders_beside.ts";
import { reasonOf } from "../../../core/attempt.ts";
import { folderOf } from "../../../core/folder_of.ts";
import { isId } from "../../../core/ids.ts";
import { AppError, ConfigError } from "../../../core/errors.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { entriesOf, ifThere, removeIfThere } from "../../../store/if_there.ts";

/** The engine takes paths of 512 bytes, and the longest of the files in it takes some 100 of them. */
const MAX_FOLDER_BYTES = 400;

/** The folders of the store. */
export interface TenantPaths {
  /** The one folder that engine children may touch. */
  readonly tenants: string;
  /** Progress files of the children; emptied at the start. */
  readonly run: string;
  /** Log rows that are not in their tables yet. */
  readonly spool: string;
  /** Files that the service builds; emptied at the start. */
  readonly scratch: string;
}

/** The folders below a data folder. */
export function tenantPaths(dataDirectory: string): TenantPaths {
  return {
    tenants: `${dataDirectory}/tenants`,
    run: `${dataDirectory}/run`,
    spool: `${dataDirectory}/spool`,
    scratch: `${dataDirectory}/scratch`,
  };
}

/** `<tenants>/<two characters>/<id>.db`: 1,024 folders keep each listing short. */
export function databasePath(tenants: string, databaseId: string): string {
  if (!isId("db", databaseId)) throw new TypeError("not a database id");
  return `${tenants}/${databaseId.slice(-2).toLowerCase()}/${databaseId}.db`;
}

/** The ids of the databases that have a file; none where the folder is missing. */
export async function* storedIds(tenants: string): AsyncGenerator<string> {
  for await (const { name: folder, isDirectory } of entriesOf(tenants)) {
    if (!isDirectory) continue;
    for await (const { name } of entriesOf(`${tenants}/${folder}`)) {
      const databaseId = name.slice(0, -".db".length);
      if (name.endsWith(".db") && isId("db", databaseId)) yield databaseId;
    }
  }
}

/** The folder of a database's snapshots. */
export function snapshotFolder(tenants: string, databaseId: string): string {
  return snapshotsBeside(databasePath(tenants, databaseId));
}

/** The folder of the damaged files that restores have set aside. */
export function damagedFolder(tenants: string, databaseId: string): string {
  return damagedBeside(databasePath(tenants, databaseId));
}

/** The database file and the files beside it: SQLite's own, and a branch's ancestor. */
function databaseFiles(tenants: string, databaseId: string): string[] {
  const path = databasePath(tenants, databaseId);
  const ancestor = `${path.slice(0, -".db".length)}.ancestor.db`;
  const restoring = `${path}.restoring`;
  return [path, ancestor, restoring].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]).concat(
    `${ancestor}-journal`,
  );
}

/** Bytes of a file, 0 where there is none. */
export async function sizeOf(path: string): Promise<number> {
  return (await ifThere(Deno.stat(path)))?.size ?? 0;
}

/** Brings a file, or a folder's list of names, to the disk. */
export async function syncPath(path: string): Promise<void> {
  using file = await Deno.open(path);
  await file.sync();
}

/**
 * Makes the folder in which the database's file will be. Not `tenants` too: where that is away, as its disk may be while the
 * service runs, a database would be made that is lost when it comes back. Errors: `storage_full`, `store_unavailable`.
 */
export async function makeFolder(tenants: string, databaseId: string): Promise<void> {
  try {
    await Deno.mkdir(folderOf(databasePath(tenants, databaseId)), { mode: 0o700 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return;
    if (error instanceof Deno.errors.NotFound) throw new AppError("store_unavailable");
    if (engineFailure(error, null).kind !== "full") throw error;
    throw new AppError("storage_full");
  }
}

/** Removes everything of a database. */
export async function removeAll(tenants: string, databaseId: string): Promise<void> {
  for (const file of databaseFiles(tenants, databaseId)) await removeIfThere(file);
  for (const folder of [snapshotFolder, damagedFolder]) await removeIfThere(folder(tenants, databaseId));
}

/** What the KV says of the store; nothing where nobody has asked it. */
export interface KnownByKv {
  /** The KV is empty, so no database can be there. */
  readonly newHere?: boolean;
  /** It knows databases, so the folder of one has to be there, whatever became of its file. */
  readonly knowsDatabases?: boolean;
}

/**
 * Opens the store's folders, made if missing. Throws `ConfigError` where a folder cannot be made or its whole path has a comma
 * or is too long, where databases meet an empty KV, which neither knows nor serves them, and where a KV that knows some meets no folder of any.
 */
export async function openFolders(dataDirectory: string, known: KnownByKv): Promise<TenantPaths> {
  await make(dataDirectory);
  const whole = await Deno.realPath(dataDirectory);
  if (whole.includes(",")) {
    throw new ConfigError(
      "Set DATA_DIR to a folder whose whole path has no comma; engine processes cannot be given that one",
    );
  }
  if (new TextEncoder().encode(whole).length > MAX_FOLDER_BYTES) {
    throw new ConfigError(
      `Set DATA_DIR to a folder whose whole path has at most ${MAX_FOLDER_BYTES} bytes; the engine opens no file in a deeper one`,
    );
  }
  const paths = tenantPaths(whole);
  await make(paths.tenants);
  await make(paths.run);
  await make(paths.spool);
  await removeIfThere(paths.scratch);
  await make(paths.scratch);
  if (known.newHere && await hasDatabases(paths.tenants)) {
    throw new ConfigError(
      "Bring back the KV that knows the databases in DATA_DIR/tenants (kv.sqlite3 and its -wal, or KV_URL), or move " +
        "that folder away; this KV is empty",
    );
  }
  if (known.knowsDatabases && !await hasFolders(paths.tenants)) {
    throw new ConfigError(
      "Bring back DATA_DIR/tenants, whose disk may not be mounted, or the TENANTS_URL of before; the KV knows databases and no " +
        "folder of any is there (DATA_DIR/tenants/00, made by hand, lets a start go on without them)",
    );
  }
  return paths;
}

async function make(folder: string): Promise<void> {
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    // One that is there may be another user's.
    for await (const _ of Deno.readDir(folder)) break;
  } catch (error) {
    throw new ConfigError(
      `Let DATA_DIR have folders that this process can use; making or reading ${folder} failed (${
        reasonOf(error)
      })`,
    );
  }
}

/** They stay where the last database has gone. */
async function hasFolders(tenants: string): Promise<boolean> {
  for await (const { name, isDirectory } of Deno.readDir(tenants)) {
    if (isDirectory && name.length === 2) return true;
  }
  return false;
}

async function hasDatabases(tenants: string): Promise<boolean> {
  for await (const { name, isDirectory } of Deno.readDir(tenants)) {
    if (!isDirectory) continue;
    for await (const file of Deno.readDir(`${tenants}/${name}`)) if (file.name.endsWith(".db")) return true;
  }
  return false;
}
