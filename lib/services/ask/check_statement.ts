// Decides whether a proposed statement may run, bounds its rows, and says what it does. Pure: it uses only what the
// grammar and the engine say about the text.
import type { Facts } from "../../query/facts_cache.ts";
import { foldName } from "../../sql/words/names.ts";
import type { StatementFacts } from "../../sql/grammar/statement_facts.ts";

/** Table-valued functions that read only their argument. */
const harmlessTables: ReadonlySet<string> = new Set(["json_each", "json_tree"]);

/** Functions that reveal something about the engine or other calls, or that make large values out of nothing. */
const closedFunctions: ReadonlySet<string> = new Set(
  ("changes last_insert_rowid total_changes sqlite_version sqlite_source_id fts5_source_id rtreecheck " +
    "randomblob zeroblob").split(" "),
);

/**
 * Null when the statement only reads the allowed tables; otherwise why it may not run, in words that repeat no part
 * of the text. A view counts as a table, and so do the tables that it reads: all of them must be allowed.
 */
export function checkStatement(facts: StatementFacts, allowedTables: readonly string[]): string | null {
  if (facts.class !== "read" || facts.verb !== "select" || facts.pragma !== null) {
    return "the statement would do something else than read";
  }
  if (facts.tablesWritten.length > 0) return "the statement would write";
  if (facts.parameterCount > 0) return "the statement has places for values that nobody gives";
  const allowed = allowedTables.map(foldName);
  const readable = new Set([...allowed, ...harmlessTables]);
  if (!facts.tablesRead.every((table) => readable.has(foldName(table)))) {
    return "the statement would read a table that this endpoint does not cover";
  }
  const prefixes = [...readable].map((table) => `${table}.`);
  if (!facts.columnsRead.every((column) => prefixes.some((one) => foldName(column).startsWith(one)))) {
    return "the statement would read a column that this endpoint does not cover";
  }
  if (facts.functions.some((name) => closedFunctions.has(name.toLowerCase()))) {
    return "the statement calls a function that no question needs";
  }
  return null;
}

/**
 * The text to run, so that a SELECT ends after so many rows: with a LIMIT at its end, or inside a SELECT with a LIMIT
 * where it has one already. Null for a text to which neither can be done, such as one that ends in a comment.
 */
export function boundRows(syntaxes: Facts, sql: string, rows: number): string | null {
  const text = sql.trimEnd().replace(/;$/, "").trimEnd();
  const appended = `${text}\nLIMIT ${rows}`;
  const own = syntaxes.syntax(text);
  if (!own.ok || own.syntax.verb !== "select") return null;
  if (!own.syntax.limited && isBounded(syntaxes, appended)) return appended;
  const wrapped = `SELECT * FROM (\n${text}\n)\nLIMIT ${rows}`;
  return isBounded(syntaxes, wrapped) ? wrapped : null;
}

/** Whether the grammar sees the LIMIT: no comment has swallowed it, and the text is still one SELECT. */
function isBounded(syntaxes: Facts, sql: string): boolean {
  const result = syntaxes.syntax(sql);
  return result.ok && result.syntax.verb === "select" && result.syntax.limited;
}

/** Functions that tell what kind of answer it is. */
const aggregates: Readonly<Record<string, string>> = {
  count: "Counts rows",
  sum: "Adds up values",
  total: "Adds up values",
  avg: "Averages values",
  min: "Finds the smallest value",
  max: "Finds the largest value",
};

/** One sentence about what a statement does, for models that gave none: `Counts rows of customers and orders.` */
export function describeFacts(facts: StatementFacts): string {
  const verb =
    facts.functions.map((name) => aggregates[name.toLowerCase()]).find((text) => text !== undefined) ??
      "Reads rows";
  const tables = facts.tablesRead.filter((table) => !table.startsWith("json_"));
  if (tables.length === 0) return "Computes a value without reading a table.";
  const columns = facts.columnsRead.map((column) => column.slice(column.indexOf(".") + 1)).slice(0, 6);
  const using = columns.length > 0 ? `, using ${columns.join(", ")}` : "";
  return `${verb} of ${tables.slice(0, 6).join(" and ")}${using}.`;
}
