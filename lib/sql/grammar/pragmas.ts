// Which PRAGMAs tenants may use, and what one PRAGMA statement does. A PRAGMA runs while it is compiled, so this table
// decides before the engine sees it.
import type { Expr, PragmaStmt } from "sqlite3-parser";

/** One PRAGMA, which everybody may read. */
interface PragmaRow {
  /** Whether its argument names something (`table_info(t)`) rather than setting a value. */
  readonly argument: "none" | "name" | "count";
  /** Whoever may change the schema may set it; absent: nobody may. */
  readonly settable?: true;
}

/** What may be done with a PRAGMA, by its lower-case name. Nobody may use others. */
export const pragmaTable: ReadonlyMap<string, PragmaRow> = new Map<string, PragmaRow>([
  ["application_id", { argument: "none" }],
  ["collation_list", { argument: "none" }],
  ["compile_options", { argument: "none" }],
  ["encoding", { argument: "none" }],
  ["foreign_key_check", { argument: "name" }],
  ["foreign_key_list", { argument: "name" }],
  ["foreign_keys", { argument: "none", settable: true }],
  ["freelist_count", { argument: "none" }],
  ["function_list", { argument: "none" }],
  ["index_info", { argument: "name" }],
  ["index_list", { argument: "name" }],
  ["index_xinfo", { argument: "name" }],
  ["integrity_check", { argument: "count" }],
  ["page_count", { argument: "none" }],
  ["page_size", { argument: "none" }],
  ["quick_check", { argument: "count" }],
  ["read_uncommitted", { argument: "none" }],
  ["schema_version", { argument: "none" }],
  ["table_info", { argument: "name" }],
  ["table_list", { argument: "name" }],
  ["table_xinfo", { argument: "name" }],
  ["user_version", { argument: "none", settable: true }],
]);

/** What a PRAGMA statement does, once the table allows it. */
export type PragmaUse = "read" | "set" | "refused";

/** Decides one PRAGMA. `hasArgument` is true for `name(x)` and for `name = x`: the engine treats both the same. */
export function pragmaUse(name: string, hasArgument: boolean): PragmaUse {
  const row = pragmaTable.get(name.toLowerCase());
  if (!row) return "refused";
  if (!hasArgument || row.argument !== "none") return "read";
  return row.settable ? "set" : "refused";
}

const CHECK = /(?:integrity|quick)_check/i;

/**
 * Whether a text may ask the engine to check the database. A check needs a new connection: one that has used a full-text table before
 * another connection wrote to it calls that table damaged (SQLite 3.53).
 */
export function asksForCheck(sql: string): boolean {
  return CHECK.test(sql);
}

/** What SQLAlchemy asks of a table. */
const OF_TABLE = /^(?:table_x?info|index_(?:list|x?info)|foreign_key_list)$/i;

/** SQLAlchemy asks this also of a temporary table, where `main` has no answer. There is none, and the engine says so. */
export function asksForTemporary({ name: { dbName, objName }, body }: PragmaStmt): boolean {
  return /^temp$/i.test(dbName?.text ?? "") && OF_TABLE.test(objName.text) && body !== undefined;
}

/** What one PRAGMA statement does. */
export interface PragmaFacts {
  readonly name: string;
  /** The schema to which `main.` limits it. */
  readonly schema: string | null;
  readonly sets: boolean;
  /** Whether it turns `foreign_keys` off, which must happen outside a transaction. */
  readonly foreignKeysOff: boolean;
  /** The name or number of its argument; null: none, or an expression. */
  readonly argument: string | null;
}

/** What the text of one PRAGMA statement says. */
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

/** Whether a value is one that SQLite takes for true; every other value turns a setting off. */
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
