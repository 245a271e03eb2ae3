// Finds the columns that ALTER TABLE … ADD COLUMN has added to a table, from the texts before and after.

/** Definitions that ADD COLUMN refuses, or takes only into an empty table. */
const NOT_ADDABLE = /\b(primary|unique|stored|references|check|current_\w+)\b|default\s*\(|--|\/\*/i;

/**
 * The definitions in order. Null when the text has changed in another way, or when one of them cannot be added to a
 * table with rows. `count` is how many columns were added.
 */
export function addedColumns(before: string, after: string, count: number): readonly string[] | null {
  const inserted = insertedText(before, after);
  if (inserted === null || count < 1) return null;
  const pieces = splitDefinitions(inserted.slice(1));
  if (pieces.length !== count || pieces.some((piece) => piece === "" || !isAddable(piece))) return null;
  return pieces;
}

/** The run of text that begins with a comma and turns `before` into `after`, or null. */
function insertedText(before: string, after: string): string | null {
  const length = after.length - before.length;
  if (length < 2) return null;
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  if (before.slice(start) !== after.slice(start + length)) return null;
  // Other runs give the same result: `a, b` + `, c` and `a` + `, b`. ADD COLUMN writes the comma first.
  while (start > 0 && after[start] !== "," && after[start - 1] === after[start - 1 + length]) start--;
  return after[start] === "," ? after.slice(start, start + length) : null;
}

function isAddable(definition: string): boolean {
  if (NOT_ADDABLE.test(definition)) return false;
  return !/\bnot\s+null\b/i.test(definition) || /\bdefault\s+(?!null\b)/i.test(definition);
}

/** Splits at commas outside brackets and quotes. */
function splitDefinitions(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if ("'\"`".includes(letter)) quote = letter;
    else if (letter === "[") quote = "]";
    else if (letter === "(") depth++;
    else if (letter === ")") depth--;
    else if (letter === "," && depth === 0) {
      pieces.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...pieces, text.slice(start).trim()];
}
