// The text that reads one page of a SELECT's rows, for people and agents who look at it.
import type { Facts } from "../../query/facts_cache.ts";
import { statementEnd } from "../../sql/tokens/statement_end.ts";

/** Which rows are wanted, from 0. */
export interface RowWindow {
  readonly first: number;
  readonly count: number;
}

/** What is known of texts. */
type PageFacts = Pick<Facts, "syntax" | "ahead">;

/** Reads ahead what `pageText` asks of long texts. */
export async function readPageTexts(
  facts: Pick<Facts, "readAhead">,
  texts: readonly string[],
): Promise<void> {
  await facts.readAhead(texts);
  await facts.readAhead(texts, "end");
}

/** Ends a text of `pageText`, so that the log shows where its LIMIT comes from. */
const MARK = "-- a page of the result";
/** Older texts of logs end in the second. */
const MARKS = `(?:${MARK}|-- a page of the console)`;

/**
 * The statement with a LIMIT for the page and one more row, which tells whether there are more. Null for what is no
 * SELECT, or cannot be read: it runs as it is. A SELECT with a LIMIT of its own, and VALUES, which take none, are read from outside.
 */
export function pageText(facts: PageFacts, sql: string, { first, count }: RowWindow): string | null {
  const read = facts.syntax(sql);
  if (!read.ok) return null;
  const { syntax } = read;
  if (syntax.kind !== "SelectStmt") return null;
  const ends = facts.ahead("end", sql) ?? statementEnd(sql);
  if (ends === null) return null;
  const body = sql.slice(0, ends.end);
  const limit = `LIMIT ${count + 1} OFFSET ${first} ${MARK}`;
  const takesLimit = !syntax.limited && !ends.isValues;
  return takesLimit ? `${body}\n${limit}` : `SELECT * FROM (\n${body}\n) ${limit}`;
}

const OUTSIDE = new RegExp(`SELECT \\* FROM \\(\\n([^]*?)\\n\\) LIMIT \\d+ OFFSET \\d+ ${MARKS}`, "g");
const BEHIND = new RegExp(`\\nLIMIT \\d+ OFFSET \\d+ ${MARKS}`, "g");

/** The text as it was typed, from a log's text of one or several of `pageText`; any other as it is. */
export function typedText(sql: string): string {
  return sql.replace(OUTSIDE, "$1").replace(BEHIND, "");
}
