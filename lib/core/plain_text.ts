// What counts as text in statements, parameters, inputs and descriptions, and the text that the query log stores.
import { LOG_SQL_BYTES } from "./limits.ts";

/**
 * Whether every store takes a text. The embedded engine ends text at U+0000, and half a surrogate pair is no
 * character.
 */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** The beginning of a text, of at most so many UTF-16 units; half a character at its end is replaced, as clients may not read it. */
export function beginning(text: string, most: number): string {
  return text.slice(0, most).toWellFormed();
}

/** The number of line breaks in a text. */
export function lineBreaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/**
 * The text of a statement as the query log stores it: at most `LOG_SQL_BYTES` of UTF-8, ending between two
 * characters. Half surrogate pairs are replaced, because refused texts are logged too and no store takes such halves.
 */
export function logText(text: string): string {
  if (text.length * 3 <= LOG_SQL_BYTES) return text.toWellFormed();
  const bytes = new TextEncoder().encode(text.slice(0, LOG_SQL_BYTES));
  let end = Math.min(bytes.length, LOG_SQL_BYTES);
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** Characters of all texts together. */
export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}
