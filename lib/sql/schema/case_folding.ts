// Unique indexes to which upper and lower case of a column are one. Pure.
import { sameName } from "../words/names.ts";
import { sqlTokens } from "../tokens/sql_tokens.ts";

/**
 * The function by which the unique index of this text compares the values of the column, as in `(lower("email"))`; null: it is an
 * index of something else, or of some rows.
 */
export function foldingOf(sql: string, column: string): "lower" | "upper" | null {
  const tokens = sqlTokens(sql);
  if (tokens.slice(0, 3).map(({ key }) => key).join(" ") !== "CREATE UNIQUE INDEX") return null;
  const [fold, open, name, close, end, ...more] = tokens.slice(
    tokens.findIndex(({ key }) => key === "(") + 1,
  );
  if (open?.key !== "(" || close?.key !== ")" || end?.key !== ")" || more.length > 0) return null;
  if (name === undefined || !["word", "name"].includes(name.kind)) return null;
  if (!sameName(name.text, column)) return null;
  return fold?.key === "LOWER" ? "lower" : fold?.key === "UPPER" ? "upper" : null;
}
