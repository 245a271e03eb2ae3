// What a statement makes, changes or writes, by the names that stand in it.
import type { Stmt } from "sqlite3-parser";

/** Names that a statement itself creates, changes or drops. */
export function namesOf(statement: Stmt): string[] {
  switch (statement.type) {
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt":
    case "CreateTableStmt":
    case "AlterTableStmt":
    case "DropTableStmt":
      return [statement.tblName.objName.text];
    case "CreateVirtualTableStmt":
      // The tables with its data are named `<name>_…`.
      return [statement.tblName.objName.text, `${statement.tblName.objName.text}_`];
    case "AnalyzeStmt":
    case "ReindexStmt":
      return statement.objName ? [statement.objName.objName.text] : [];
    case "CreateIndexStmt":
      return [statement.idxName.objName.text, statement.tblName.text];
    case "CreateViewStmt":
    case "DropViewStmt":
      return [statement.viewName.objName.text];
    case "CreateTriggerStmt":
      return [statement.triggerName.objName.text, statement.tblName.objName.text];
    case "DropIndexStmt":
      return [statement.idxName.objName.text];
    case "DropTriggerStmt":
      return [statement.triggerName.objName.text];
    default:
      return [];
  }
}

/** The table or view that it writes or changes; null: it names none. */
export function targetOf(statement: Stmt): string | null {
  const names = namesOf(statement);
  return (statement.type === "CreateIndexStmt" || statement.type === "CreateTriggerStmt"
    ? names[1]
    : names[0]) ?? null;
}

/** The name that a table or view has from now on, made or renamed; null: none gets one. */
export function madeTable(statement: Stmt): string | null {
  switch (statement.type) {
    case "CreateTableStmt":
    case "CreateVirtualTableStmt":
    case "CreateViewStmt":
      return targetOf(statement);
    case "AlterTableStmt":
      return statement.body.type === "RenameToAlterTableBody" ? statement.body.name.text : null;
    default:
      return null;
  }
}
