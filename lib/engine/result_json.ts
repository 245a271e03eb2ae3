// Writes engine values as the JSON text of one result, within the bounds of the call.
import type { EngineValue } from "../sql/words/sql_value.ts";
import { integerJson, realJson, type RowForm } from "../sql/words/row_form.ts";

/** Thrown while rows are read when a bound is passed; the message says which. */
export class ResultTooLarge extends Error {
  override readonly name = "ResultTooLarge";
}

/**
 * `node:sqlite` refuses to read an INTEGER beyond 2^53 as a number, but lets the lowest one pass. It may also be a
 * REAL: reading integers as bigint tells.
 */
class MaybeRounded extends Error {
  override readonly name = "MaybeRounded";
}

/** Whether the rows hold an INTEGER that has to be read as bigint. */
export function isIntegerOutOfRange(error: unknown): boolean {
  return error instanceof MaybeRounded ||
    (error instanceof Error && Reflect.get(error, "code") === "ERR_OUT_OF_RANGE");
}

const LOWEST_INTEGER = -(2 ** 63);

/** Bounds of a result. */
export interface ResultBounds {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** `[[…],…]` for rows read with integers as bigint (`big`) or as numbers; integers that arrive as bigint become numbers where exact, else strings of digits. */
export function rowsJson(
  rows: readonly (readonly EngineValue[])[],
  bounds: ResultBounds,
  reading: { readonly rowForm: RowForm; readonly big: boolean },
): string {
  if (rows.length > bounds.maxRows) throw new ResultTooLarge(`more than ${bounds.maxRows} rows`);
  const text = JSON.stringify(
    isPlain(rows, reading.big)
      ? rows
      : rows.map((row) =>
        row.map((value) => typeof value === "number" ? realJson(value) : jsonValue(value, reading.rowForm))
      ),
  );
  if (exceeds(text, bounds.maxBytes)) throw new ResultTooLarge(`more than ${bounds.maxBytes} bytes`);
  return text;
}

/** Whether the text has more than `maxBytes` in UTF-8; counts the bytes only where the number of characters cannot decide. */
export function exceeds(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}

/** Whether JSON.stringify writes every value of these rows in the form of an answer. */
function isPlain(rows: readonly (readonly EngineValue[])[], big: boolean): boolean {
  let plain = true;
  for (const row of rows) {
    for (const value of row) {
      if (typeof value === "string" || value === null) continue;
      if (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER) continue;
      if (value === LOWEST_INTEGER && !big) throw new MaybeRounded();
      plain = false;
    }
  }
  return plain;
}

/** One value in the form of an answer: whole numbers beyond 2^53 as digits, blobs as base64. */
export function jsonValue(
  value: EngineValue,
  rowForm: RowForm,
): string | number | null | { readonly $blob: string } {
  if (typeof value === "bigint") return integerJson(value, rowForm);
  if (typeof value === "number" && !Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value instanceof Uint8Array) return { $blob: value.toBase64() };
  return value;
}
