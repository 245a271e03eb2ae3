// How the text of a statement returns its rows, so that a store whose reader cuts or replaces texts can ask for their bytes.
import type { ResultColumn, Stmt } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";

/**
 * `select`: the rows are those of a SELECT, which may stand in another statement. Otherwise the text before the first column of
 * RETURNING, and the text of each; null stands for `*`.
 */
export type ReturnedColumns = "select" | {
  readonly before: string;
  readonly columns: readonly (string | null)[];
};

/** Null for a statement that returns nothing, or no values of rows. */
export function returnedColumns(sql: string): ReturnedColumns | null {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return null;
  if (parsed.root.type === "SelectStmt") return "select";
  const returning = returningOf(parsed.root);
  const [first] = returning;
  if (first === undefined) return null;
  const textOf = ({ span: { offset, length } }: { readonly span: ResultColumn["span"] }) =>
    sql.slice(offset, offset + length);
  return {
    before: sql.slice(0, first.span.offset),
    columns: returning.map((one) => one.type === "ExprResultColumn" ? textOf(one.expr) : null),
  };
}

function returningOf(root: Stmt): readonly ResultColumn[] {
  switch (root.type) {
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt":
      return root.returning ?? [];
    default:
      return [];
  }
}
