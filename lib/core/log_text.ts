// The text of statements as the query log keeps it.
import { LOG_SQL_BYTES } from "./limits.ts";

/**
 * At most `LOG_SQL_BYTES` of UTF-8, ending between two characters. A text that was refused for its half surrogate pairs
 * is logged as well, and no store takes those.
 */
export function logText(text: string): string {
  if (text.length * 3 <= LOG_SQL_BYTES) return text.toWellFormed();
  const bytes = new TextEncoder().encode(text.slice(0, LOG_SQL_BYTES));
  let end = Math.min(bytes.length, LOG_SQL_BYTES);
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
