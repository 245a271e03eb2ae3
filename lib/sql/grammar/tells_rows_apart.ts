// Whether a WHERE tells rows apart, as far as its text says: `WHERE 1`, `id = id` and `name = ? OR 1` bound nothing. Pure.
import type { Expr } from "sqlite3-parser";

/**
 * What is known of a condition: that it holds for every row, or for none, that it is the same for all of them (as with a
 * parameter or a function), or that it may differ from row to row.
 */
type Truth = "every" | "none" | "same" | "differs";

/**
 * False where the text alone shows that rows do not matter: what names no column and reads no table, a column compared
 * with itself, and what AND, OR and NOT make of these. An OR beside a parameter is left alone, as in
 * `? IS NULL OR name = ?`: which rows it takes is known when it runs.
 */
export function tellsRowsApart(where: Expr): boolean {
  return truthOf(where) === "differs";
}

/** `isNegated` says whether a NOT stands above, so that a constant of unknown value is taken for what bounds less. */
function truthOf(node: Expr, isNegated = false): Truth {
  switch (node.type) {
    case "ParenthesizedExpr":
      return node.exprs.length === 1 && node.exprs[0]
        ? truthOf(node.exprs[0], isNegated)
        : plainTruth(node, isNegated);
    case "UnaryExpr":
      return node.op === "Not" ? opposite(truthOf(node.expr, !isNegated)) : plainTruth(node, isNegated);
    case "BinaryExpr":
      if (node.op === "And") return both(truthOf(node.left, isNegated), truthOf(node.right, isNegated));
      if (node.op === "Or") {
        return opposite(
          both(opposite(truthOf(node.left, isNegated)), opposite(truthOf(node.right, isNegated))),
        );
      }
      return comparedWithItself(node) ?? plainTruth(node, isNegated);
    default:
      return plainTruth(node, isNegated);
  }
}

function opposite(truth: Truth): Truth {
  if (truth === "every") return "none";
  return truth === "none" ? "every" : truth;
}

function both(left: Truth, right: Truth): Truth {
  if (left === "none" || right === "none") return "none";
  if (left === "every") return right;
  if (right === "every") return left;
  return left === "differs" ? left : right;
}

const HOLDS_FOR_ITSELF: ReadonlySet<string> = new Set(["Equals", "Is", "LessEquals", "GreaterEquals"]);
const FAILS_FOR_ITSELF: ReadonlySet<string> = new Set(["NotEquals", "IsNot", "Less", "Greater"]);

/** Rows with NULL in the column count like the others. */
function comparedWithItself({ left, op, right }: Extract<Expr, { type: "BinaryExpr" }>): Truth | null {
  const holds = HOLDS_FOR_ITSELF.has(op);
  if (!holds && !FAILS_FOR_ITSELF.has(op) || contains(left, PARAMETER)) return null;
  return isSame(bare(left), bare(right)) ? (holds ? "every" : "none") : null;
}

/** Of two columns only one may name its table: another table's of the same name would be ambiguous. */
function isSame(left: Expr, right: Expr): boolean {
  if (left.type === "QualifiedExpr" && right.type === "QualifiedExpr") {
    return left.table.text.toLowerCase() === right.table.text.toLowerCase() && textOf(left) === textOf(right);
  }
  return textOf(left) === textOf(right);
}

/** Removes parts that leave the value of a column unchanged. */
function bare(node: Expr): Expr {
  if (node.type === "ParenthesizedExpr" && node.exprs.length === 1 && node.exprs[0]) {
    return bare(node.exprs[0]);
  }
  if (node.type === "UnaryExpr" && node.op === "Positive") return bare(node.expr);
  return node.type === "CollateExpr" ? bare(node.expr) : node;
}

/** Equal for equal expressions, however their names are written. */
function textOf(node: Expr): string {
  if (node.type === "QualifiedExpr") {
    return JSON.stringify({ type: "Id", name: node.column.text.toLowerCase() });
  }
  return JSON.stringify(node, (key, value) => {
    if (key === "span") return undefined;
    return typeof value === "string" && (key === "name" || key === "text") ? value.toLowerCase() : value;
  });
}

/** The truth of an operand of AND, OR and NOT. A constant counts by its value. */
function plainTruth(node: Expr, isNegated: boolean): Truth {
  if (contains(node, VARYING)) return "differs";
  if (contains(node, PARAMETER)) return "same";
  const value = literalOf(node);
  if (value === undefined) return isNegated ? "none" : "every";
  return value === null || value === 0 ? "none" : "every";
}

/** The number as which a literal counts; null for NULL, undefined for what is not worked out here. */
function literalOf(node: Expr): number | null | undefined {
  if (node.type === "NullLiteral") return null;
  if (node.type === "NumericLiteral") return Number(node.value);
  if (node.type === "StringLiteral") return Number.parseFloat(node.value) || 0;
  if (isTruthWord(node)) return /true/i.test(textOf(node)) ? 1 : 0;
  return node.type === "BinaryExpr" ? compared(node) : undefined;
}

/** Of two literals; SQLite has no number equal to a text. */
function compared({ left, op, right }: Extract<Expr, { type: "BinaryExpr" }>): number | undefined {
  const isLiteral = (node: Expr) => node.type === "NumericLiteral" || node.type === "StringLiteral";
  if (op !== "Equals" || !isLiteral(left) || !isLiteral(right)) return undefined;
  if (left.type !== right.type) return 0;
  return Number(
    left.type === "StringLiteral" ? textOf(left) === textOf(right) : literalOf(left) === literalOf(right),
  );
}

const PARAMETER: ReadonlySet<string> = new Set(["VariableExpr"]);
/** Nodes whose value may differ from row to row: columns, and whatever reads a table. */
const VARYING: ReadonlySet<string> = new Set([
  "Id",
  "NameExpr",
  "QualifiedExpr",
  "FromClause",
  "InTableExpr",
]);

function contains(node: unknown, types: ReadonlySet<string>): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((one) => contains(one, types));
  if (isTruthWord(node)) return false;
  if ("type" in node && typeof node.type === "string" && types.has(node.type)) return true;
  return Object.entries(node).some(([key, value]) =>
    key !== "span" && key !== "name" && contains(value, types)
  );
}

/** TRUE and FALSE, which are parsed like names of columns. */
function isTruthWord(node: object): boolean {
  const name = "name" in node ? node.name : null;
  const text = typeof name === "object" && name !== null && "text" in name ? name.text : name;
  return "type" in node && (node.type === "Id" || node.type === "NameExpr") && typeof text === "string" &&
    /^(?:true|false)$/i.test(text);
}
