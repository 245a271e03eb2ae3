// Texts as they are stored. The engine's reader cuts a text at U+0000 and writes U+FFFD for bytes that are no UTF-8, so two texts
// that differ would be equal, and a merge would write another text than the branch has. A page of rows with such a text is read
// again, with the bytes of its texts.
import type { EngineValue } from "../../engine/result_json.ts";

/** A text that no JavaScript string holds as it is stored. */
export class ExactText {
  constructor(readonly bytes: Uint8Array) {}

  /** The text as answers show it. */
  get shown(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes);
  }
}

/** A value of a row. */
export type StoredValue = EngineValue | ExactText;

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

/** SQL that reads the value of an expression in a form of which `exactValue` makes the value. */
export function tagged(expression: string): string {
  return `CASE typeof(${expression}) WHEN 'text' THEN CAST('t' || ${expression} AS BLOB) ` +
    `WHEN 'blob' THEN CAST('b' || ${expression} AS BLOB) ELSE ${expression} END`;
}

const TEXT_TAG = "t".charCodeAt(0);

/** The value that was read `tagged`. */
export function exactValue(value: EngineValue): StoredValue {
  if (!(value instanceof Uint8Array)) return value;
  const bytes = value.subarray(1);
  if (value[0] !== TEXT_TAG) return bytes;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return text.includes("\0") || (text.includes(REPLACED) && !isUtf8(bytes)) ? new ExactText(bytes) : text;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** SQL that gives a bound value its type back. `mark`: its placeholder. */
export function markOf(value: StoredValue, mark = "?"): string {
  return value instanceof ExactText ? `CAST(${mark} AS TEXT)` : mark;
}

/** What is bound for a value. */
export function boundValue(value: StoredValue): EngineValue {
  return value instanceof ExactText ? value.bytes : value;
}
