// Which rule of its field a value breaks that has the field's type: of a caller's input, of a session's claim, of a
// default.
import type { FieldSpec } from "../../core/endpoint_spec.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { PreparedField } from "./prepare_spec.ts";

export type FieldRule = "maxLength" | "enum" | "pattern" | "min" | "max";

/** What `readValue` has read, against the rules; null where it breaks none. */
export function brokenRule(
  { field, matches, allowed }: PreparedField,
  value: SqlParameter,
): FieldRule | null {
  const { type, maxLength } = field;
  if (type === "integer" || type === "number") return outOfRange(field, value);
  if (typeof value !== "string") return null;
  if (maxLength !== undefined && longerThan(value, maxLength)) return "maxLength";
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
