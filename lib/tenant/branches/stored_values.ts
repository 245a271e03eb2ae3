// Values as they are stored. As the engine's reader shows texts, two that differ may be equal, and a merge would write another
// text than the branch has. A page of rows with such a text is read again, with the bytes of its texts.
import type { EngineValue } from "../../sql/words/sql_value.ts";
import { OddText, type StoredValue, untagged } from "../../sql/words/stored_text.ts";

const REPLACED = "\ufffd";

/** SQL that reads the value of an expression, or U+FFFD in place of a text that would be cut. */
export function guarded(expression: string): string {
  return `CASE WHEN typeof(${expression}) = 'text' AND instr(${expression}, char(0)) ` +
    `THEN char(65533) ELSE ${expression} END`;
}

/** Whether a value, or a line of values, that was read `guarded` may be another one than is stored. */
export function isDoubtful(value: StoredValue): boolean {
  return typeof value === "string" && value.includes(REPLACED);
}

/** The value that was read `tagged`. */
export function storedValue(value: EngineValue): StoredValue {
  return value instanceof Uint8Array ? untagged(value) : value;
}

/** SQL that gives a bound value its type back. `mark`: its placeholder. */
export function markOf(value: StoredValue, mark = "?"): string {
  return value instanceof OddText ? `CAST(${mark} AS TEXT)` : mark;
}

/** What is bound for a value. */
export function boundValue(value: StoredValue): EngineValue {
  return value instanceof OddText ? value.bytes : value;
}
