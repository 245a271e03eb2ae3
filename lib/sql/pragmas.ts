// Which PRAGMAs exist for tenants. A PRAGMA runs while it is compiled, so this table decides before the engine sees it.
import type { Expr, PragmaStmt } from "sqlite3-parser";
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

export interface PragmaFacts {
  readonly name: string;
  /** The schema that it is limited to by `main.`. */
  readonly schema: string | null;
  readonly sets: boolean;
  /** It sets `foreign_keys` off, which has to happen outside of a transaction. */
  readonly foreignKeysOff: boolean;
  /** The name or the number that it is asked about or set to; null: none, or an expression. */
  readonly argument: string | null;
}

/** What one PRAGMA statement does, by its text. */
export function pragmaFacts(statement: PragmaStmt): PragmaFacts {
  const name = statement.name.objName.text.toLowerCase();
  const sets = pragmaUse(name, statement.body !== undefined) === "set";
  const value = statement.body?.value;
  return {
    name,
    schema: statement.name.dbName?.text ?? null,
    sets,
    foreignKeysOff: sets && name === "foreign_keys" && !isOn(value),
    argument: argumentOf(value),
  };
}

/** The words that SQLite takes for true; everything else turns a setting off. */
function isOn(value: Expr | undefined): boolean {
  if (value?.type === "NumericLiteral") return Number(value.value) !== 0;
  return /^(on|yes|true)$/i.test(argumentOf(value) ?? "");
}

function argumentOf(value: Expr | undefined): string | null {
  switch (value?.type) {
    case "NameExpr":
      return value.name.text;
    case "StringLiteral":
    case "KeywordLiteral":
    case "NumericLiteral":
      return value.value;
    case "Id":
      return value.name;
    default:
      return null;
  }
}
