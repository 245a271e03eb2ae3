// Values as a person types them: a text and the type that it stands for. Pure.
import { integerRange, isInRange, type SqlParameter } from "./sql_value.ts";

/** The types that a form offers, in its order. */
export const valueTypes = ["text", "integer", "number", "null", "blob"] as const;

/** The type of a typed value. */
export type ValueType = typeof valueTypes[number];

/** A value as it stands in a form. A blob is typed as hexadecimal digits. */
export interface TypedValue {
  readonly type: ValueType;
  readonly text: string;
}

/** What a typed value means, or what is wrong with it. */
export type ReadValue =
  | { readonly ok: true; readonly value: SqlParameter }
  | { readonly ok: false; readonly message: string };

/** Reads a value; integers stay exact over all 64 bits. */
export function readTypedValue({ type, text }: TypedValue): ReadValue {
  switch (type) {
    case "null":
      return { ok: true, value: null };
    case "text":
      return text.includes("\u0000") ? wrong("Remove U+0000, or send a blob") : { ok: true, value: text };
    case "integer":
      return readInteger(text.trim());
    case "number":
      return readNumber(text.trim());
    case "blob":
      return readBlob(text.replaceAll(/\s/g, ""));
  }
}

/** Whether a text names one of the types. */
export function isValueType(text: string): text is ValueType {
  return valueTypes.some((type) => type === text);
}

function readInteger(text: string): ReadValue {
  if (!/^[+-]?\d{1,40}$/.test(text)) return wrong("Write a whole number in digits, such as 42");
  const value = BigInt(text.replace("+", ""));
  const { least, most } = integerRange;
  if (!isInRange(value)) return wrong(`Stay between ${least} and ${most}, or choose text`);
  const number = Number(value);
  return { ok: true, value: Number.isSafeInteger(number) ? number : { $integer: String(value) } };
}

function readNumber(text: string): ReadValue {
  const value = text === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) return wrong("Write a number such as 12.5 or 1e6");
  if (/^[+-]?\d+$/.test(text)) return readInteger(text);
  return { ok: true, value };
}

function readBlob(text: string): ReadValue {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) {
    return wrong("Write pairs of hexadecimal digits, such as a14f0c");
  }
  return { ok: true, value: { $blob: Uint8Array.fromHex(text).toBase64() } };
}

function wrong(message: string): ReadValue {
  return { ok: false, message };
}
