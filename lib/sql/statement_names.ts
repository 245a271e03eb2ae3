// What a statement calls the tables that it uses, at any depth of it.
import { type InsertStmt, parseStmt, traverse } from "sqlite3-parser";

/** `table` is null for what is none: a subquery, a WITH, a function. */
export interface CalledTable {
  readonly name: string;
  readonly table: string | null;
}

export interface StatementNames {
  /** By their aliases where they have one. */
  readonly called: readonly CalledTable[];
  /** What stands before `.*`. */
  readonly starred: readonly string[];
}

/** Characters. To parse a text again that is longer takes the service's own process from everybody for too long. */
const MAX_LENGTH = 50_000;

/** As the statement spells them. Null for what is no statement, and for one that is too long to be parsed again. */
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

/** Whether anything in it can name a column of the table that it fills: what it fills it with cannot. */
function usesTarget({ body, returning }: InsertStmt): boolean {
  return returning !== undefined || body.type === "SelectInsertBody" && body.upsert !== undefined;
}
