// Where a page of a list ends, as a text that its caller sends back. It holds values of that row and nothing else, so that
// rows which come and go between two pages move no other. Pure.
import { isPlainText } from "../../../core/plain_text.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { OddText, textOf } from "../../../sql/words/stored_text.ts";
import { base64url } from "../../../core/base64url.ts";

/** A value of a row. `$text`: the bytes, as base64, of a text that no parameter can be: with U+0000, or of no valid UTF-8. */
export type CursorValue = SqlParameter | { readonly $text: string };

/** The order by its name, and the values of its column and of the key in the last row. */
export interface ListCursor {
  readonly sort: string;
  readonly values: readonly CursorValue[];
}

/** Characters of a cursor; a longer one was made by nobody here. */
const MAX_LENGTH = 8192;
/** Bytes of a text from which on a cursor is too long, whatever else it holds. */
export const TOO_LONG_BYTES = MAX_LENGTH / 4 * 3 + 1;
/** JSON has no infinity. */
const INFINITIES: ReadonlyMap<unknown, number> = new Map([["+", Infinity], ["-", -Infinity]]);

/** Writes a cursor; null where a value of the row is too long for one. */
export function writeCursor({ sort, values }: ListCursor): string | null {
  const json = JSON.stringify([
    sort,
    ...values.map((value) =>
      value === Infinity ? { $infinity: "+" } : value === -Infinity ? { $infinity: "-" } : value
    ),
  ]);
  const text = base64url(new TextEncoder().encode(json));
  return text.length > MAX_LENGTH ? null : text;
}

/** Reads a cursor; null for any other text. Its values are only ever bound. */
export function readCursor(text: string): ListCursor | null {
  if (text.length > MAX_LENGTH) return null;
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (!Array.isArray(parsed)) return null;
    const [sort, ...rest]: unknown[] = parsed;
    const values = rest.map(valueOf);
    return typeof sort === "string" && !values.includes(undefined)
      ? { sort, values: values.flatMap((value) => value === undefined ? [] : [value]) }
      : null;
  } catch {
    return null;
  }
}

/** The text that these bytes are. */
export function cursorText(bytes: Uint8Array): CursorValue {
  const text = textOf(bytes);
  return text instanceof OddText ? { $text: bytes.toBase64() } : text;
}

function valueOf(value: unknown): CursorValue | undefined {
  if (value === null || typeof value === "number") return value;
  if (typeof value === "string") return isPlainText(value) ? value : undefined;
  if (typeof value !== "object") return undefined;
  const [[name = "", one] = [], ...more] = Object.entries(value);
  if (more.length > 0) return undefined;
  switch (name) {
    case "$infinity":
      return INFINITIES.get(one);
    case "$real":
      return typeof one === "number" ? { $real: one } : undefined;
    case "$integer":
      return typeof one === "string" && /^-?\d{1,19}$/.test(one) &&
          BigInt.asIntN(64, BigInt(one)) === BigInt(one)
        ? { $integer: one }
        : undefined;
    case "$blob":
      return typeof one === "string" ? { $blob: Uint8Array.fromBase64(one).toBase64() } : undefined;
    case "$text":
      return typeof one === "string" ? { $text: Uint8Array.fromBase64(one).toBase64() } : undefined;
    default:
      return undefined;
  }
}
