// The content of one tenant's database as anybody with its file, or with its server's address, would see it.
import { DatabaseSync } from "node:sqlite";
import type { Config } from "../../lib/config.ts";
import { databasePath, tenantPaths } from "../../lib/tenant/local/files/tenant_paths.ts";
import { locationOf } from "../../lib/tenant/remote/locations/locations.ts";
import { askLocation } from "../testing/ask_location.ts";

/** Rows of reads and refusals are logged at any time; what a mutation leaves in the audit is its own. */
const LOGS = ["_service_meta_query_log", "_service_meta_audit"];

/** Answers each of the statements with its rows. */
type Select = (...statements: readonly string[]) => Promise<readonly unknown[][][]>;

/**
 * Definitions and rows as text, without log and audit rows. `definitions`: no rows at all. `service`: only what bears
 * the service's prefix.
 */
export async function tenantDump(
  { config }: { readonly config: Config },
  databaseId: string,
  part: "all" | "definitions" | "service" = "all",
): Promise<string> {
  const select = selectFrom(config, databaseId);
  const [version, objects = []] = await select(
    "PRAGMA user_version",
    "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
  );
  const shown = objects.filter((row) => part !== "service" || /^_service_meta_/i.test(`${row[2]}`));
  // What a caller may write leaves a row there as well.
  const logs = part === "service" ? [...LOGS, "_service_meta_change"] : LOGS;
  const tables = shown.filter(([type, name, , sql]) =>
    part !== "definitions" && type === "table" && !logs.includes(`${name}`) &&
    !/^CREATE VIRTUAL/i.test(`${sql}`)
  );
  const rows = await select(
    ...tables.map(([, name]) => `SELECT * FROM "${`${name}`.replaceAll('"', '""')}"`),
  );
  return [
    JSON.stringify(part === "service" ? null : version),
    ...shown.map(([type, name, , sql]) => `${type} ${name} ${sql}`),
    ...rows.flat().map((row) => JSON.stringify(row)),
  ].join("\n");
}

function selectFrom(config: Config, databaseId: string): Select {
  if (config.tenantsUrl.kind === "sqld") {
    return (...statements) => fromServer(config, databaseId, statements);
  }
  const path = databasePath(tenantPaths(Deno.realPathSync(config.dataDir)).tenants, databaseId);
  return (...statements) => Promise.resolve(fromFile(path, statements));
}

function fromFile(path: string, statements: readonly string[]): unknown[][][] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return statements.map((sql) => database.prepare(sql).all().map((row) => Object.values(row).map(plain)));
  } finally {
    database.close();
  }
}

async function fromServer(
  config: Config,
  databaseId: string,
  statements: readonly string[],
): Promise<unknown[][][]> {
  const results = await askLocation(config, locationOf(databaseId), statements) ?? [];
  return results.map((rows) => rows.map((row) => row.map(({ value, base64 }) => value ?? base64)));
}

function plain(value: unknown): unknown {
  return value instanceof Uint8Array ? value.toHex() : value;
}
