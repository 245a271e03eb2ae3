// Values between JSON and SQL (contract 4).

/**
 * A bound parameter as it travels to the engine: JSON, booleans already 0/1. `$blob` is base64; `$integer` are the
 * digits of an INTEGER beyond 2^53, which no caller can send: digits of callers bind as TEXT.
 */
export type SqlParameter =
  | (string | number | null)
  | { readonly $blob: string }
  | { readonly $integer: string };

/** Booleans bind as 0 and 1; everything else travels as it is. */
export function toSqlParameter(value: SqlParameter | boolean): SqlParameter {
  return typeof value === "boolean" ? Number(value) : value;
}

/** Stands for a value that is not known yet, where a statement is only looked at: it may be any, so it is read as none. */
export const unknownValue: SqlParameter = { $blob: "" };

type Affinity = "INTEGER" | "TEXT" | "BLOB" | "REAL" | "NUMERIC";

/** The rules in their order: the first word found decides. No type at all is BLOB. */
const rules: readonly (readonly [pattern: RegExp, affinity: Affinity])[] = [
  [/INT/i, "INTEGER"],
  [/CHAR|CLOB|TEXT/i, "TEXT"],
  [/BLOB|^$/i, "BLOB"],
  [/REAL|FLOA|DOUB/i, "REAL"],
];

export function affinityOf(declaredType: string): Affinity {
  return rules.find(([pattern]) => pattern.test(declaredType))?.[1] ?? "NUMERIC";
}
