// A reading statement in a form that ends while its rows are read, as soon as they pass the bounds of a result: by a
// LIMIT, and by a condition that counts the bytes of long values. `node:sqlite` itself reads all rows before it returns
// one, or, row by row, ends in silence where a step fails.
import { type SqlToken, sqlTokens } from "../sql/sql_tokens.ts";

/** The function that counts: takes bytes, returns 1, or `OVERFLOWS` once there are too many. */
export const RESULT_BYTES = "_service_meta_result_bytes";
/** What `abs()` fails with: a function must not throw, for `node:sqlite` would start the statement over, without end. */
export const OVERFLOWS = -(2n ** 63n);

/** Bytes of text and blobs up to which a row is not counted: the LIMIT bounds such rows. */
const SHORT_ROW = 128;
/** Columns added up inside one pair of parentheses: SQLite bounds how deep an expression is. */
const SUM_COLUMNS = 30;
const FIRST_WORDS: ReadonlySet<string> = new Set(["SELECT", "VALUES", "WITH"]);
const COMPOUND_WORDS: ReadonlySet<string> = new Set(["UNION", "INTERSECT", "EXCEPT", "VALUES"]);
/** Of a text with any of these the engine might plan otherwise, and so order equal rows otherwise, if it saw the LIMIT. */
const SORTING_WORDS: ReadonlySet<string> = new Set(["ORDER", "GROUP", "DISTINCT"]);
/** Of a statement's form at most: names and conditions of as many columns as a result may have. */
export const FORM_CHARACTERS = 200_000;

/** The statement and its bounds. */
export interface BoundedSelect {
  /** With bound rows and bytes. */
  readonly counted: string;
  /** With bound rows only, which costs nothing. */
  readonly limited: string;
  /** Its rows come of several parts, the first of which says what affinity a column has where it is read. */
  readonly compound: boolean;
}

/**
 * `rowCount`: rows at most; in the text, because SQLite compiles a statement anew whenever its LIMIT is bound. Null for
 * what is no SELECT (PRAGMA, EXPLAIN, RETURNING). The order of rows stays: a subquery with a LIMIT is not flattened.
 */
export function boundedSelect(sql: string, columnCount: number, rowCount: number): BoundedSelect | null {
  const tokens = sqlTokens(sql);
  const first = tokens.find(({ key }) => key !== ";");
  const last = tokens.findLast(({ key }) => key !== ";");
  if (!first || !last || !FIRST_WORDS.has(first.key)) return null;
  const own = tokens.filter(({ depth }) => depth === 0);
  const compound = own.some(({ key }) => COMPOUND_WORDS.has(key));
  if (compound && sortsByCollation(own)) return null;
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

/** Which rows of a compound SQLite takes for equal then is another matter inside of a statement. */
function sortsByCollation(own: readonly SqlToken[]): boolean {
  const order = own.findLastIndex(({ key }) => key === "ORDER");
  return order !== -1 && own.slice(order).some(({ key }) => key === "COLLATE");
}

/**
 * Numbers and NULL sort before '', and `octet_length` of a number would write it down first. The `+` takes away the
 * column's affinity, by which a text of digits would be compared as a number.
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
