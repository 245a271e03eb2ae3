// The names by which a statement calls the tables that it uses, at any depth.
import { type InsertStmt, traverse } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";

/** `table` is null for a subquery, a WITH and a function. */
export interface CalledTable {
  readonly name: string;
  readonly table: string | null;
}

/** All names in one statement. */
export interface StatementNames {
  /** By their aliases, where they have one. */
  readonly called: readonly CalledTable[];
  /** The qualifiers before `.*`. */
  readonly starred: readonly string[];
}

/** Characters. Parsing a longer text again would hold up the service's own process for too long. */
const MAX_LENGTH = 50_000;

/** The names as the statement spells them. Null for a text that is no statement or is too long to be parsed again. */
export function statementNames(sql: string): StatementNames | null {
  if (sql.length > MAX_LENGTH) return null;
  const called: CalledTable[] = [];
  const starred: string[] = [];
  const withs = new Set<string>();
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return null;
  traverse(parsed.root, {
    enter(node) {
      switch (node.type) {
        case "CommonTableExpr":
          withs.add(node.tblName.text.toLowerCase());
          break;
        case "TableStarResultColumn":
          starred.push(node.table.text);
          break;
        case "TableSelectTable": {
          const table = node.tblName.objName.text;
          called.push({ name: node.alias?.name.text ?? table, table });
          break;
        }
        case "TableCallSelectTable":
          called.push({ name: node.alias?.name.text ?? node.tblName.objName.text, table: null });
          break;
        case "SelectSelectTable":
          if (node.alias) called.push({ name: node.alias.name.text, table: null });
          break;
        case "SetUpsertDo":
          called.push({ name: "excluded", table: null });
          break;
        case "InsertStmt":
        case "UpdateStmt":
        case "DeleteStmt": {
          if (node.type === "InsertStmt" && !usesTarget(node)) break;
          const { alias, objName } = node.tblName;
          called.push({ name: alias?.text ?? objName.text, table: objName.text });
        }
      }
    },
  });
  const real = ({ name, table }: CalledTable) =>
    table !== null && withs.has(table.toLowerCase()) ? { name, table: null } : { name, table };
  return { called: called.map(real), starred };
}

/**
 * Whether an expression of the statement can name a column of the table that it fills; the values that fill it
 * cannot.
 */
function usesTarget({ body, returning }: InsertStmt): boolean {
  return returning !== undefined || body.type === "SelectInsertBody" && body.upsert !== undefined;
}
