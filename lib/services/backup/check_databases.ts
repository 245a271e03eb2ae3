// Whether the databases that a control plane knows are there: as files of a data folder, and in the archive.
import { objectsOf } from "../../tenant/archive/listed_objects.ts";
import type { ObjectStore } from "../../tenant/object_store.ts";
import { databasePath, storedIds, tenantPaths } from "../../tenant/local/files/tenant_paths.ts";
import type { Findings } from "./check_money.ts";
import type { KnownDatabase } from "./known_databases.ts";
import { ifThere } from "../../store/if_there.ts";

/** What every file of SQLite begins with. */
const SQLITE = "SQLite format 3\0";

/** Compares them with the files below `dataDir`, both ways. */
export async function checkFiles(known: readonly KnownDatabase[], dataDir: string): Promise<Findings> {
  const { tenants } = tenantPaths(dataDir);
  const wrong: string[] = [];
  for (const { databaseId, name } of known) {
    const head = await headOf(databasePath(tenants, databaseId));
    if (head === null) wrong.push(`${name}: its file is missing (${databaseId})`);
    else if (head !== SQLITE) wrong.push(`${name}: its file is no database (${databaseId})`);
  }
  const ids = new Set(known.map(({ databaseId }) => databaseId));
  for await (const databaseId of storedIds(tenants)) {
    if (!ids.has(databaseId)) wrong.push(`${databaseId}: a file that the backup does not know, made since`);
  }
  return { looked: known.length, wrong };
}

/** Those that have no file below `dataDir`. */
export async function withoutFile(
  known: readonly KnownDatabase[],
  dataDir: string,
): Promise<KnownDatabase[]> {
  const { tenants } = tenantPaths(dataDir);
  const missing: KnownDatabase[] = [];
  for (const one of known) {
    if (await headOf(databasePath(tenants, one.databaseId)) === null) missing.push(one);
  }
  return missing;
}

/** Looks that each of them can be brought back from the archive. Rejects where the store does not answer. */
export async function checkArchive(
  known: readonly KnownDatabase[],
  store: Pick<ObjectStore, "keys">,
): Promise<Findings> {
  const archived = new Set<string>();
  for await (const { databaseId, name } of objectsOf(store, null)) {
    if (name.kind === "begin") archived.add(databaseId);
  }
  const wrong = known.filter(({ databaseId }) => !archived.has(databaseId))
    .map(({ name, databaseId }) => `${name}: nothing of it is in the archive (${databaseId})`);
  return { looked: known.length, wrong };
}

/** Null where there is no file, or an empty one. */
async function headOf(path: string): Promise<string | null> {
  using file = await ifThere(Deno.open(path));
  if (file === null) return null;
  const bytes = new Uint8Array(SQLITE.length);
  const count = await file.read(bytes);
  return count === null ? null : new TextDecoder().decode(bytes.subarray(0, count));
}
