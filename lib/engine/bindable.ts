// Converts parameters to the values that the engine binds.
import type { SqlParameter } from "../sql/sql_value.ts";

/** A value that `node:sqlite` binds. */
export type Bindable = null | number | bigint | string | Uint8Array;

/** Binds JSON integers as INTEGER; `node:sqlite` would bind every number as a REAL. */
export function bindable(params: readonly SqlParameter[]): Bindable[] {
  return params.map((value) => {
    if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value === "object" && value !== null) {
      return "$blob" in value ? Uint8Array.fromBase64(value.$blob) : BigInt(value.$integer);
    }
    return value;
  });
}
