// Values between JSON, SQL and the engine, and what a declared type means to the engine.

/**
 * A bound parameter on its way to the engine: JSON, with booleans as 0 and 1. `$blob` is base64. `$integer` holds the
 * digits of an INTEGER beyond 2^53, which callers cannot send: their digits bind as TEXT. `$real` is a REAL that is a
 * whole number, which a plain number would bind as INTEGER: clients of libSQL tell the two apart.
 */
export type SqlParameter =
  | (string | number | null)
  | { readonly $blob: string }
  | { readonly $integer: string }
  | { readonly $real: number };

/** The least and the greatest INTEGER. */
export const integerRange = { least: -(2n ** 63n), most: 2n ** 63n - 1n } as const;

export function isInRange(value: bigint): boolean {
  return value >= integerRange.least && value <= integerRange.most;
}

/** Booleans bind as 0 and 1, everything else as it is. */
export function toSqlParameter(value: SqlParameter | boolean): SqlParameter {
  return typeof value === "boolean" ? Number(value) : value;
}

/** The values of a statement; the same list where it has no boolean, as most have none. */
export function toSqlParameters(values: readonly (SqlParameter | boolean)[]): readonly SqlParameter[] {
  return hasNoBoolean(values) ? values : values.map(toSqlParameter);
}

function hasNoBoolean(values: readonly (SqlParameter | boolean)[]): values is readonly SqlParameter[] {
  return !values.some((value) => typeof value === "boolean");
}

/** A parameter as answers have values: the digits of an INTEGER that JSON has no number for, and a REAL as a number. */
export function shownParameter(value: SqlParameter): string | number | null | { readonly $blob: string } {
  if (typeof value !== "object" || value === null || "$blob" in value) return value;
  return "$integer" in value ? value.$integer : value.$real;
}

/** Whether a text is bytes in base64, with its padding. */
export function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;
}

/** Stands for an unknown value where a statement is only compiled. */
export const unknownValue: SqlParameter = { $blob: "" };

/** What a declared type prefers to store. */
export type Affinity = "INTEGER" | "TEXT" | "BLOB" | "REAL" | "NUMERIC";

/** The rules in order: the first match decides (sqlite.org/datatype3.html, section 3.1). No type at all is BLOB. */
const rules: readonly (readonly [pattern: RegExp, affinity: Affinity])[] = [
  [/INT/i, "INTEGER"],
  [/CHAR|CLOB|TEXT/i, "TEXT"],
  [/BLOB|^$/i, "BLOB"],
  [/REAL|FLOA|DOUB/i, "REAL"],
];

/** The affinity of a declared type. */
export function affinityOf(declaredType: string): Affinity {
  return rules.find(([pattern]) => pattern.test(declaredType))?.[1] ?? "NUMERIC";
}

/** A value as `node:sqlite` returns it in an array row, and as it binds it. */
export type EngineValue = null | number | bigint | string | Uint8Array;

/** Binds JSON integers as INTEGER; `node:sqlite` would bind every number as a REAL. */
export function bindable(params: readonly SqlParameter[]): EngineValue[] {
  return params.map((value) => {
    if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value === "object" && value !== null) {
      if ("$blob" in value) return Uint8Array.fromBase64(value.$blob);
      return "$real" in value ? value.$real : BigInt(value.$integer);
    }
    return value;
  });
}
