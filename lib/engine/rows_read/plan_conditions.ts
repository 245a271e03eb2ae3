// The AND-ed conditions of one WHERE (and of the ON clauses beside it), as far as the rows-read estimate needs them.
import type { SqlToken } from "../../sql/tokens/sql_tokens.ts";

/** One condition of a WHERE or ON clause. */
export interface Condition {
  /** Qualifiers (`t` of `t.a`) and columns named in it, lower case; `first` is the left-most column. */
  readonly qualifiers: ReadonlySet<string>;
  readonly columns: ReadonlySet<string>;
  readonly first: string;
  /** Column and number of values of `column IN (value, …)`. */
  readonly list: { readonly column: string; readonly values: number } | null;
  /** Whether the condition contains a SELECT. */
  readonly subquery: boolean;
  /** The assumed share of rows that pass. */
  readonly share: number;
}

const ENDS = new Set([
  "GROUP",
  "HAVING",
  "WINDOW",
  "ORDER",
  "LIMIT",
  "RETURNING",
  "UNION",
  "INTERSECT",
  "EXCEPT",
]);
const ENDS_ON = new Set(["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "WHERE", ","]);
const NOT_NAMES = new Set([
  ...[
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "NULL",
    "LIKE",
    "GLOB",
    "BETWEEN",
    "ESCAPE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
  ],
  ...[
    "END",
    "EXISTS",
    "TRUE",
    "FALSE",
    "COLLATE",
    "MATCH",
    "REGEXP",
    "DISTINCT",
    "FROM",
    "CAST",
    "AS",
    "NOTNULL",
  ],
]);

/** Finds the conditions of the block whose clauses are at `depth`. */
export function conditionsOf(tokens: readonly SqlToken[], depth: number): Condition[] {
  const conditions: Condition[] = [];
  let current: SqlToken[] | null = null;
  let inOn = false;
  let between = false;
  const end = () => {
    if (current && current.length > 0) conditions.push(condition(current, depth));
    current = null;
  };
  for (const token of tokens) {
    const here = token.depth === depth;
    if (here && (token.key === "WHERE" || token.key === "ON")) {
      end();
      current = [];
      inOn = token.key === "ON";
    } else if (here && current && (ENDS.has(token.key) || (inOn && ENDS_ON.has(token.key)))) {
      end();
    } else if (here && current && token.key === "AND" && !between) {
      end();
      current = [];
    } else if (current) {
      if (here && token.key === "BETWEEN") between = true;
      else if (here && token.key === "AND") between = false;
      current.push(token);
    }
  }
  end();
  return conditions;
}

function condition(tokens: readonly SqlToken[], depth: number): Condition {
  const qualifiers = new Set<string>();
  const columns = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    const isName = token.kind === "name" || (token.kind === "word" && !NOT_NAMES.has(token.key));
    const next = tokens[at + 1]?.key;
    if (!isName || next === "(") continue;
    if (next === ".") qualifiers.add(token.text.toLowerCase());
    else columns.add(token.text.toLowerCase());
  }
  const subquery = tokens.some((token) => token.key === "SELECT");
  const [first = ""] = columns;
  const list = subquery ? null : listIn(tokens, depth);
  return { qualifiers, columns, first, list, subquery, share: shareOf(tokens, depth) };
}

function listIn(tokens: readonly SqlToken[], depth: number): Condition["list"] {
  const at = tokens.findIndex((t) => t.depth === depth && t.key === "IN");
  if (at < 1 || tokens[at - 1]?.key === "NOT" || tokens[at + 1]?.key !== "(") return null;
  const inside = tokens.slice(at + 2).filter((t) => t.depth === depth + 1);
  const values = inside.length === 0 ? 0 : 1 + inside.filter((t) => t.key === ",").length;
  return { column: (tokens[at - 1]?.text ?? "").toLowerCase(), values };
}

function shareOf(tokens: readonly SqlToken[], depth: number): number {
  const has = (...keys: string[]) => tokens.some((t) => t.depth === depth && keys.includes(t.key));
  if (has("=", "==", "IS", "IN", "LIKE", "GLOB")) return has("NOT", "OR") ? 0.5 : 0.2;
  return has("BETWEEN") ? 0.25 : 0.4;
}
