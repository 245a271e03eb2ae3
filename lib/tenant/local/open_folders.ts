// Opens the store's folders at its start. Missing folders are made. Folders with databases are refused where the KV is
// new, because a new KV would neither know nor serve those databases.
import { ConfigError } from "../../core/errors.ts";
import { type TenantPaths, tenantPaths } from "./tenant_paths.ts";

/** Opens the folders. `newHere`: the KV is empty. Throws `ConfigError`. */
export async function openFolders(dataDirectory: string, newHere: boolean): Promise<TenantPaths> {
  await make(dataDirectory);
  const paths = tenantPaths(await Deno.realPath(dataDirectory));
  await make(paths.tenants);
  await make(paths.run);
  if (newHere && await hasDatabases(paths.tenants)) {
    throw new ConfigError(
      "Bring back the KV that knows the databases in DATA_DIR/tenants (kv.sqlite3 and its -wal, or KV_URL), or move " +
        "that folder away; this KV is empty",
    );
  }
  return paths;
}

async function make(folder: string): Promise<void> {
  try {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown";
    throw new ConfigError(
      `Let DATA_DIR have folders that this process can write; making ${folder} failed (${reason})`,
    );
  }
}

async function hasDatabases(tenants: string): Promise<boolean> {
  for await (const { name, isDirectory } of Deno.readDir(tenants)) {
    if (!isDirectory) continue;
    for await (const file of Deno.readDir(`${tenants}/${name}`)) if (file.name.endsWith(".db")) return true;
  }
  return false;
}
