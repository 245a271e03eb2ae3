// Decides whether a proposed statement may run at all. Pure: it judges what the engine said when it compiled the text.
import type { StatementFacts } from "../../sql/statement_facts.ts";
import { foldName } from "../../sql/fold_name.ts";

/** Table-valued functions that read nothing but their argument. */
const harmlessTables: ReadonlySet<string> = new Set(["json_each", "json_tree"]);

/** Functions that tell of the engine or of other calls, or that make large values out of nothing. */
const closedFunctions: ReadonlySet<string> = new Set(
  ("changes last_insert_rowid total_changes sqlite_version sqlite_source_id fts5_source_id rtreecheck " +
    "randomblob zeroblob").split(" "),
);

/**
 * Null when the statement does nothing but read the allowed tables; otherwise why it may not run, in words that hold
 * no part of the text. A view is a table, and what it reads is read: all of it has to be allowed.
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
