// Words of other SQL dialects, with what to write here instead: for statements that could not be understood.
import { dialectFunctions } from "./dialect_functions.ts";
import { dialectWords } from "./dialect_words.ts";
import { type SqlToken, sqlTokens } from "../tokens/sql_tokens.ts";

/** Whether a token is what one place of a pattern asks for. */
type Place = (token: SqlToken) => boolean;

/** Characters of a statement that are looked at: the words of a dialect stand early, and a statement may be long. */
const MAX_LENGTH = 10_000;

/**
 * What to write instead of another dialect's words in the statement; null where it has none that are known. Only for
 * statements that failed: some of these words mean something here too. A function that the engine's `message` does not
 * know is answered first, whatever else stands beside it.
 */
export function dialectHint(sql: string, message = ""): string | null {
  const unknown = /^no such function: (\w+)$/.exec(message)?.[1]?.toUpperCase();
  const told = unknown === undefined ? undefined : functions.get(unknown);
  if (told !== undefined) return told;
  // A token that the bound cuts is none.
  const tokens = sqlTokens(sql.slice(0, MAX_LENGTH)).filter(({ end }) => end < MAX_LENGTH);
  return rows.find((row) => matches(tokens, row))?.hint ?? null;
}

interface Pattern {
  /** Whether its first part is the beginning of the statement. */
  readonly first: boolean;
  readonly parts: readonly (readonly Place[])[];
}

function matches(tokens: readonly SqlToken[], { first, parts }: Pattern): boolean {
  let from = 0;
  return parts.every((places, index) => {
    const last = first && index === 0 ? 0 : tokens.length - places.length;
    const outside = first && index > 0;
    for (let at = from; at <= last; at++) {
      if (outside && tokens[at]?.depth !== 0 || !standsAt(tokens, places, at)) continue;
      from = at + places.length;
      return true;
    }
    return false;
  });
}

function standsAt(tokens: readonly SqlToken[], places: readonly Place[], at: number): boolean {
  return places.every((place, offset) => {
    const token = tokens[at + offset];
    return token !== undefined && place(token);
  });
}

/** `…` divides a pattern into parts, spaces divide a part into places. */
function patternOf(pattern: string): Pattern {
  const first = pattern.startsWith("^ ");
  const parts = pattern.replace(/^\^ /, "").split(" … ").map((part) => part.split(" ").map(placeOf));
  return { first, parts };
}

/** What stands for a class of tokens. Everything else is a word or a mark itself, with `|` between alternatives. */
const classes: Readonly<Record<string, Place>> = {
  "'": ({ kind }) => kind === "literal",
  "'!": ({ kind, text }) => kind === "literal" && /^'(?:[^']|'')*$/.test(text),
  "$": ({ kind }) => kind === "parameter",
  "@": ({ kind }) => kind === "word" || kind === "name",
  "@@": ({ key }) => key === "@",
};

function placeOf(text: string): Place {
  const keys = new Set(text.split("|"));
  const named = [...keys].flatMap((key) => classes[key] ?? []);
  return (token) => keys.has(token.key) || named.some((place) => place(token));
}

const functions: ReadonlyMap<string, string> = new Map(
  dialectFunctions.flatMap(([names, hint]) => names.split("|").map((name) => [name, hint] as const)),
);

const rows = [...dialectWords, ...dialectFunctions.map(([names, hint]) => [`${names} (`, hint] as const)]
  .map(([pattern, hint]) => ({ ...patternOf(pattern), hint }));
