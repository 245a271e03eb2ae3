// Values as a file stores them, also those that the engine's reader would cut or replace: text with U+0000, and text that
// is not valid UTF-8.
import { OddText, type StoredValue, textOf } from "../../../sql/words/stored_text.ts";

/** How a file encodes its text. */
export type Encoding = "UTF-8" | "UTF-16le" | "UTF-16be";

const decoders = {
  "UTF-16le": new TextDecoder("utf-16le", { ignoreBOM: true }),
  "UTF-16be": new TextDecoder("utf-16be", { ignoreBOM: true }),
} as const;

/** Reads text from the bytes of its encoding. */
export function exactText(bytes: Uint8Array, encoding: Encoding): string | OddText {
  if (encoding === "UTF-8") return textOf(bytes);
  const text = decoders[encoding].decode(bytes);
  return text.includes("\0") ? new OddText(new TextEncoder().encode(text)) : text;
}

/** A value in JSON. A whole number is an INTEGER; what JSON has no form for is an object with one member. */
export type WireValue =
  | (null | number | string)
  | { readonly i: string }
  | { readonly r: string }
  | { readonly b: string }
  | { readonly t: string };

/** A value on its way to another process. */
export function wireValue(value: StoredValue): WireValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { i: String(value) };
  }
  if (typeof value === "number") {
    if (!Number.isInteger(value) && Number.isFinite(value)) return value;
    return { r: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value instanceof Uint8Array) return { b: value.toBase64() };
  return value instanceof OddText ? { t: value.bytes.toBase64() } : value;
}

/** The value that `wireValue` made this of. */
export function exactValue(value: WireValue): StoredValue {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if ("i" in value) return BigInt(value.i);
  if ("r" in value) return Number(value.r);
  return "b" in value ? Uint8Array.fromBase64(value.b) : new OddText(Uint8Array.fromBase64(value.t));
}
