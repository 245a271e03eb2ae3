// Texts as they are stored: the reader of `node:sqlite` cuts them at U+0000 and replaces what is no UTF-8, so a statement is
// asked for their bytes in their place.
import { quoteIdentifier } from "../sql/quote.ts";
import type { ReturnedColumns } from "../sql/returned_columns.ts";

/** Before the result of such a statement, so that whoever reads it knows the form of its values. */
const MARK = '"exact":true,';
/** The first byte of a value, as every text and every blob has one. */
const FIRST = { text: 0x74, blob: 0x62 } as const;
const ROWS = quoteIdentifier("rows that a statement has returned");

/** The statement with its texts and blobs as bytes. `names`: of all columns that it returns, as the engine tells them. */
export function exactStatement(sql: string, form: ReturnedColumns, names: readonly string[]): string {
  if (form === "select") {
    const own = names.map((_, at) => `c${at}`);
    const columns = own.map((column, at) => `${bytesOf(column)} AS ${quoteIdentifier(names[at] ?? "")}`);
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
        ? bytesOf(quoteIdentifier(name))
        // The expression stands once, because of its placeholders.
        : `(SELECT ${bytesOf("x")} FROM (SELECT ${column} AS x))`;
      return `${value} AS ${quoteIdentifier(name)}`;
    });
  });
  return `${before} ${exact.join(", ")}`;
}

/** The result of such a statement, in the typed form. */
export function markedExact(json: string): string {
  return `{${MARK}${json.slice(1)}`;
}

/** A text or a blob by its bytes; null for a text that is no UTF-8. */
export function exactOf(bytes: Uint8Array): string | Uint8Array | null {
  const value = bytes.subarray(1);
  if (bytes[0] === FIRST.blob) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

function bytesOf(value: string): string {
  return `CASE typeof(${value}) WHEN 'text' THEN CAST('t' || ${value} AS BLOB) ` +
    `WHEN 'blob' THEN CAST('b' || ${value} AS BLOB) ELSE ${value} END`;
}
