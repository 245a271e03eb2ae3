// How many databases a tenant store holds, looked at from outside: in its folder, or in the catalogue on the server.
import type { Config } from "../../lib/config.ts";
import { askLocation } from "../testing/ask_location.ts";
import type { StartedApp } from "../testing/start_app.ts";

/** Databases, branches included; whatever belongs to none of them counts a hundred. */
export async function countDatabases({ deps: { config, tenants } }: StartedApp): Promise<number> {
  const { tenantsUrl, dataDir } = config;
  if (tenantsUrl.kind !== "sqld") return await countFiles(`${dataDir}/tenants`);
  // There what nobody uses any more goes a moment later, and later still where the server was too busy for it.
  for (let tries = 1;; tries++) {
    await tenants.sweep();
    if (tries === MOST_SWEEPS || await countLocations(config, TO_GO) === 0) {
      return await countLocations(config, COUNT);
    }
  }
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

const TO_GO = "SELECT count(*) FROM loose WHERE since = 0";
const MOST_SWEEPS = 10;

async function countLocations(config: Config, sql: string): Promise<number> {
  // Null: nobody has used this server yet.
  const [rows] = await askLocation(config, "cubby-catalog", [sql]) ?? [];
  return Number(rows?.[0]?.[0]?.value ?? 0);
}
