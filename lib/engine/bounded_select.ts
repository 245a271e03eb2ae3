// Rewrites a read so that the engine stops as soon as the result passes its bounds: a LIMIT bounds the rows, a condition
// counts the bytes of long values. `node:sqlite` cannot stop a read by itself: `all()` reads every row before it returns,
// and `iterate()` ends without an error where a step fails.
import { type SqlToken, sqlTokens } from "../sql/tokens/sql_tokens.ts";

/** The SQL function that counts bytes: it returns 1, or `OVERFLOWS` once there are too many. */
export const RESULT_BYTES = "_service_meta_result_bytes";
/** The value on which `abs()` fails. A function must not throw: `node:sqlite` would restart the statement without end. */
export const OVERFLOWS = -(2n ** 63n);

/** A row is counted only above this many bytes of text and blobs; the LIMIT alone bounds shorter rows. */
const SHORT_ROW = 128;
/** Columns added up inside one pair of parentheses, because SQLite bounds the depth of an expression. */
const SUM_COLUMNS = 30;
const FIRST_WORDS: ReadonlySet<string> = new Set(["SELECT", "VALUES", "WITH"]);
const COMPOUND_WORDS: ReadonlySet<string> = new Set(["UNION", "INTERSECT", "EXCEPT", "VALUES"]);
/** With one of these words in the text, a visible LIMIT might change the engine's plan, and with it the order of equal rows. */
const SORTING_WORDS: ReadonlySet<string> = new Set(["ORDER", "GROUP", "DISTINCT"]);
/** The longest form of a statement: names and conditions of as many columns as a result may have. */
export const FORM_CHARACTERS = 200_000;

/** The bounded forms of one statement. */
export interface BoundedSelect {
  /** The form that bounds rows and bytes. */
  readonly counted: string;
  /** The form that bounds only rows, at no cost. */
  readonly limited: string;
  /** The statement is a compound (UNION and the like), whose first part decides the affinity of each column. */
  readonly compound: boolean;
}

/**
 * Returns the bounded forms of a SELECT; null for PRAGMA, EXPLAIN and RETURNING. `rowCount` bounds the rows and stands in
 * the text, because SQLite recompiles a statement whenever its LIMIT is bound. The order of rows stays the same, because
 * SQLite does not flatten a subquery with a LIMIT.
 */
export function boundedSelect(sql: string, columnCount: number, rowCount: number): BoundedSelect | null {
  const tokens = sqlTokens(sql);
  const first = tokens.find(({ key }) => key !== ";");
  const last = tokens.findLast(({ key }) => key !== ";");
  if (!first || !last || !FIRST_WORDS.has(first.key)) return null;
  const own = tokens.filter(({ depth }) => depth === 0);
  const compound = own.some(({ key }) => COMPOUND_WORDS.has(key));
  if (compound && (sortsByCollation(own) || joinsValues(own))) return null;
  const columns = Array.from({ length: columnCount }, (_, index) => `c${index}`);
  const result = `WITH _service_meta_result(${columns}) AS (${
    sql.slice(first.at, last.end)
  }\n) SELECT * FROM `;
  const bytes = bytesOf(columns);
  const apart = "(SELECT * FROM _service_meta_result LIMIT -1)";
  const sorts = tokens.some(({ key }) => SORTING_WORDS.has(key));
  return {
    compound,
    limited: `${result}${sorts ? apart : "_service_meta_result"} LIMIT ${rowCount}`,
    counted: `${result}${apart}` +
      ` WHERE ${bytes} <= ${SHORT_ROW} OR abs(${RESULT_BYTES}(${bytes})) LIMIT ${rowCount}`,
  };
}

/** Whether VALUES are joined with something else: inside another statement the engine compares such rows by other collations. */
function joinsValues(own: readonly SqlToken[]): boolean {
  const has = (word: string) => own.some(({ key }) => key === word);
  return has("VALUES") && (has("UNION") || has("INTERSECT") || has("EXCEPT"));
}

/** Whether ORDER BY names a collation: a compound inside another statement may then treat other rows as equal. */
function sortsByCollation(own: readonly SqlToken[]): boolean {
  const order = own.findLastIndex(({ key }) => key === "ORDER");
  return order !== -1 && own.slice(order).some(({ key }) => key === "COLLATE");
}

/**
 * Only text and blobs sort after ''; numbers and NULL sort before it, and `octet_length` would first convert a number to
 * text. The `+` removes the column's affinity, which would compare a text of digits as a number.
 */
function bytesOf(columns: readonly string[]): string {
  const sums: string[] = [];
  for (let at = 0; at < columns.length; at += SUM_COLUMNS) {
    const terms = columns.slice(at, at + SUM_COLUMNS).map((name) =>
      `CASE WHEN +${name} >= '' THEN octet_length(${name}) ELSE 0 END`
    );
    sums.push(`(${terms.join(" + ")})`);
  }
  return sums.join(" + ");
}
