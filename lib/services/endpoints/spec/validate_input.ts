// Checks a caller's input against the specification: known names, types, required, pattern, enum, range, length.
import { newPassword, PASSWORD_BOUNDS } from "../../../access/password_hash.ts";
import type { FieldSpec } from "../../../core/endpoint_spec.ts";
import { AppError, type Issue } from "../../../core/errors.ts";
import { MAX_ISSUES } from "../../../core/limits.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { unknownField } from "../../../sql/hints/hints.ts";
import type { PreparedField, PreparedSpec } from "./prepare_spec.ts";
import { readValue } from "./read_value.ts";

/** What a caller sent. `text`: strings of a query; `json`: values with the types that the body gave them. */
export interface RawInput {
  readonly form: "text" | "json";
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * The values to bind, in the order of `input`, then whether each was sent, as 1 or 0; fields of the session are still null.
 * Errors: `validation_failed`.
 */
export function validateInput(prepared: PreparedSpec, input: RawInput): SqlParameter[] {
  const issues: Issue[] = [];
  const bound = prepared.fields.map((one) => one.fromSession ? null : validate(one, input, issues));
  for (const name of input.values.keys()) {
    if (issues.length >= MAX_ISSUES) break;
    if (!prepared.byName.has(name)) issues.push({ path: name, message: unknownName(name, prepared) });
  }
  if (issues.length > 0) throw new AppError("validation_failed", { issues: issues.slice(0, MAX_ISSUES) });
  return [...bound, ...prepared.fields.map(({ field }) => input.values.has(field.name) ? 1 : 0)];
}

function unknownName(name: string, { fields }: PreparedSpec): string {
  if (name.startsWith("$")) return "Leave this out; it is taken from the session";
  return unknownField(name, fields.flatMap(({ field, fromSession }) => fromSession ? [] : [field.name]));
}

/** A JSON null counts as an explicit NULL: the default is for what is left out. */
function validate(one: PreparedField, { values, form }: RawInput, issues: Issue[]): SqlParameter {
  const { field } = one;
  const sent = values.get(field.name);
  const raw = field.trim === true && typeof sent === "string" ? sent.trim() : sent;
  if (raw === undefined || raw === null) {
    if (field.required === true) issues.push({ path: field.name, message: "Add this field; it is required" });
    return raw === undefined ? one.absent : null;
  }
  const read = readValue(field.type, raw, form);
  const rule = read.ok ? brokenRule(one, read.value, read.length) : null;
  if (rule !== null) issues.push({ path: field.name, message: ruleMessages[rule](field) });
  else if (one.isNewPassword && typeof raw === "string" && newPassword(raw) === null) {
    issues.push({ path: field.name, message: PASSWORD_BOUNDS });
  }
  if (read.ok) return read.value;
  issues.push({ path: field.name, message: read.message });
  return null;
}

const ruleMessages: Readonly<Record<FieldRule, (field: FieldSpec) => string>> = {
  maxLength: ({ type, maxLength }) => `Send at most ${maxLength} ${unitOf(type)}`,
  minLength: ({ type, minLength }) => `Send at least ${minLength} ${unitOf(type)}`,
  enum: ({ enum: allowed = [] }) =>
    allowed.length > MAX_NAMED ? "Send one of the allowed values" : `Send one of ${allowed.join(", ")}`,
  pattern: ({ pattern }) => `Send text that matches the pattern ${pattern}`,
  min: ({ min }) => `Send at least ${min} here`,
  max: ({ max }) => `Send at most ${max} here`,
};

/** Allowed values that a message names. */
const MAX_NAMED = 20;

function unitOf(type: FieldSpec["type"]): string {
  return type === "blob" ? "bytes" : "characters";
}

/** The rules that a value of the right type can break. */
export type FieldRule = "maxLength" | "minLength" | "enum" | "pattern" | "min" | "max";

/** What `readValue` has read, against the rules; null where it breaks none. */
export function brokenRule(
  { field, matches, allowed }: PreparedField,
  value: SqlParameter,
  length?: number,
): FieldRule | null {
  const { type, maxLength, minLength } = field;
  if (type === "integer" || type === "number") return outOfRange(field, value);
  const isLonger = (most: number) =>
    length !== undefined ? length > most : typeof value === "string" && longerThan(value, most);
  if (maxLength !== undefined && isLonger(maxLength)) return "maxLength";
  if (minLength !== undefined && value !== null && !isLonger(minLength - 1)) return "minLength";
  if (typeof value !== "string") return null;
  if (allowed !== null && !allowed.has(value)) return "enum";
  return matches !== null && !matches(value) ? "pattern" : null;
}

/** Integers beyond 2^53 are compared exactly. */
function outOfRange({ min, max }: FieldSpec, value: SqlParameter): "min" | "max" | null {
  const number = numberOf(value);
  if (number === null) return null;
  if (min !== undefined && number < min) return "min";
  return max !== undefined && number > max ? "max" : null;
}

function numberOf(value: SqlParameter): number | bigint | null {
  if (typeof value === "number") return value;
  return typeof value === "object" && value !== null && "$integer" in value ? BigInt(value.$integer) : null;
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
