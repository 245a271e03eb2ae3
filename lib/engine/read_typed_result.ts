// Reads a result that `typed_result.ts` has written: its values are parameters again, each of the type that it had.
import type { SqlParameter } from "../sql/sql_value.ts";

/** A result with values that another statement can bind. */
export interface ReadTyped {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlParameter[])[];
}

type Typed =
  | { readonly type: "null" }
  | { readonly type: "integer" | "text"; readonly value: string }
  | { readonly type: "float"; readonly value: number }
  | { readonly type: "blob"; readonly base64: string };

interface TypedResult {
  readonly cols: readonly { readonly name: string }[];
  readonly rows: readonly (readonly Typed[])[];
}

/** `json`: without its closing brace, as stores answer it. Guarantee: a store has written it in the typed form. */
export function readTypedResult(json: string, mostRows = Infinity): ReadTyped {
  const { cols, rows }: TypedResult = JSON.parse(`${json}}`);
  return {
    columns: cols.map(({ name }) => name),
    rows: rows.slice(0, mostRows).map((row) => row.map(parameterOf)),
  };
}

function parameterOf(value: Typed): SqlParameter {
  switch (value.type) {
    case "null":
      return null;
    case "text":
      return value.value;
    case "integer": {
      const number = Number(value.value);
      return Number.isSafeInteger(number) ? number : { $integer: value.value };
    }
    case "float":
      return Number.isSafeInteger(value.value) ? { $real: value.value } : value.value;
    case "blob":
      return { $blob: Uint8Array.fromBase64(value.base64).toBase64() };
  }
}
