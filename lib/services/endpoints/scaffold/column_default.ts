// The default of a column as a value that an input can carry.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";

export type ColumnDefault =
  | { readonly kind: "none" }
  /** Fits the input's type. */
  | { readonly kind: "value"; readonly value: string | number | boolean }
  /** Only the engine can work it out. */
  | { readonly kind: "expression"; readonly sql: string };

/** `sql`: the text behind DEFAULT as the schema has it, null where there is none. */
export function columnDefault(sql: string | null, type: FieldSpec["type"]): ColumnDefault {
  if (sql === null || /^null$/i.test(sql.trim())) return { kind: "none" };
  const value = valueOf(sql.trim(), type);
  return value === null ? { kind: "expression", sql } : { kind: "value", value };
}

function valueOf(sql: string, type: FieldSpec["type"]): string | number | boolean | null {
  const number = /^[+-]?\d+(\.\d+)?$/.test(sql) ? Number(sql) : null;
  const text = /^'(?:[^']|'')*'$/.test(sql) ? sql.slice(1, -1).replaceAll("''", "'") : null;
  switch (type) {
    case "integer":
      return number !== null && Number.isSafeInteger(number) ? number : null;
    case "number":
      return number;
    case "boolean":
      if (number === 0 || /^false$/i.test(sql)) return false;
      return number === 1 || /^true$/i.test(sql) ? true : null;
    case "text":
      return text;
    default:
      return null;
  }
}
