// How the values of rows are read for people: long ones cut by the engine, each with its type and its full length.
import type { JsonValue } from "../../engine/statement_effect.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { EngineCell } from "./table_key.ts";

/** A value that is shown. */
export interface RowCell extends EngineCell {
  /** Characters of a text or bytes of a blob; null for other values. */
  readonly length: number | null;
  /** Whether `value` is only the beginning. */
  readonly cut: boolean;
}

/** Two result columns for each name: the value, cut, and its type with its length. */
export function cellColumns(names: readonly string[], most: number): string {
  return names.map(quoteIdentifier).map((name) =>
    `CASE typeof(${name}) WHEN 'text' THEN substr(${name}, 1, ${most}) ` +
    `WHEN 'blob' THEN substr(${name}, 1, ${most}) ELSE ${name} END, ` +
    `typeof(${name}) || CASE WHEN typeof(${name}) IN ('text', 'blob') THEN ':' || length(${name}) ELSE '' END`
  ).join(", ");
}

/** Reads what `cellColumns` of `count` names has selected, from the place `at` of a row. */
export function readCells(
  row: readonly JsonValue[],
  { at, count, most }: { readonly at: number; readonly count: number; readonly most: number },
): RowCell[] {
  return Array.from({ length: count }, (_, index) => {
    const value = row[at + 2 * index] ?? null;
    const [type = "null", told] = String(row[at + 2 * index + 1] ?? "null").split(":");
    const length = told === undefined ? null : Number(told);
    return { value, type, length, cut: length !== null && length > most };
  });
}
