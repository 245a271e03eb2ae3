// Which PRAGMAs exist for tenants. A PRAGMA runs while it is compiled, so this table decides before the engine sees it.
import type { Role } from "../core/role.ts";

interface PragmaRow {
  /** Role for reading it; every listed pragma may be read. */
  readonly read: Role;
  /** Its argument names something (`table_info(t)`), rather than setting a value. */
  readonly argument: "none" | "name" | "count";
  /** Role for setting it; absent where nobody may. */
  readonly set?: Role;
}

/** Lower-case name → what may be done with it. Not listed: available to nobody. */
export const pragmaTable: ReadonlyMap<string, PragmaRow> = new Map<string, PragmaRow>([
  ["application_id", { read: "read", argument: "none" }],
  ["collation_list", { read: "read", argument: "none" }],
  ["compile_options", { read: "read", argument: "none" }],
  ["encoding", { read: "read", argument: "none" }],
  ["foreign_key_check", { read: "read", argument: "name" }],
  ["foreign_key_list", { read: "read", argument: "name" }],
  ["foreign_keys", { read: "read", argument: "none", set: "admin" }],
  ["freelist_count", { read: "read", argument: "none" }],
  ["function_list", { read: "read", argument: "none" }],
  ["index_info", { read: "read", argument: "name" }],
  ["index_list", { read: "read", argument: "name" }],
  ["index_xinfo", { read: "read", argument: "name" }],
  ["integrity_check", { read: "read", argument: "count" }],
  ["page_count", { read: "read", argument: "none" }],
  ["page_size", { read: "read", argument: "none" }],
  ["quick_check", { read: "read", argument: "count" }],
  ["schema_version", { read: "read", argument: "none" }],
  ["table_info", { read: "read", argument: "name" }],
  ["table_list", { read: "read", argument: "name" }],
  ["table_xinfo", { read: "read", argument: "name" }],
  ["user_version", { read: "read", argument: "none", set: "admin" }],
]);

/** What a PRAGMA statement wants, once the table above has allowed it. */
export type PragmaUse = "read" | "set" | "refused";

/** Decides one PRAGMA: `hasArgument` for `name(x)` and `name = x` alike, since the engine treats them the same. */
export function pragmaUse(name: string, hasArgument: boolean): PragmaUse {
  const row = pragmaTable.get(name.toLowerCase());
  if (!row) return "refused";
  if (!hasArgument || row.argument !== "none") return "read";
  return row.set ? "set" : "refused";
}
