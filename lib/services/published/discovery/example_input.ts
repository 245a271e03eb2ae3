// An example input for the description of an endpoint: the required fields, each with a value that its rules admit.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import { isListInput } from "../../endpoints/spec/list_statements.ts";
import { type PreparedField, prepareSpec } from "../../endpoints/spec/prepare_spec.ts";
import { inputForms } from "./input_schema.ts";

type Example = string | number | boolean | Readonly<Record<string, never>>;

/** Texts to try, for fields that have a pattern. */
const TEXTS = ["text", "TEXT", "1", "12345", "2026-11-01", "Text 1"] as const;
const PASSWORD = "correct horse battery";

/**
 * Values by name, of the required fields or of all. Null where no known value meets a field's rules: no example is
 * better than a wrong one.
 */
export function exampleInput(
  spec: EndpointSpec,
  which: "required" | "all" = "required",
): Readonly<Record<string, Example>> | null {
  const [form] = inputForms[spec.kind] ?? [];
  const fields = prepareSpec(spec).fields.filter(({ field, fromSession }) =>
    // What a list may be asked can be left out, and no example is a cursor that leads anywhere.
    !fromSession && (form?.includes(field.name) ??
      (field.required === true || which === "all" && !isListInput(spec, field.name)))
  );
  const values = fields.map((one) => [one.field.name, exampleOf(spec, one)] as const);
  return values.some(([, value]) => value === null)
    ? null
    : Object.fromEntries(values.map(([name, value]) => [name, value ?? ""]));
}

function exampleOf(spec: EndpointSpec, one: PreparedField): Example | null {
  switch (one.field.type) {
    case "boolean":
      return true;
    case "json":
      return {};
    case "email":
      return "ada@example.com";
    case "url":
      return "https://example.com/";
    case "date":
      return "2026-11-22";
    case "datetime":
      return "2026-11-22T15:40:00.000Z";
    case "uuid":
      return "2f1f9a5c-8a52-4d4f-9c3e-5d0b1a7c6e21";
    case "blob":
      return bytesOf(one.field);
    case "integer":
    case "number":
      return numberNearOne(one.field);
    default:
      return textOf(spec, one);
  }
}

/** Integers beyond 2^53 are digits. */
function numberNearOne({ type, min = -Infinity, max = Infinity }: FieldSpec): number | string | null {
  const near = Math.max(min, Math.min(1, max));
  if (type === "number" || Number.isSafeInteger(near)) return near;
  const rounded = near < 1 ? Math.floor(near) : Math.ceil(near);
  if (rounded < min || rounded > max) return null;
  return Number.isSafeInteger(rounded) ? rounded : integerDigits(rounded);
}

/** Null beyond 64 bits. */
function integerDigits(value: number): string | null {
  const digits = BigInt(value);
  return BigInt.asIntN(64, digits) === digits ? String(digits) : null;
}

function bytesOf({ minLength = 0, maxLength = Infinity }: FieldSpec): string | null {
  return minLength <= 4 && maxLength >= 4 ? "AAECAw==" : null;
}

function textOf({ kind, askConfig }: EndpointSpec, { field, matches }: PreparedField): string | null {
  const { name, maxLength = Infinity, minLength = 0 } = field;
  const own = /^(?:new_)?password$/.test(name) && kind.startsWith("auth_")
    ? PASSWORD
    : kind === "ask"
    ? `How many ${askConfig?.allowedTables[0]} are there?`
    : undefined;
  const fits = (text: string) =>
    text.length <= maxLength && text.length >= minLength &&
    (matches === null || matches(text));
  return (field.enum ?? [...own === undefined ? [] : [own], ...TEXTS, ""]).find(fits) ?? null;
}
