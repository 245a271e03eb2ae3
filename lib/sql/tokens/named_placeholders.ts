// Placeholders with names (`:a`, `@a`, `$a`), which the pipeline does not know: each becomes the `?N` that SQLite gives it.
// Pure.
import { sqlTokens } from "./sql_tokens.ts";

/** A text without named placeholders. */
export interface NumberedText {
  readonly sql: string;
  /** The name of each placeholder by its number, from 1 on: with its mark, `?N` as written, null for `?` and for holes. */
  readonly names: readonly (string | null)[];
}

/**
 * Numbers as SQLite does: a name gets the next number where it first stands and keeps it, `?` is the next number, `?N`
 * is N.
 */
export function numberPlaceholders(sql: string): NumberedText {
  const numbers = new Map<string, number>();
  const names: (string | null)[] = [];
  let text = "";
  let done = 0;
  for (const { kind, text: placeholder, at, end } of sqlTokens(sql)) {
    if (kind !== "parameter") continue;
    if (placeholder === "?") {
      names.push(null);
      continue;
    }
    const own = placeholder.startsWith("?") ? numberOf(placeholder) : numbers.get(placeholder);
    const number = own ?? names.length + 1;
    if (number > MAX_NUMBER) continue;
    while (names.length < number) names.push(null);
    names[number - 1] ??= placeholder;
    if (placeholder.startsWith("?")) continue;
    numbers.set(placeholder, number);
    text += `${sql.slice(done, at)}?${number}`;
    done = end;
  }
  return { sql: text + sql.slice(done), names };
}

/** SQLite's bound; whoever counts the parameters refuses what is above it. */
const MAX_NUMBER = 32_766;

function numberOf(placeholder: string): number {
  return Number(placeholder.slice(1));
}
