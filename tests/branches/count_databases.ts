// How many databases a tenant store holds, looked at from outside: in its folder, or in the catalogue on the server.
import type { Config } from "../../lib/config.ts";
import { askPlace } from "../testing/ask_place.ts";
import type { StartedApp } from "../testing/start_app.ts";

/** Databases, branches included; whatever belongs to none of them counts a hundred. */
export async function countDatabases({ deps: { config, tenants } }: StartedApp): Promise<number> {
  const { tenantsUrl, dataDir } = config;
  if (tenantsUrl.kind !== "sqld") return await countFiles(`${dataDir}/tenants`);
  // There what nobody uses any more goes a moment later.
  await tenants.sweep();
  return await countPlaces(config);
}

async function countFiles(tenants: string): Promise<number> {
  let count = 0;
  for await (const folder of Deno.readDir(tenants)) {
    if (!folder.isDirectory) continue;
    for await (const entry of Deno.readDir(`${tenants}/${folder.name}`)) {
      if (/^db_\w+\.db$/.test(entry.name)) count++;
      if (entry.name.includes(".ancestor.") && !entry.name.endsWith(".ancestor.db")) count += 100;
    }
  }
  return count;
}

const COUNT = "SELECT (SELECT count(*) FROM tenant) + 100 * (SELECT count(*) FROM loose) + " +
  "100 * (SELECT count(*) FROM ancestor WHERE database_id NOT IN (SELECT database_id FROM tenant))";

async function countPlaces(config: Config): Promise<number> {
  // Null: nobody has used this server yet.
  const [rows] = await askPlace(config, "cubby-catalog", [COUNT]) ?? [];
  return Number(rows?.[0]?.[0]?.value ?? 0);
}
