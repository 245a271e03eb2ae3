// Converts between Hrana's values and those of answers (whole numbers beyond 2^53 as digits, blobs as base64), of parameters,
// and of the embedded engine (integers as bigint).
import { integerJson, realJson, type RowForm } from "../../../sql/words/row_form.ts";
import type { EngineValue, SqlParameter } from "../../../sql/words/sql_value.ts";
import { exceeds, ResultTooLarge } from "../../../engine/result_json.ts";
import { typedColumns, typedResultJson, typedRows } from "../../../engine/typed_result.ts";
import type { JsonValue } from "../../../engine/statement_effect.ts";
import { isAlter } from "../../../sql/tokens/sql_tokens.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import type { HranaValue, StepRows } from "./hrana.ts";

/** JSON integers bind as INTEGER, other numbers as REAL. */
export function hranaValue(value: SqlParameter): HranaValue {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", value };
  if (typeof value === "object") {
    if ("$blob" in value) return { type: "blob", base64: bareBase64(value.$blob) };
    return "$real" in value
      ? { type: "float", value: value.$real }
      : { type: "integer", value: value.$integer };
  }
  return Number.isSafeInteger(value) ? { type: "integer", value: String(value) } : { type: "float", value };
}

/**
 * Without padding, and without bits of the last character that belong to no byte: sqld reads neither, and would refuse the
 * request with every other call that is in it.
 */
function bareBase64(base64: string): string {
  const bare = base64.replace(/={1,2}$/, "");
  const whole = bare.length - bare.length % 4;
  return bare.slice(0, whole) + Uint8Array.fromBase64(bare.slice(whole)).toBase64({ omitPadding: true });
}

/** Bounds of a result. */
export interface RemoteBounds {
  readonly rows: number;
  readonly bytes: number;
}

/** `{"columns":[…],"rows":[…]` without the closing brace. Throws `ResultTooLarge`. */
export function resultJson(
  step: StepRows,
  bounds: RemoteBounds,
  rowForm: RowForm,
): string {
  const { columns, rows } = step;
  if (rows.length > bounds.rows) throw new ResultTooLarge(`more than ${bounds.rows} rows`);
  if (rowForm.typed) return typedResult(step, bounds);
  const text = JSON.stringify(rows.map((row) => row.map((value) => jsonValue(value, rowForm))));
  if (exceeds(text, bounds.bytes)) throw new ResultTooLarge(`more than ${bounds.bytes} bytes`);
  return `{"columns":${JSON.stringify(columns)},"rows":${text}`;
}

/** The rows that the caller's statement has answered: what an ALTER asks of them is no result. */
export function ownRows(step: StepRows, { level, sql }: Pick<TenantStatement, "level" | "sql">): StepRows {
  return level === "schema" && isAlter(sql) ? { ...step, columns: [], decltypes: [], rows: [] } : step;
}

/** The protocol's own form, of which only the spelling of infinities is ours. */
function typedResult(
  { columns, decltypes, rows, changes, lastRowid }: StepRows,
  bounds: RemoteBounds,
): string {
  const text = typedRows(rows.map((row) => row.map(fromHrana)), {
    maxRows: bounds.rows,
    maxBytes: bounds.bytes,
  });
  const cols = typedColumns(columns.map((name, at) => ({ name, type: decltypes[at] ?? null })));
  return typedResultJson(cols, text, { changes, rowid: lastRowid });
}

/** One value as answers have it. */
function jsonValue(value: HranaValue, rowForm: RowForm): JsonValue | object {
  switch (value.type) {
    case "null":
      return null;
    case "text":
      return value.value;
    case "integer":
      return integerJson(value.value, rowForm);
    case "float":
      return value.value === null ? null : realJson(value.value);
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

/** A value of Hrana as the embedded engine has it. */
export function fromHrana(value: HranaValue): EngineValue {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return BigInt(value.value);
    case "float":
    case "text":
      return value.value;
    case "blob":
      return Uint8Array.fromBase64(value.base64);
  }
}

/** A value of the embedded engine as Hrana has it. */
export function toHrana(value: EngineValue): HranaValue {
  if (value === null) return { type: "null" };
  if (typeof value === "bigint") return { type: "integer", value: value.toString() };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "string") return { type: "text", value };
  return { type: "blob", base64: value.toBase64({ omitPadding: true }) };
}

/** JSON has no infinity: such a value goes out in binary form. */
export function isInfinite(value: HranaValue): boolean {
  return value.type === "float" && !Number.isFinite(value.value);
}
