// Does to the schema in memory what a statement would do to the tenant's, without running anything of the tenant's: the
// SELECT of CREATE TABLE AS could run for ever, and in this process nobody could stop it.
import { parseStmt } from "sqlite3-parser";
import { quoteIdentifier } from "../../sql/quote.ts";
import type { SchemaConnection } from "./schema_connection.ts";

/** The statement has compiled. Throws what the engine throws. */
export function applySchemaChange(connection: SchemaConnection, sql: string): void {
  connection.change(withoutSelect(connection, sql));
}

const BEFORE_SELECT = /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*as\b/i;

/** CREATE TABLE AS as the CREATE TABLE that it amounts to; everything else as it is. */
function withoutSelect(connection: SchemaConnection, sql: string): string {
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "CreateTableStmt") return sql;
  const { root } = parsed;
  if (root.body.type !== "AsSelectCreateTableBody") return sql;
  const { text, span } = root.tblName.objName;
  const rest = sql.slice(span.offset + span.length);
  const select = rest.replace(BEFORE_SELECT, "");
  if (select === rest) throw new TypeError("CREATE TABLE AS without AS");
  const columns = connection.columns(select);
  return `CREATE TABLE ${root.ifNotExists ? "IF NOT EXISTS " : ""}${quoteIdentifier(text)} (${
    distinct(columns).map(quoteIdentifier).join(", ")
  })`;
}

/** As the engine does: a name that is there already gets a number behind it. */
function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let number = 1; seen.has(own.toLowerCase()); number++) own = `${name}:${number}`;
    seen.add(own.toLowerCase());
    return own;
  });
}
