// Of which columns an expression hands on a value, whole or changed, and of which it only tells something.
import type { Expr, Id, QualifiedExpr, Select } from "sqlite3-parser";

/** What an expression hands on. */
export interface Passed {
  /** Names whose values, or parts of them, can be read in the result. */
  readonly names: readonly (Id | QualifiedExpr)[];
  /** Sub-selects whose value is a part of the result. */
  readonly selects: readonly Select[];
  /** Whether it counts, measures or compares something. */
  readonly tells: boolean;
}

/** Functions that tell something about their arguments, lower case. */
const telling: ReadonlySet<string> = new Set(
  "count length octet_length typeof instr unicode like glob regexp match json_valid json_type json_array_length"
    .split(" "),
);

/** Functions whose result is one of their arguments, with those that only decide which. */
const deciding: Readonly<Record<string, (at: number, length: number) => boolean>> = {
  iif: decides,
  if: decides,
  nullif: (at) => at === 1,
};

/** Every second argument, but for a last one without a partner. */
function decides(at: number, length: number): boolean {
  return at % 2 === 0 && at !== length - 1;
}

/** Operators whose result is no part of an operand. */
const comparing: ReadonlySet<string> = new Set(
  "And Or Equals NotEquals Greater GreaterEquals Less LessEquals Is IsNot".split(" "),
);

const NOTHING: Passed = { names: [], selects: [], tells: false };
const ONLY_TELLS: Passed = { ...NOTHING, tells: true };

/** Reads the expression's text; what is a column among the names says the schema. */
export function passedOf(expr: Expr): Passed {
  switch (expr.type) {
    case "Id":
    case "QualifiedExpr":
      return { ...NOTHING, names: [expr] };
    case "SubqueryExpr":
      return { ...NOTHING, selects: [expr.select] };
    case "CastExpr":
    case "CollateExpr":
      return passedOf(expr.expr);
    case "UnaryExpr":
      return expr.op === "Not" ? ONLY_TELLS : passedOf(expr.expr);
    case "BinaryExpr":
      return comparing.has(expr.op) ? ONLY_TELLS : all([expr.left, expr.right]);
    case "ParenthesizedExpr":
      return all(expr.exprs);
    case "CaseExpr":
      return withTold(
        all([...expr.whenThenPairs.map(({ then }) => then), ...(expr.elseExpr ? [expr.elseExpr] : [])]),
      );
    case "FunctionCallExpr":
      return ofFunction(expr.name.name.toLowerCase(), expr.args ?? []);
    case "FunctionCallStarExpr":
    case "BetweenExpr":
    case "ExistsExpr":
    case "InListExpr":
    case "InSelectExpr":
    case "InTableExpr":
    case "IsNullExpr":
    case "LikeExpr":
    case "NotNullExpr":
      return ONLY_TELLS;
    default:
      return NOTHING;
  }
}

function ofFunction(name: string, args: readonly Expr[]): Passed {
  if (telling.has(name)) return ONLY_TELLS;
  const isCondition = deciding[name];
  if (isCondition === undefined) return all(args);
  return withTold(all(args.filter((_, at) => !isCondition(at, args.length))));
}

function withTold(passed: Passed): Passed {
  return { ...passed, tells: true };
}

function all(parts: readonly Expr[]): Passed {
  const passed = parts.map(passedOf);
  return {
    names: passed.flatMap(({ names }) => names),
    selects: passed.flatMap(({ selects }) => selects),
    tells: passed.some(({ tells }) => tells),
  };
}
