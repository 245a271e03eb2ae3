// Reads from a statement's text what its plan does not show: LIMIT, aggregates, grouping, conditions that no index answers,
// and the tables of aliases. It does not parse the text: what it misses only makes an estimate less exact.
import { type SqlToken, sqlTokens } from "../../sql/tokens/sql_tokens.ts";
import { type Condition, conditionsOf } from "./plan_conditions.ts";

/** One SELECT (or a whole UPDATE or DELETE) at one level of parentheses. */
export interface TextBlock {
  /** The name of the CTE or subquery in FROM that the block defines, lower case; empty for other blocks. */
  readonly name: string;
  readonly compound: boolean;
  readonly distinct: boolean;
  readonly grouped: boolean;
  /** Whether its result columns or HAVING call an aggregate. */
  readonly aggregate: boolean;
  /** The number of window definitions in use, for each of which the engine stores rows and reads them again. */
  readonly windows: boolean;
  /** The column of a lone `min(column)` or `max(column)`, lower case. */
  readonly extremeOf: string | null;
  /** null: no LIMIT; undefined: a LIMIT that is a parameter or an expression. */
  readonly limit: number | null | undefined;
  readonly offset: number;
  readonly conditions: readonly Condition[];
}

/** The parts of a statement's text that the estimate needs. */
export interface StatementText {
  /** SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE, or another first word; CTEs are skipped. */
  readonly verb: string;
  /** The table that an INSERT, UPDATE or DELETE changes, as written; otherwise null. */
  readonly target: string | null;
  readonly returning: boolean;
  readonly hasSelect: boolean;
  readonly top: TextBlock;
  /** The blocks in the order in which they end, which is how the engine numbers subqueries. */
  readonly blocks: readonly TextBlock[];
  /** Columns that an UPDATE assigns, lower case. */
  readonly assigned: ReadonlySet<string>;
  readonly tokens: readonly SqlToken[];
}

const AGGREGATES = new Set([
  ...["COUNT", "SUM", "TOTAL", "AVG", "MIN", "MAX", "GROUP_CONCAT", "STRING_AGG"],
  ...["JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT", "JSONB_GROUP_ARRAY", "JSONB_GROUP_OBJECT", "MEDIAN"],
]);
const COMPOUND = new Set(["UNION", "INTERSECT", "EXCEPT"]);
const VERBS = new Set(["SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"]);

/** Reads the text of one statement. */
export function readStatementText(sql: string): StatementText {
  const tokens = sqlTokens(sql);
  const first = tokens[0]?.key ?? "";
  const verbAt = first === "WITH" ? tokens.findIndex((t) => t.depth === 0 && VERBS.has(t.key)) : 0;
  const verb = tokens[verbAt]?.key ?? "";
  const top = tokens.slice(verbAt).filter((token) => token.key !== ";");
  return {
    verb,
    target: targetOf(verb, top),
    returning: top.some((t) => t.depth === 0 && t.key === "RETURNING"),
    hasSelect: tokens.some((t) => t.key === "SELECT"),
    top: blockOf(top, 0),
    blocks: blocksOf(tokens),
    assigned: assignedBy(verb, top),
    tokens,
  };
}

/**
 * Alias (lower case) → table for the tables of this schema that the text names after FROM, JOIN, UPDATE, INTO or a
 * comma.
 */
export function aliasesOf(text: StatementText, isTable: (lowerName: string) => boolean): Map<string, string> {
  const aliases = new Map<string, string>();
  const { tokens } = text;
  for (const [at, token] of tokens.entries()) {
    const table = token.text.toLowerCase();
    if ((token.kind !== "word" && token.kind !== "name") || !isTable(table)) continue;
    const before = tokens[at - 1]?.key ?? "";
    if (!["FROM", "JOIN", "UPDATE", "INTO", ",", "(", "."].includes(before)) continue;
    const next = tokens[at + 1]?.key === "AS" ? tokens[at + 2] : tokens[at + 1];
    if (next && (next.kind === "name" || (next.kind === "word" && !AFTER_TABLE.has(next.key)))) {
      aliases.set(next.text.toLowerCase(), table);
    }
  }
  return aliases;
}

const AFTER_TABLE = new Set([
  ...[
    "WHERE",
    "JOIN",
    "LEFT",
    "INNER",
    "CROSS",
    "NATURAL",
    "FULL",
    "RIGHT",
    "ON",
    "USING",
    "GROUP",
    "ORDER",
    "LIMIT",
  ],
  ...[
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "SET",
    "VALUES",
    "SELECT",
    "INDEXED",
    "NOT",
    "HAVING",
    "WINDOW",
    "RETURNING",
  ],
  ...["DEFAULT", "FROM", "OUTER", "WITH"],
]);

function blocksOf(tokens: readonly SqlToken[]): TextBlock[] {
  const blocks: TextBlock[] = [];
  const open: { at: number; depth: number }[] = [];
  const end = (at: number) => {
    const block = open.pop();
    if (block) {
      blocks.push(blockOf(tokens.slice(block.at, at), block.depth, nameAround(tokens, block.at, at)));
    }
  };
  for (const [at, token] of tokens.entries()) {
    const innermost = open.at(-1);
    const parenthesis = token.key === ")" && innermost && token.depth < innermost.depth;
    if (parenthesis || (COMPOUND.has(token.key) && token.depth === innermost?.depth)) end(at);
    if (token.key === "SELECT" || (token.key === "VALUES" && token.depth > 0)) {
      open.push({ at, depth: token.depth });
    }
  }
  while (open.length > 0) end(tokens.length);
  return blocks;
}

