// Whether a statement answers rows: a read does, and a write with RETURNING.
import { parseStmt } from "sqlite3-parser";

/** For a text that `readSyntax` has accepted; false for any other. */
export function returnsRows(sql: string): boolean {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return false;
  const { root } = parsed;
  switch (root.type) {
    case "SelectStmt":
    case "ExplainStmt":
    case "PragmaStmt":
      return true;
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt":
      return (root.returning ?? []).length > 0;
    default:
      return false;
  }
}
