// What a CHECK says of the values of one column. Pure.
import { type Expr, traverse } from "sqlite3-parser";
import { foldName, sameName } from "../words/names.ts";
import { passedOf } from "./passed_columns.ts";

/** `texts`: it names a text that the column may hold; `other`: it says something else of it; `nothing`: it does not name it. */
export type CheckedValues = "texts" | "other" | "nothing";

/** Reads the condition of a CHECK. */
export function checkedValues(check: Expr, column: string): CheckedValues {
  const isColumn = (expr: Expr) =>
    expr.type === "Id"
      ? sameName(expr.name, column)
      : expr.type === "QualifiedExpr" && sameName(expr.column.text, column);
  let found: CheckedValues = "nothing";
  traverse(check, {
    enter(node) {
      if (found === "texts") return;
      const [value, candidates] = node.type === "BinaryExpr" && (node.op === "Equals" || node.op === "Is")
        ? [node.left, [node.right]]
        : node.type === "InListExpr" && !node.not
        ? [node.lhs, node.rhs ?? []]
        : node.type === "LikeExpr" && !node.not
        ? [node.lhs, [node.rhs]]
        : [null, []];
      if (value !== null && namesText(value, candidates, isColumn)) found = "texts";
      else if ((node.type === "Id" || node.type === "QualifiedExpr") && isColumn(node)) found = "other";
    },
  });
  return found;
}

/** `c IN ('low', 'high')`, `lower(c) = 'all'`, `typeof(c) = 'text'`. */
function namesText(value: Expr, candidates: readonly Expr[], isColumn: (expr: Expr) => boolean): boolean {
  const texts = candidates.flatMap((one) => one.type === "StringLiteral" ? [one.value] : []);
  if (value.type === "FunctionCallExpr" && foldName(value.name.name) === "typeof") {
    return (value.args ?? []).some(isColumn) && texts.includes("text");
  }
  // '7' is the number 7 in a column of numbers, and an empty text is what a CHECK keeps out.
  const isText = texts.some((text) => text.trim() === "" ? false : Number.isNaN(Number(text)));
  return isText && passedOf(value).names.some(isColumn);
}
