// CREATE TABLE AS as the CREATE TABLE that it amounts to: where only the schema counts its SELECT, which could run for
// ever, is compiled and not run. Pure.
import { parseStmt } from "sqlite3-parser";
import { quoteIdentifier } from "./quote.ts";

export interface TableAs {
  readonly name: string;
  readonly ifNotExists: boolean;
  readonly select: string;
}

/** The parts of a CREATE TABLE AS; null for every other text. */
export function tableAs(sql: string): TableAs | null {
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "CreateTableStmt") return null;
  const { tblName, ifNotExists, body } = parsed.root;
  if (body.type !== "AsSelectCreateTableBody") return null;
  return { name: tblName.objName.text, ifNotExists, select: sql.slice(body.select.span.offset) };
}

/** The statement that makes the same table without rows, given the names of the columns of `select`. */
export function emptyTable({ name, ifNotExists }: TableAs, columns: readonly string[]): string {
  const names = distinct(columns).map(quoteIdentifier).join(", ");
  return `CREATE TABLE ${ifNotExists ? "IF NOT EXISTS " : ""}${quoteIdentifier(name)} (${names})`;
}

/** As the engine does: a name that is there already gets a number behind it. */
function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>();
  const last = new Map<string, number>();
  return names.map((name) => {
    let own = name;
    let number = last.get(name) ?? 0;
    while (seen.has(own.toLowerCase())) own = `${name}:${++number}`;
    last.set(name, number);
    seen.add(own.toLowerCase());
    return own;
  });
}
