// Whether an expression is the same for every row: `WHERE 1` bounds nothing.
import type { Expr } from "sqlite3-parser";

/** Nodes whose value may differ from row to row. */
const VARYING: ReadonlySet<string> = new Set([
  ...["Id", "NameExpr", "QualifiedExpr", "SubqueryExpr", "ExistsExpr", "InSelectExpr", "InTableExpr"],
]);

/** True where it names no column and holds no query. */
export function isConstant(expression: Expr): boolean {
  return !varies(expression);
}

function varies(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some(varies);
  if (isTruthWord(node)) return false;
  if ("type" in node && typeof node.type === "string" && VARYING.has(node.type)) return true;
  return Object.entries(node).some(([name, value]) => name !== "span" && name !== "name" && varies(value));
}

/** TRUE and FALSE are parsed like names of columns. */
function isTruthWord(node: object): boolean {
  const name = "name" in node ? node.name : null;
  const text = typeof name === "object" && name !== null && "text" in name ? name.text : name;
  return "type" in node && (node.type === "Id" || node.type === "NameExpr") && typeof text === "string" &&
    /^(?:true|false)$/i.test(text);
}
