// The text that reads one page of a SELECT's rows, for people and agents who look at it. Pure.
import type { Syntax } from "../../sql/syntax.ts";
import { sqlTokens } from "../../sql/sql_tokens.ts";

/** Which rows are wanted, from 0. */
export interface RowWindow {
  readonly first: number;
  readonly count: number;
}

/** Ends a text of `pageText`, so that the log shows where its LIMIT comes from. */
const MARK = "-- a page of the result";
/** Older texts of logs end in the second. */
const MARKS = `(?:${MARK}|-- a page of the console)`;

/**
 * The statement with a LIMIT for the page and one more row, which tells whether there are more. Null for what is no
 * SELECT: it runs as it is. A SELECT with a LIMIT of its own, and VALUES, which take none, are read from outside.
 */
export function pageText(sql: string, syntax: Syntax, { first, count }: RowWindow): string | null {
  if (syntax.kind !== "SelectStmt") return null;
  const tokens = sqlTokens(sql);
  const last = tokens.findLast(({ key }) => key !== ";");
  if (last === undefined) return null;
  const body = sql.slice(0, last.end);
  const limit = `LIMIT ${count + 1} OFFSET ${first} ${MARK}`;
  const takesLimit = !syntax.limited && !tokens.some(({ key, depth }) => key === "VALUES" && depth === 0);
  return takesLimit ? `${body}\n${limit}` : `SELECT * FROM (\n${body}\n) ${limit}`;
}

const OUTSIDE = new RegExp(`SELECT \\* FROM \\(\\n([^]*?)\\n\\) LIMIT \\d+ OFFSET \\d+ ${MARKS}`, "g");
const BEHIND = new RegExp(`\\nLIMIT \\d+ OFFSET \\d+ ${MARKS}`, "g");

/** The text as it was typed, from a log's text of one or several of `pageText`; any other as it is. */
export function typedText(sql: string): string {
  return sql.replace(OUTSIDE, "$1").replace(BEHIND, "");
}
