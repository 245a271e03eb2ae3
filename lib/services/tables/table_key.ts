// By what a row of a table is named exactly: its primary key, or the engine's own row number. Pure.
import { freeRowidName } from "../../sql/words/rowid_names.ts";
import { affinityOf, isBase64, type SqlParameter } from "../../sql/words/sql_value.ts";
import type { TableFacts } from "../schema/schema_facts.ts";
import { jsonOf } from "../../core/json_of.ts";
import { keyFacts } from "../schema/key_columns.ts";

/** The columns whose values name one row. */
export interface TableKey {
  readonly columns: readonly string[];
  /** True: the one column is the engine's row number, which the table does not declare. */
  readonly hidden: boolean;
}

/**
 * The key of a table; null where nothing names its rows. A primary key counts only where the engine keeps NULL out of
 * it: elsewhere several rows may have the same.
 */
export function tableKey(table: TableFacts): TableKey | null {
  const primary = keyFacts(table.columns);
  const [only] = primary;
  const isRowNumber = primary.length === 1 && only?.type.toUpperCase() === "INTEGER" && !table.keyIsIndexed;
  if (table.withoutRowid || isRowNumber || (primary.length > 0 && primary.every(({ notNull }) => notNull))) {
    return { columns: primary.map(({ name }) => name), hidden: false };
  }
  const free = freeRowidName(table.columns.map(({ name }) => name));
  return free === null ? null : { columns: [free], hidden: true };
}

/** A value with the engine's name of its type, as `typeof` tells it. */
export interface EngineCell {
  readonly value: string | number | null | { readonly $blob: string };
  readonly type: string;
}

/** The value as it is bound again: an INTEGER beyond 2^53 stays one. */
export function cellParameter({ value, type }: EngineCell): SqlParameter {
  if (type === "integer" && typeof value === "string") return { $integer: value };
  if (type === "real" && typeof value === "string") return value.startsWith("-") ? -Infinity : Infinity;
  return value;
}

/** The key of a row as a text for an address. */
export function keyText(values: readonly SqlParameter[]): string {
  return JSON.stringify(values);
}

/** Reads a text of `keyText`; null for what is none, or has another number of values. */
export function readKeyText(text: string, count: number): SqlParameter[] | null {
  const values = jsonOf(text);
  if (!Array.isArray(values) || values.length !== count) return null;
  return values.every(isParameter) ? values : null;
}

function isParameter(value: unknown): value is SqlParameter {
  if (value === null || typeof value === "string" || typeof value === "number") return true;
  if (typeof value !== "object" || Object.keys(value).length !== 1) return false;
  const blob: unknown = Reflect.get(value, "$blob");
  if (typeof blob === "string") return isBase64(blob);
  const digits: unknown = Reflect.get(value, "$integer");
  return typeof digits === "string" && /^-?\d{1,19}$/.test(digits);
}

/**
 * Whether the engine compares a column of this type with numbers as numbers, whatever form they are sent in. ANY keeps what it
 * is given in a STRICT table.
 */
export function comparesAsNumber(declaredType: string): boolean {
  return !/^ANY$/i.test(declaredType) && ["INTEGER", "REAL", "NUMERIC"].includes(affinityOf(declaredType));
}
