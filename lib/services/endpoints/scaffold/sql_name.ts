// Names in the text of scaffolded statements: bare where that means the same, for people read them.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { reservedWords } from "../../../sql/reserved_words.ts";

/** They parse as names in some places only, or mean a value or the row's number. */
const doubtful: ReadonlySet<string> = new Set(
  "cross full inner left natural outer right indexed true false rowid oid _rowid_ over filter window".split(
    " ",
  ),
);

export function sqlName(name: string): string {
  const lower = name.toLowerCase();
  const plain = /^[a-z_][a-z0-9_]*$/.test(lower) && !reservedWords.has(lower) && !doubtful.has(lower);
  return plain ? name : quoteIdentifier(name);
}
