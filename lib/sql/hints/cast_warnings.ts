// Casts to types of other dialects, which run and make a number of everything. Pure.
import { type SqlToken, sqlTokens } from "../tokens/sql_tokens.ts";

/** Characters of a statement that is looked at. */
const MAX_LENGTH = 20_000;
/** Types that the engine does not know, and takes for numbers. */
const FOREIGN = /^(?:JSONB?|UUID|STRING|DATE|DATETIME|TIME|TIMESTAMP|TIMESTAMPTZ)$/;
/** Whether the tokens are worth the reading. */
const MENTIONED = /\bas\s+(?:jsonb?|uuid|string|date|datetime|time|timestamp|timestamptz)\b/i;

/** A warning for each type of another dialect that a statement casts to; empty otherwise. */
export function castWarnings(sql: string): readonly string[] {
  if (sql.length > MAX_LENGTH || !MENTIONED.test(sql)) return [];
  const types = castTypes(sqlTokens(sql)).filter((type) => FOREIGN.test(type));
  return [...new Set(types)].map((type) =>
    `CAST(… AS ${type}) makes a number, 0 of most texts; leave it out, or write CAST(… AS TEXT): JSON, dates and UUIDs are text`
  );
}

/** The first word of each type that is cast to, in capitals. */
function castTypes(tokens: readonly SqlToken[]): string[] {
  /** The depths inside the casts that are open. */
  const open: number[] = [];
  return tokens.flatMap(({ key, depth }, at) => {
    if (key === "(" && tokens[at - 1]?.key === "CAST") open.push(depth + 1);
    else if (key === ")" && open.at(-1) === depth + 1) open.pop();
    else if (key === "AS" && open.at(-1) === depth) return [tokens[at + 1]?.key ?? ""];
    return [];
  });
}
