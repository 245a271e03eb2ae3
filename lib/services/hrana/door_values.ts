// Values of libSQL's protocol as the engine binds them: INTEGER and REAL stay what they are.
import { invalidInput } from "../../core/errors.ts";
import { isInRange, type SqlParameter } from "../../sql/words/sql_value.ts";
import type { WireValue } from "./hrana_types.ts";

/** Errors: `validation_failed`, naming the field. */
export function toParameter(value: WireValue, path: string): SqlParameter {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return integer(value.value) ??
        wrong(`${path}.value`, "Send an integer of 64 bits as a string of digits");
    case "float":
      return float(value.value) ?? wrong(`${path}.value`, "Send a number");
    case "text":
      return typeof value.value === "string" ? value.value : wrong(`${path}.value`, "Send a string");
    case "blob":
      return blob(value.base64) ?? wrong(`${path}.base64`, "Send bytes as base64");
  }
}

function integer(value: unknown): SqlParameter | null {
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) return null;
  // So few digits are exact as a double. `-0` is the integer 0.
  if (value.length < 16) return Number(value) + 0;
  const number = BigInt(value);
  if (!isInRange(number)) return null;
  const safe = Number(number);
  return Number.isSafeInteger(safe) ? safe : { $integer: String(number) };
}

/** A plain whole number would bind as INTEGER. */
function float(value: unknown): SqlParameter | null {
  if (typeof value !== "number") return null;
  return Number.isSafeInteger(value) ? { $real: value } : value;
}

function blob(base64: unknown): SqlParameter | null {
  if (typeof base64 !== "string") return null;
  // Never more: a pattern for any number of them looks at a long row from each of its characters.
  const bare = base64.replace(/={1,2}$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(bare) || bare.length % 4 === 1) return null;
  return { $blob: bare.padEnd(Math.ceil(bare.length / 4) * 4, "=") };
}

function wrong(path: string, message: string): never {
  throw invalidInput(path, message);
}
