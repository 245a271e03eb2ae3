// Converts between values as answers have them (whole numbers beyond 2^53 as digits, blobs as base64) and Hrana's.
import { integerJson, type RowForm } from "../../../sql/row_form.ts";
import type { SqlParameter } from "../../../sql/sql_value.ts";
import { exceeds, ResultTooLarge } from "../../../engine/result_json.ts";
import type { JsonValue } from "../../../engine/statement_effect.ts";
import type { HranaValue, StepRows } from "./hrana.ts";

/** JSON integers bind as INTEGER, other numbers as REAL. */
export function hranaValue(value: SqlParameter): HranaValue {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", value };
  if (typeof value === "object") {
    return "$blob" in value
      ? { type: "blob", base64: value.$blob.replace(/=+$/, "") }
      : { type: "integer", value: value.$integer };
  }
  return Number.isSafeInteger(value) ? { type: "integer", value: String(value) } : { type: "float", value };
}

/** Bounds of a result. */
export interface RemoteBounds {
  readonly rows: number;
  readonly bytes: number;
}

/** `{"columns":[…],"rows":[…]` without the closing brace. Throws `ResultTooLarge`. */
export function resultJson(
  { columns, rows }: StepRows,
  bounds: RemoteBounds,
  rowForm: RowForm,
): string {
  if (rows.length > bounds.rows) throw new ResultTooLarge(`more than ${bounds.rows} rows`);
  const text = JSON.stringify(rows.map((row) => row.map((value) => jsonValue(value, rowForm))));
  if (exceeds(text, bounds.bytes)) throw new ResultTooLarge(`more than ${bounds.bytes} bytes`);
  return `{"columns":${JSON.stringify(columns)},"rows":${text}`;
}

/** One value as answers have it. */
export function jsonValue(value: HranaValue, rowForm: RowForm): JsonValue {
  switch (value.type) {
    case "null":
      return null;
    case "text":
      return value.value;
    case "integer":
      return integerJson(value.value, rowForm);
    case "float":
      return value.value === Infinity ? "Infinity" : value.value === -Infinity ? "-Infinity" : value.value;
    case "blob":
      return { $blob: value.base64.padEnd(Math.ceil(value.base64.length / 4) * 4, "=") };
  }
}

/** An integer of the service's own statements: a count, a time, a version. */
export function integerOf(value: HranaValue | undefined): number {
  return value?.type === "integer" ? Number(value.value) : 0;
}

/** A text of the service's own statements; empty where it is something else. */
export function stringOf(value: HranaValue | undefined): string {
  return value?.type === "text" ? value.value : "";
}
