// A reading statement in a form that ends while its rows are read, as soon as they pass the bounds of a result: by a
// LIMIT, and by a condition that counts the bytes of long values. `node:sqlite` itself reads all rows before it returns
// one, or, row by row, ends in silence where a step fails.
import { planTokens } from "./plan_tokens.ts";

/** The function that counts: takes bytes, returns 1, or `OVERFLOWS` once there are too many. */
export const RESULT_BYTES = "_service_meta_result_bytes";
/** What `abs()` fails with: a function must not throw, for `node:sqlite` would start the statement over, without end. */
export const OVERFLOWS = -(2n ** 63n);

/** Bytes of text and blobs up to which a row is not counted: the LIMIT bounds such rows. */
const SHORT_ROW = 128;
/** Columns added up inside one pair of parentheses: SQLite bounds how deep an expression is. */
const SUM_COLUMNS = 30;
const FIRST_WORDS: ReadonlySet<string> = new Set(["SELECT", "VALUES", "WITH"]);

export interface BoundedSelect {
  /** With bound rows and bytes. */
  readonly counted: string;
  /** With bound rows only, which costs nothing. */
  readonly limited: string;
}

/**
 * `rowCount`: rows at most; in the text, because SQLite compiles a statement anew whenever its LIMIT is bound. Null for
 * what is no SELECT (PRAGMA, EXPLAIN, RETURNING). The order of rows stays: a subquery with a LIMIT is not flattened.
 */
export function boundedSelect(sql: string, columnCount: number, rowCount: number): BoundedSelect | null {
  const tokens = planTokens(sql);
  const last = tokens.findLast(({ key }) => key !== ";");
  if (last === undefined || !FIRST_WORDS.has(tokens[0]?.key ?? "")) return null;
  const columns = Array.from({ length: columnCount }, (_, index) => `c${index}`);
  const result = `WITH _service_meta_result(${columns}) AS (${sql.slice(0, last.end)}\n) SELECT * FROM `;
  const bytes = bytesOf(columns);
  return {
    limited: `${result}_service_meta_result LIMIT ${rowCount}`,
    counted: `${result}(SELECT * FROM _service_meta_result LIMIT -1)` +
      ` WHERE ${bytes} <= ${SHORT_ROW} OR abs(${RESULT_BYTES}(${bytes})) LIMIT ${rowCount}`,
  };
}

/** Numbers and NULL sort before '', and `octet_length` of a number would write it down first. */
function bytesOf(columns: readonly string[]): string {
  const sums: string[] = [];
  for (let at = 0; at < columns.length; at += SUM_COLUMNS) {
    const terms = columns.slice(at, at + SUM_COLUMNS).map((name) =>
      `CASE WHEN ${name} >= '' THEN octet_length(${name}) ELSE 0 END`
    );
    sums.push(`(${terms.join(" + ")})`);
  }
  return sums.join(" + ");
}
