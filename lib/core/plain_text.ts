// What counts as text everywhere: in statements, parameters, inputs and descriptions.
import { LOG_SQL_BYTES } from "./limits.ts";

/** The embedded engine ends text at U+0000, and half a surrogate pair is no character: no other store takes it. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/**
 * The text of statements as the query log keeps it. At most `LOG_SQL_BYTES` of UTF-8, ending between two characters.
 * A text that was refused for its half surrogate pairs is logged as well, and no store takes those.
 */
export function logText(text: string): string {
  if (text.length * 3 <= LOG_SQL_BYTES) return text.toWellFormed();
  const bytes = new TextEncoder().encode(text.slice(0, LOG_SQL_BYTES));
  let end = Math.min(bytes.length, LOG_SQL_BYTES);
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
