// Whether the default of an input is a value that the input itself would accept.
import type { FieldSpec } from "../../core/endpoint_spec.ts";
import { compilePattern } from "../../core/linear_pattern.ts";

const types: Readonly<Record<FieldSpec["type"], (value: string | number | boolean) => boolean>> = {
  text: (value) => typeof value === "string",
  email: (value) => typeof value === "string",
  url: (value) => typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value),
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  json: (value) => typeof value !== "string" || isJson(value),
};

/** What is wrong with it, or null. A default of null is what an absent input binds anyway. */
export function defaultIssue(field: FieldSpec): string | null {
  const value = field.default;
  if (value === undefined || value === null) return null;
  if (!types[field.type](value)) return `Set a default of the type ${field.type}`;
  if (typeof value === "number") {
    if (field.min !== undefined && value < field.min) return "Set a default of at least min";
    if (field.max !== undefined && value > field.max) return "Set a default of at most max";
  }
  if (typeof value !== "string") return null;
  if (field.enum !== undefined && !field.enum.includes(value)) return "Set a default that enum lists";
  if (field.maxLength !== undefined && [...value].length > field.maxLength) {
    return "Set a default of at most maxLength characters";
  }
  if (field.pattern === undefined) return null;
  const pattern = compilePattern(field.pattern);
  return pattern.ok && !pattern.test(value) ? "Set a default that pattern matches" : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
