// How deep an engine may have to go to compile a statement. It does so by recursion, and `node:sqlite` ends the whole
// process where its stack is used up (at some 2500 queries inside one another), so that is bounded before it starts.
import { sqlTokens } from "../../../sql/sql_tokens.ts";

/** Queries in one statement, and in one schema for the runtime's own engine: no path through both is longer. */
export const MAX_QUERIES = 250;

/** Every query, also each of a chain of CTEs or views, has one of these words of its own. */
const QUERIES: ReadonlySet<string> = new Set(["SELECT", "VALUES"]);

/** Queries that the texts hold, whether inside one another or not. */
export function countQueries(texts: readonly string[]): number {
  let count = 0;
  for (const text of texts) {
    const words = text.match(/\b(?:select|values)\b/gi)?.length ?? 0;
    // Most texts have few; only the others are worth telling words from values.
    count += words <= MAX_QUERIES ? words : sqlTokens(text).filter(({ key }) => QUERIES.has(key)).length;
  }
  return count;
}
