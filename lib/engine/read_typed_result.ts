// Reads a result that `typed_result.ts` has written: its values are parameters again, each of the type that it had.
import type { SqlParameter } from "../sql/words/sql_value.ts";
import { exactOf } from "./exact_rows.ts";

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
  /** Texts and blobs are bytes, as `exact_rows.ts` has asked for them. */
  readonly exact?: true;
  readonly cols: readonly { readonly name: string }[];
  readonly rows: readonly (readonly Typed[])[];
}

/** A text that no parameter can be, because it is no UTF-8. */
export const brokenText: unique symbol = Symbol("a text that is no UTF-8");

/** The first row of a result; null: there is none. */
export interface FirstRow {
  readonly columns: readonly string[];
  readonly values: readonly (SqlParameter | typeof brokenText)[] | null;
}

/** `json`: without its closing brace, as stores answer it. Guarantee: a store has written it in the typed form. */
export function readTypedResult(json: string): ReadTyped {
  const { cols, rows }: TypedResult = JSON.parse(`${json}}`);
  return { columns: cols.map(({ name }) => name), rows: rows.map((row) => row.map(parameterOf)) };
}

/** The same for the first row only, also of a result that holds bytes in place of texts. */
export function readFirstRow(json: string): FirstRow {
  const { exact, cols, rows: [first] }: TypedResult = JSON.parse(`${json}}`);
  const columns = cols.map(({ name }) => name);
  const values = first?.map((one) => {
    if (exact === undefined || one.type !== "blob") return parameterOf(one);
    const value = exactOf(Uint8Array.fromBase64(one.base64));
    return value instanceof Uint8Array ? { $blob: value.toBase64() } : value ?? brokenText;
  });
  return { columns, values: values ?? null };
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
