// The parts of a CREATE TABLE AS. Where only the schema matters, its SELECT must not run: it could run for ever. Pure.
import { parseStmt } from "sqlite3-parser";

/** The parts. */
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
