// Names in a schema: when two are the same, which need quotes, and which are tables that belong to virtual tables.

/** The form in which two names are compared: the engine ignores the case of A to Z, and of no other letters. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether the engine takes two names for the same. */
export function sameName(a: string, b: string): boolean {
  return foldName(a) === foldName(b);
}

/** The names of the tables that belong to virtual tables. */
export const SHADOW_TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'";

const keywords =
  "add all alter and as autoincrement between case cast check collate commit constraint create " +
  "default deferrable delete distinct drop else escape except exists foreign from group having if in index " +
  "insert intersect into is isnull join limit not nothing notnull null on or order primary raise references " +
  "returning select set table then to transaction union unique update using values when where";
/** These parse, but answer the time instead of the column. */
const clocks = "current_date current_time current_timestamp";

/**
 * Words that cannot be the bare name of a table or column, in lower case. Keywords that the grammar also accepts as
 * names are not among them.
 */
export const reservedWords: ReadonlySet<string> = new Set(`${keywords} ${clocks}`.split(" "));