/** `name` of `name AS (SELECT …)`, `name(columns) AS (…)` and `(SELECT …) AS name`. */
function nameAround(tokens: readonly SqlToken[], start: number, end: number): string {
  let at = start - 2;
  while (tokens[at]?.key === "MATERIALIZED" || tokens[at]?.key === "NOT") at--;
  if (tokens[start - 1]?.key !== "(") return "";
  if (tokens[at]?.key === "AS") {
    at--;
    if (tokens[at]?.key === ")") { while (at > 0 && tokens[at]?.key !== "(") at--; }
    return tokens[tokens[at]?.key === "(" ? at - 1 : at]?.text.toLowerCase() ?? "";
  }
  const after = tokens[end + 1]?.key === "AS" ? tokens[end + 2] : tokens[end + 1];
  const isName = after?.kind === "name" || (after?.kind === "word" && !AFTER_TABLE.has(after.key));
  return isName ? after.text.toLowerCase() : "";
}

function blockOf(tokens: readonly SqlToken[], depth: number, name = ""): TextBlock {
  const at = (key: string) => tokens.findIndex((t) => t.depth === depth && t.key === key);
  const from = at("FROM");
  const results = tokens.slice(1, from < 0 ? undefined : from).filter((t) => t.depth <= depth + 1);
  const limit = limitOf(tokens, at("LIMIT"), depth);
  const aggregates = aggregatesIn(results, depth);
  return {
    name,
    compound: tokens.some((t) => t.depth === depth && COMPOUND.has(t.key)),
    distinct: tokens[1]?.key === "DISTINCT",
    grouped: at("GROUP") >= 0,
    aggregate: aggregates > 0,
    windows: tokens.some((t) => t.key === "OVER" && t.depth === depth),
    extremeOf: aggregates === 1 ? extremeIn(results) : null,
    ...limit,
    conditions: conditionsOf(tokens, depth),
  };
}

function aggregatesIn(results: readonly SqlToken[], depth: number): number {
  let found = 0;
  for (const [at, token] of results.entries()) {
    if (!AGGREGATES.has(token.key) || results[at + 1]?.key !== "(") continue;
    const close = results.findIndex((t, i) => i > at && t.key === ")" && t.depth === token.depth);
    if (results[close + 1]?.key === "OVER") continue;
    const severalArguments = results.slice(at, close).some((t) =>
      t.key === "," && t.depth === token.depth + 1
    );
    if (severalArguments && (token.key === "MIN" || token.key === "MAX")) continue;
    if (token.depth <= depth + 1) found++;
  }
  return found;
}

function extremeIn(results: readonly SqlToken[]): string | null {
  const [call, open, column, close] = results.slice(0, 4);
  const whole = (call?.key === "MIN" || call?.key === "MAX") && open?.key === "(" && close?.key === ")";
  return whole ? column?.text.toLowerCase() ?? null : null;
}

function limitOf(
  tokens: readonly SqlToken[],
  at: number,
  depth: number,
): Pick<TextBlock, "limit" | "offset"> {
  if (at < 0) return { limit: null, offset: 0 };
  const rest = tokens.slice(at + 1).filter((t) => t.depth === depth);
  const count = wholeNumber(rest[0]);
  const second = rest[1]?.key === "OFFSET" || rest[1]?.key === "," ? wholeNumber(rest[2]) ?? 0 : 0;
  return rest[1]?.key === "," ? { limit: second, offset: count ?? 0 } : { limit: count, offset: second };
}

function wholeNumber(token: SqlToken | undefined): number | undefined {
  const digits = token?.kind === "literal" ? token.text.replaceAll("_", "") : "";
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

function targetOf(verb: string, tokens: readonly SqlToken[]): string | null {
  const key = verb === "UPDATE" ? "UPDATE" : verb === "DELETE" ? "FROM" : "INTO";
  if (!["UPDATE", "DELETE", "INSERT", "REPLACE"].includes(verb)) return null;
  let at = tokens.findIndex((t) => t.depth === 0 && t.key === key) + 1;
  if (tokens[at]?.key === "OR") at += 2;
  if (tokens[at + 1]?.key === ".") at += 2;
  return tokens[at]?.text ?? null;
}

function assignedBy(verb: string, tokens: readonly SqlToken[]): ReadonlySet<string> {
  const names = new Set<string>();
  const set = verb === "UPDATE" ? tokens.findIndex((t) => t.depth === 0 && t.key === "SET") : -1;
  if (set < 0) return names;
  for (const [at, token] of tokens.entries()) {
    if (at > set && token.depth === 0 && token.key === "WHERE") break;
    if (at > set && token.key === "=" && token.depth === 0) {
      names.add((tokens[at - 1]?.text ?? "").toLowerCase());
    }
  }
  return names;
}
