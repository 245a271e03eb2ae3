// Texts as they are stored. The engine's reader cuts a text at U+0000 and writes U+FFFD for bytes that are no UTF-8, so what has to
// be exact is read as bytes.
import type { EngineValue } from "./sql_value.ts";

/** A text that no string holds as it is stored: its bytes, in UTF-8 as far as they are valid. */
export class OddText {
  constructor(readonly bytes: Uint8Array) {}

  /** The text as answers show it. */
  get shown(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes);
  }
}

/** A value as it is stored. */
export type StoredValue = EngineValue | OddText;

/** The first byte of a value that was read `tagged`: both kinds have one, so that no value is empty. */
const TEXT = "t".charCodeAt(0);

/** SQL that reads the value of an expression with texts and blobs as bytes behind the first letter of their kind. */
export function tagged(expression: string): string {
  return `CASE typeof(${expression}) WHEN 'text' THEN CAST('t' || ${expression} AS BLOB) ` +
    `WHEN 'blob' THEN CAST('b' || ${expression} AS BLOB) ELSE ${expression} END`;
}

/** The text or blob that was read `tagged`. */
export function untagged(bytes: Uint8Array): string | OddText | Uint8Array {
  const value = bytes.subarray(1);
  return bytes[0] === TEXT ? textOf(value) : value;
}

/** The text of these bytes; odd where it has U+0000 in it, or is no UTF-8. */
export function textOf(bytes: Uint8Array): string | OddText {
  const text = decoded(bytes);
  return text === null || text.includes("\0") ? new OddText(bytes) : text;
}

/** Whether all of it is valid UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  return decoded(bytes) !== null;
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}
