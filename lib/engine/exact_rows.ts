// Texts as they are stored: the reader of `node:sqlite` cuts them at U+0000 and replaces what is no UTF-8, so a statement is
// asked for their bytes in their place.
import { quoteIdentifier } from "../sql/words/quote.ts";
import { isUtf8, OddText, tagged, untagged } from "../sql/words/stored_text.ts";
import type { ReturnedColumns } from "../sql/grammar/returned_columns.ts";

/** Before the result of such a statement, so that whoever reads it knows the form of its values. */
const MARK = '"exact":true,';
const ROWS = quoteIdentifier("rows that a statement has returned");

/** The statement with its texts and blobs as bytes. `names`: of all columns that it returns, as the engine tells them. */
export function exactStatement(sql: string, form: ReturnedColumns, names: readonly string[]): string {
  if (form === "select") {
    const own = names.map((_, at) => `c${at}`);
    const columns = own.map((column, at) => `${tagged(column)} AS ${quoteIdentifier(names[at] ?? "")}`);
    // A comment at the end of the text ends with the line. Materialized, an expression has one value.
    return `WITH ${ROWS}(${own.join(", ")}) AS MATERIALIZED (${sql}\n) SELECT ${
      columns.join(", ")
    } FROM ${ROWS}`;
  }
  const { before, columns } = form;
  const inStar = (names.length - columns.filter((one) => one !== null).length) /
    columns.filter((one) => one === null).length;
  let at = 0;
  const exact = columns.flatMap((column) => {
    const own = names.slice(at, at += column === null ? inStar : 1);
    return own.map((name) => {
      const value = column === null
        ? tagged(quoteIdentifier(name))
        // The expression stands once, because of its placeholders.
        : `(SELECT ${tagged("x")} FROM (SELECT ${column} AS x))`;
      return `${value} AS ${quoteIdentifier(name)}`;
    });
  });
  return `${before} ${exact.join(", ")}`;
}

/** The result of such a statement, in the typed form. */
export function markedExact(json: string): string {
  return `{${MARK}${json.slice(1)}`;
}

/** A text or a blob that was read so; null for a text that is no UTF-8. */
export function exactOf(bytes: Uint8Array): string | Uint8Array | null {
  const value = untagged(bytes);
  if (!(value instanceof OddText)) return value;
  return isUtf8(value.bytes) ? value.shown : null;
}
