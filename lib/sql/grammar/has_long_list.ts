// Finds statements on which the parser would take too long: it compares each name of a list (columns of a table or an
// INSERT, CTEs) with all names before it. The engine takes far fewer names.
import { tokenName } from "sqlite3-parser";
import { tokenize } from "./grammar.ts";

/** Names in one list of a statement: twice as many as the engine takes columns. */
export const MAX_LIST = 2000;

/** After these words, up to the closing parenthesis, commas do not separate names. */
const NO_NAMES: ReadonlySet<string> = new Set(["SELECT", "VALUES", "BEGIN"]);

/** Whether a list of names is longer than that. It takes linear time, and almost none for a text with few commas. */
export function hasLongList(sql: string): boolean {
  return hasManyCommas(sql) && hasManyNames(sql);
}

function hasManyCommas(sql: string): boolean {
  let count = 0;
  for (let at = sql.indexOf(","); at >= 0; at = sql.indexOf(",", at + 1)) {
    if (++count >= MAX_LIST) return true;
  }
  return false;
}

function hasManyNames(sql: string): boolean {
  /** Commas between names, for the statement and for each open parenthesis; negative: its commas do not count. */
  const commas: number[] = [-Infinity];
  let ctes = 0;
  let before = "";
  for (const { type } of tokenize(sql)) {
    const token = tokenName(type) ?? "";
    const last = commas.length - 1;
    if (token === "LP") {
      if (before === "AS" || before === "MATERIALIZED") ctes++;
      commas.push(before === "IN" ? -Infinity : 0);
    } else if (token === "RP" && last > 0) commas.pop();
    else if (token === "COMMA") commas[last] = (commas[last] ?? 0) + 1;
    else if (NO_NAMES.has(token)) commas[last] = -Infinity;
    // The columns of a trigger have no parentheses.
    else if (token === "OF") commas[last] = 0;
    if (ctes > MAX_LIST || (commas.at(-1) ?? 0) >= MAX_LIST) return true;
    before = token;
  }
  return false;
}
