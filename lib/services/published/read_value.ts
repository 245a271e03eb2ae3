// One input value by its type: from the text of a query string or the typed value of a JSON body to what is bound.
import type { FieldSpec } from "../../core/endpoint_spec.ts";
import { isPlainText } from "../../core/is_plain_text.ts";
import { MAX_EMAIL_LENGTH, MAX_URL_LENGTH } from "../../core/limits.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import { jsonText } from "./json_text.ts";

export type ReadValue =
  | { readonly ok: true; readonly value: SqlParameter }
  | { readonly ok: false; readonly message: string };

type Reader = (value: unknown, form: "text" | "json") => ReadValue;

const INTEGER = /^-?\d{1,19}$/;
const NUMBER = /^-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/;
const BEYOND = "Send whole numbers beyond 2^53 as strings of digits, of at most 64 bits";
const INTEGER_FORM = {
  text: "Send a whole number of at most 64 bits here",
  json: "Send a whole number here; beyond 2^53 as a string of digits, of at most 64 bits",
} as const;
/** 64 bits. */
const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;
/** The form that HTML's `type=email` takes. */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Type → how a value of it is read. */
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
};

/** `form` is `text` for strings of a query or a claim, otherwise types are taken strictly (`"3"` is no integer). */
export function readValue(type: FieldSpec["type"], value: unknown, form: "text" | "json"): ReadValue {
  return readers[type](value, form);
}

/** What an absent input binds: NULL without a default. One of JSON is its text. */
export function readDefault({ type, default: value }: FieldSpec): ReadValue {
  if (value === undefined || value === null) return right(null);
  return readValue(type, value, type === "json" ? "text" : "json");
}

function readText(text: string): ReadValue {
  return isPlainText(text) ? right(text) : wrong("Remove U+0000 and lone surrogates");
}

/** Within 2^53 a number. In a JSON body only those beyond may be strings. */
function readInteger(text: string, form: "text" | "json"): SqlParameter | null {
  if (!INTEGER.test(text)) return null;
  const value = BigInt(text);
  if (value < MIN_INTEGER || value > MAX_INTEGER) return null;
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

function right(value: SqlParameter): ReadValue {
  return { ok: true, value };
}

function wrong(message: string): ReadValue {
  return { ok: false, message };
}
