// Makes a SELECT end after so many rows, whoever has written it.
import type { FactsCache } from "../../query/facts_cache.ts";

/**
 * The text to run: with a LIMIT at its end, or where it has one of its own, inside a SELECT with one. Null for a text
 * to which neither can be done, such as one that ends in a comment.
 */
export function boundRows(syntaxes: FactsCache, sql: string, rows: number): string | null {
  const text = sql.trimEnd().replace(/;$/, "").trimEnd();
  const appended = `${text}\nLIMIT ${rows}`;
  const own = syntaxes.syntax(text);
  if (!own.ok || own.syntax.verb !== "select") return null;
  if (!own.syntax.limited && isBounded(syntaxes, appended)) return appended;
  const wrapped = `SELECT * FROM (\n${text}\n)\nLIMIT ${rows}`;
  return isBounded(syntaxes, wrapped) ? wrapped : null;
}

/** The grammar sees the LIMIT: it is not swallowed by a comment, and the text is still one SELECT. */
function isBounded(syntaxes: FactsCache, sql: string): boolean {
  const result = syntaxes.syntax(sql);
  return result.ok && result.syntax.verb === "select" && result.syntax.limited;
}
