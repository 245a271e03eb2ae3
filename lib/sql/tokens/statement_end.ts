// Where a statement ends, for whoever writes something behind it. Pure.
import { sqlTokens } from "./sql_tokens.ts";

/** What the tokens of a statement tell. */
export interface StatementEnd {
  /** The offset behind its last token that is no semicolon. */
  readonly end: number;
  /** Whether VALUES stands outside of all parentheses. */
  readonly isValues: boolean;
}

/** Null for a text without tokens. */
export function statementEnd(sql: string): StatementEnd | null {
  const tokens = sqlTokens(sql);
  const last = tokens.findLast(({ key }) => key !== ";");
  if (last === undefined) return null;
  return { end: last.end, isValues: tokens.some(({ key, depth }) => key === "VALUES" && depth === 0) };
}
