// Values as a file stores them, also those that the engine's reader would cut or replace: text with U+0000, and text that
// is not valid UTF-8.
import type { EngineValue } from "../../../engine/result_json.ts";

/** Text that no string holds: its bytes, in UTF-8 as far as they are valid. */
export class OddText {
  constructor(readonly bytes: Uint8Array) {}
}

/** A stored value; INTEGER is bigint. */
export type ExactValue = EngineValue | OddText;

/** How a file encodes its text. */
export type Encoding = "UTF-8" | "UTF-16le" | "UTF-16be";

const decoders: Readonly<Record<Encoding, TextDecoder>> = {
  "UTF-8": new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }),
  "UTF-16le": new TextDecoder("utf-16le", { ignoreBOM: true }),
  "UTF-16be": new TextDecoder("utf-16be", { ignoreBOM: true }),
};
const encoder = new TextEncoder();

/** Reads text from the bytes of its encoding. */
export function exactText(bytes: Uint8Array, encoding: Encoding): string | OddText {
  let text: string;
  try {
    text = decoders[encoding].decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return new OddText(bytes);
  }
  if (!text.includes("\0")) return text;
  return new OddText(encoding === "UTF-8" ? bytes : encoder.encode(text));
}

/** Whether all of it is valid UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoders["UTF-8"].decode(bytes);
    return true;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return false;
  }
}

/** Text as a JSON value can have it. */
export function shownText({ bytes }: OddText): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** A value in JSON. A whole number is an INTEGER; what JSON has no form for is an object with one member. */
export type WireValue =
  | (null | number | string)
  | { readonly i: string }
  | { readonly r: string }
  | { readonly b: string }
  | { readonly t: string };

/** A value on its way to another process. */
export function wireValue(value: ExactValue): WireValue {
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
export function exactValue(value: WireValue): ExactValue {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if ("i" in value) return BigInt(value.i);
  if ("r" in value) return Number(value.r);
  return "b" in value ? Uint8Array.fromBase64(value.b) : new OddText(Uint8Array.fromBase64(value.t));
}
