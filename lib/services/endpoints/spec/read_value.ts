// One input value by its type: from the text of a query string or the typed value of a JSON body to what is bound.
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import { isPlainText } from "../../../core/plain_text.ts";
import { MAX_EMAIL_LENGTH, MAX_URL_LENGTH } from "../../../core/limits.ts";
import { MAX_WORDS, quotedWords } from "../../../sql/grammar/match_words.ts";
import { jsonWithReals } from "../../../sql/words/row_form.ts";
import { isInRange, type SqlParameter } from "../../../sql/words/sql_value.ts";
import { blobOf, readBytes } from "./read_bytes.ts";
import { readDate, readMoment } from "./read_calendar.ts";

/** What is bound, or what is wrong with the value, in the words of an issue. */
export type ReadValue =
  /** `length`: what `maxLength` and `minLength` count, where that is not the characters of the value. */
  | { readonly ok: true; readonly value: SqlParameter; readonly length?: number }
  | { readonly ok: false; readonly message: string };

type Reader = (value: unknown, form: "text" | "json") => ReadValue;

const INTEGER = /^-?\d{1,19}$/;
const NUMBER = /^-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/;
const BEYOND = "Send whole numbers beyond 2^53 as strings of digits, of at most 64 bits";
const INTEGER_FORM = {
  text: "Send a whole number of at most 64 bits here",
  json: "Send a whole number here; beyond 2^53 as a string of digits, of at most 64 bits",
} as const;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** The form that HTML's `type=email` takes. */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Reads a value by the type of its input. */
const readers: Readonly<Record<FieldSpec["type"], Reader>> = {
  text: (value) => typeof value === "string" ? readText(value) : wrong("Send text here"),
  email: (value) =>
    typeof value === "string" && value.length <= MAX_EMAIL_LENGTH && EMAIL.test(value)
      ? right(value)
      : wrong("Send an email address here"),
  url: (value) =>
    typeof value === "string" && isHttpUrl(value) ? right(value) : wrong("Send an http or https URL here"),
  integer: (value, form) => {
    if (typeof value === "number" && Number.isSafeInteger(value)) return right(value);
    if (typeof value === "number" && Number.isInteger(value)) return wrong(BEYOND);
    const read = typeof value === "string" ? readInteger(value, form) : null;
    return read === null ? wrong(INTEGER_FORM[form]) : right(read);
  },
  number: (value, form) => {
    const number = form === "text" && typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isFinite(number)
      ? right(number)
      : wrong("Send a number here");
  },
  boolean: (value, form) => {
    if (typeof value === "boolean") return right(Number(value));
    if (form === "text" && (value === "true" || value === "1")) return right(1);
    if (form === "text" && (value === "false" || value === "0")) return right(0);
    return wrong("Send true or false here");
  },
  json: (value, form) => {
    const text = jsonText(value, form);
    return text === null
      ? wrong("Send JSON here, of at most 1000 levels and without numbers beyond 1.8e308")
      : readText(text);
  },
  date: byText(readDate, "Send a date here, as 2026-11-22"),
  datetime: byText(readMoment, "Send a time with its offset here, as 2026-11-22T16:40:00Z"),
  uuid: byText((text) => UUID.test(text) ? text.toLowerCase() : null, "Send a UUID here"),
  blob: (value) => {
    const bytes = readBytes(value);
    return bytes === null
      ? wrong("Send bytes as base64 here")
      : { ...right(blobOf(bytes)), length: bytes.length };
  },
  match: (value) => typeof value === "string" ? readWords(value) : wrong("Send words to search for here"),
};

/** For types whose texts have one form in the database. */
function byText(read: (text: string) => string | null, message: string): Reader {
  return (value) => {
    const text = typeof value === "string" ? read(value) : null;
    return text === null ? wrong(message) : right(text);
  };
}

/** `form` is `text` for strings of a query or a claim. Otherwise types are taken strictly: `"3"` is no integer. */
export function readValue(type: FieldSpec["type"], value: unknown, form: "text" | "json"): ReadValue {
  return readers[type](value, form);
}

/** What an absent input binds: its default, or else NULL. The default of a `json` input is its text. */
export function readDefault({ type, default: value }: FieldSpec): ReadValue {
  if (value === undefined || value === null) return right(null);
  return readValue(type, value, type === "json" ? "text" : "json");
}

function readText(text: string): ReadValue {
  return isPlainText(text) ? right(text) : wrong("Remove U+0000 and lone surrogates");
}

function readWords(text: string): ReadValue {
  if (!isPlainText(text)) return readText(text);
  const quoted = quotedWords(text);
  if (quoted === null) return wrong("Send at least one word to search for here");
  if (quoted.words > MAX_WORDS) return wrong(`Send at most ${MAX_WORDS} words to search for here`);
  return { ...right(quoted.query), length: [...text].length };
}

/** A number within 2^53, digits beyond. In a JSON body only integers beyond 2^53 may be strings. */
function readInteger(text: string, form: "text" | "json"): SqlParameter | null {
  if (!INTEGER.test(text)) return null;
  const value = BigInt(text);
  if (!isInRange(value)) return null;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) return { $integer: value.toString() };
  return form === "text" ? number + 0 : null;
}

function isHttpUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !text.isWellFormed() || /[\s\p{Cc}]/u.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") &&
    /^https?:\/\//i.test(text);
}

function right(value: SqlParameter): ReadValue & { readonly ok: true } {
  return { ok: true, value };
}

function wrong(message: string): ReadValue {
  return { ok: false, message };
}

/** Levels of an input of type `json`: SQLite's own JSON functions take no more. */
export const MAX_DEPTH = 1000;

/**
 * The JSON text that is bound for an input of type `json`, from a value of the body or the text of a query string.
 * Null for what is no JSON, for a text nested deeper, and for a value with a number that no double holds (its text
 * would be null).
 */
export function jsonText(value: unknown, form: "text" | "json"): string | null {
  // A body that is nested deeper has been refused before.
  if (form === "json") return textOf(value);
  if (typeof value !== "string") return null;
  try {
    return isShallow(JSON.parse(value), MAX_DEPTH) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a value has at most `levels` levels. Reads no deeper, so that no value can exhaust the stack. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  const inside: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inside.every((one) => isShallow(one, levels - 1));
}

/** A number beyond 2^53 gets an exponent, so that SQL reads the REAL there that came. */
function textOf(value: unknown): string | null {
  const largest = largestNumber(value);
  // The parser reads a number that is too large as an infinity.
  if (largest === Infinity) return null;
  return largest <= Number.MAX_SAFE_INTEGER ? JSON.stringify(value) : jsonWithReals(value);
}

/** The size of the largest number in it. */
function largestNumber(value: unknown): number {
  if (typeof value === "number") return Math.abs(value);
  if (typeof value !== "object" || value === null) return 0;
  let largest = 0;
  for (const one of Object.values(value)) largest = Math.max(largest, largestNumber(one));
  return largest;
}

/** Whether the bounds of an integer input keep it within ±(2^53 − 1), which every reader of JSON holds exactly. */
export function isSafeRange({ min = -Infinity, max = Infinity }: Pick<FieldSpec, "min" | "max">): boolean {
  return min >= Number.MIN_SAFE_INTEGER && max <= Number.MAX_SAFE_INTEGER;
}
