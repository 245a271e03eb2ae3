// The module of a virtual table, as the text that made it names it.
import { foldName } from "../words/names.ts";
import { sqlTokens } from "./sql_tokens.ts";

/** The module of a virtual table, from its text; null for an ordinary table. */
export function moduleOf(sql: string): string | null {
  const tokens = sqlTokens(sql.slice(0, 2000)).slice(0, 12);
  if (tokens[1]?.key !== "VIRTUAL") return null;
  const using = tokens.findIndex(({ key }) => key === "USING");
  return using < 0 ? "" : foldName(tokens[using + 1]?.text ?? "");
}
