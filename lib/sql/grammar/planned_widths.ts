// Counts of a statement's parts for which an engine's planner takes time by the square of their number. Pure.
import type { AstNode, Expr } from "sqlite3-parser";

/** The widest of a statement. */
export interface PlannedWidths {
  /** Comparisons of the longest chain of AND; BETWEEN counts two more, a comparison of row values each of its columns. */
  readonly conjunction: number;
  /** Operators but AND and OR, arms of CASE, and what is no value in a list of IN: each value in them is compared with all others. */
  readonly operations: number;
  /** Functions with OVER. */
  readonly windows: number;
}

/** Told of each node as a walk enters and leaves it. */
export class WidthCounter {
  #longest = 0;
  #windows = 0;
  #operations = 0;
  /** Terms of the chains that are open, the innermost last. */
  readonly #chains: number[] = [];
  /** Of each open node: whether what stands right inside of it belongs to its chain. */
  readonly #within: boolean[] = [];

  enter(node: AstNode): void {
    if (node.type === "FunctionTail" && node.overClause !== undefined) this.#windows++;
    this.#operations += operationsOf(node);
    const inside = this.#within.at(-1) ?? false;
    const isAnd = node.type === "BinaryExpr" && node.op === "And";
    if (isAnd && !inside) this.#chains.push(1);
    if (this.#chains.length > 0) {
      this.#chains[this.#chains.length - 1] = (this.#chains.at(-1) ?? 0) + added(node);
    }
    this.#within.push(isAnd || (inside && node.type === "ParenthesizedExpr"));
  }

  leave(node: AstNode): void {
    this.#within.pop();
    const isAnd = node.type === "BinaryExpr" && node.op === "And";
    if (isAnd && !(this.#within.at(-1) ?? false)) {
      this.#longest = Math.max(this.#longest, this.#chains.pop() ?? 0);
    }
  }

  get widths(): PlannedWidths {
    return { conjunction: this.#longest, operations: this.#operations, windows: this.#windows };
  }
}

/** Terms that a node adds to the chain in which it stands. */
function added(node: AstNode): number {
  if (node.type === "BetweenExpr") return 2;
  if (node.type !== "BinaryExpr") return 0;
  return node.op === "And" ? 1 : Math.max(columnsOf(node.left), columnsOf(node.right)) - 1;
}

/** Those that are compared at once where row values are. */
export function columnsOf(expr: Expr): number {
  return expr.type === "ParenthesizedExpr" ? expr.exprs.length : 1;
}

function operationsOf(node: AstNode): number {
  switch (node.type) {
    case "BinaryExpr":
      return node.op === "And" || node.op === "Or" ? 0 : 1;
    case "CaseExpr":
      return node.whenThenPairs.length;
    case "InListExpr":
      return (node.rhs ?? []).every(isValue) ? 0 : node.rhs?.length ?? 0;
    default:
      return 0;
  }
}

function isValue(expr: Expr): boolean {
  const { type } = expr.type === "UnaryExpr" ? expr.expr : expr;
  return type.endsWith("Literal") || type === "VariableExpr";
}
