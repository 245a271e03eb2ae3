// Step 8: the caller's input against the specification: known names, types, required, pattern, enum, range, length.
import type { FieldSpec } from "../../core/endpoint_spec.ts";
import { AppError, type Issue } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { RawInput } from "./decode_input.ts";
import type { PreparedField, PreparedSpec } from "./prepare_spec.ts";
import { readValue } from "./read_value.ts";

/** Issues of one answer. */
const MAX_ISSUES = 50;

/** What is bound, by place in `input`; fields of the session are still null. Errors: `validation_failed`. */
export function validateInput(prepared: PreparedSpec, input: RawInput): SqlParameter[] {
  const issues: Issue[] = [];
  const bound = prepared.fields.map((one) => one.fromSession ? null : validate(one, input, issues));
  for (const name of input.values.keys()) {
    if (!prepared.byName.has(name)) issues.push({ path: name, message: unknownName(name) });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues: issues.slice(0, MAX_ISSUES) });
  return bound;
}

function unknownName(name: string): string {
  return name.startsWith("$")
    ? "Leave this out; it is taken from the session"
    : "Remove this field; it is not known here";
}

/** A JSON null counts as an explicit NULL: the default is for what is left out. */
function validate(one: PreparedField, { values, form }: RawInput, issues: Issue[]): SqlParameter {
  const { field } = one;
  const raw = values.get(field.name);
  if (raw === undefined || raw === null) {
    if (field.required === true) issues.push({ path: field.name, message: "Add this field; it is required" });
    return raw === undefined ? one.absent : null;
  }
  const read = readValue(field.type, raw, form);
  const message = read.ok ? ruleBroken(one, read.value) : read.message;
  if (message !== null) issues.push({ path: field.name, message });
  return read.ok ? read.value : null;
}

/** What a value of the right type still does wrong, or null. */
function ruleBroken({ field, matches, allowed }: PreparedField, value: SqlParameter): string | null {
  const { type, maxLength } = field;
  if (type === "integer" || type === "number") return outOfRange(field, value);
  if (typeof value !== "string") return null;
  if (maxLength !== undefined && longerThan(value, maxLength)) return `Send at most ${maxLength} characters`;
  if (allowed !== null && !allowed.has(value)) return "Send one of the allowed values";
  if (matches !== null && !matches(value)) return "Send text that matches the pattern";
  return null;
}

/** Integers beyond 2^53 are digits and are compared exactly. */
function outOfRange({ min, max }: FieldSpec, value: SqlParameter): string | null {
  const number = typeof value === "string" ? BigInt(value) : typeof value === "number" ? value : 0;
  if (min !== undefined && number < min) return `Send at least ${min} here`;
  if (max !== undefined && number > max) return `Send at most ${max} here`;
  return null;
}

/** In code points. */
function longerThan(text: string, maxLength: number): boolean {
  if (text.length <= maxLength) return false;
  if (text.length > 2 * maxLength) return true;
  let length = text.length;
  // The second half of a pair is no character of its own; text with half a pair has been refused.
  for (let i = 0; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) length--;
  }
  return length > maxLength;
}
