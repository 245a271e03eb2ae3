// When two names in a schema are the same name.

/** The engine compares names without regard to the case of A to Z, and of no other letters. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const keywords =
  "add all alter and as autoincrement between case cast check collate commit constraint create " +
  "default deferrable delete distinct drop else escape except exists foreign from group having if in index " +
  "insert intersect into is isnull join limit not nothing notnull null on or order primary raise references " +
  "returning select set table then to transaction union unique update using values when where";
/** They parse, and answer the time instead of the column. */
const clocks = "current_date current_time current_timestamp";

/** Lower case. Keywords that the grammar also takes for names are not among them. */
export const reservedWords: ReadonlySet<string> = new Set(`${keywords} ${clocks}`.split(" "));
