// From engine values to the JSON text of one result (contract 4), within the bounds of the call.

/** A value as `node:sqlite` returns it in an array row. */
export type EngineValue = null | number | bigint | string | Uint8Array;

/** Thrown while rows are read when a bound is passed; the message says which. */
export class ResultTooLarge extends Error {
  override readonly name = "ResultTooLarge";
}

export interface ResultBounds {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** `[[…],…]` for rows; integers that arrive as bigint become numbers where exact, else strings of digits. */
export function rowsJson(
  rows: readonly (readonly EngineValue[])[],
  bounds: ResultBounds,
  integersAsStrings: boolean,
): string {
  if (rows.length > bounds.maxRows) throw new ResultTooLarge(`more than ${bounds.maxRows} rows`);
  const text = JSON.stringify(
    isPlain(rows) ? rows : rows.map((row) => row.map((value) => jsonValue(value, integersAsStrings))),
  );
  if (text.length > bounds.maxBytes) throw new ResultTooLarge(`more than ${bounds.maxBytes} bytes`);
  return text;
}

/** Nothing in these rows that JSON.stringify would write otherwise than the contract. */
function isPlain(rows: readonly (readonly EngineValue[])[]): boolean {
  for (const row of rows) {
    for (const value of row) {
      if (typeof value === "string" || value === null) continue;
      if (typeof value !== "number" || !Number.isFinite(value)) return false;
    }
  }
  return true;
}

function jsonValue(value: EngineValue, integersAsStrings: boolean): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return integersAsStrings || !Number.isSafeInteger(number) ? value.toString() : number;
  }
  if (typeof value === "number" && !Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value instanceof Uint8Array) return { $blob: value.toBase64() };
  return value;
}
