// The content of one tenant's file as anybody with the file would see it.
import { DatabaseSync } from "node:sqlite";
import { databasePath, tenantPaths } from "../../lib/tenant/local/tenant_paths.ts";

/** Rows of reads and refusals are logged at any time; what a mutation leaves in the audit is its own. */
const LOGS = ["_service_meta_query_log", "_service_meta_audit"];

/**
 * Definitions and rows as text, without log and audit rows. `definitions`: no rows at all. `service`: only what bears
 * the service's prefix.
 */
export function tenantDump(
  dataDirectory: string,
  databaseId: string,
  part: "all" | "definitions" | "service" = "all",
): string {
  const path = databasePath(tenantPaths(Deno.realPathSync(dataDirectory)).tenants, databaseId);
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const lines: string[] = [
      JSON.stringify(part === "service" ? null : database.prepare("PRAGMA user_version").get()),
    ];
    const objects = database.prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
    ).all();
    for (const { type, name, tbl_name, sql } of objects) {
      if (part === "service" && !/^_service_meta_/i.test(`${tbl_name}`)) continue;
      lines.push(`${type} ${name} ${sql}`);
      if (part === "definitions" || type !== "table" || LOGS.includes(`${name}`)) continue;
      if (/^CREATE VIRTUAL/i.test(`${sql}`)) continue;
      for (const row of database.prepare(`SELECT * FROM "${`${name}`.replaceAll('"', '""')}"`).all()) {
        lines.push(JSON.stringify(row, (_, value) => value instanceof Uint8Array ? value.toHex() : value));
      }
    }
    return lines.join("\n");
  } finally {
    database.close();
  }
}
