// JSON text of a request to a value: the one place where a body that is no JSON becomes a failure of the table.
import { AppError } from "../core/errors.ts";

/** A digit run that long may be an integer that a double cannot hold. */
const LONG_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

/**
 * The value. Errors: `invalid_json`, also for an integer that would be rounded on the way (2^53 + 1 as a number).
 * The parser's own words are dropped because they quote the body.
 */
export function parseJson(text: string): unknown {
  try {
    return LONG_DIGITS.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch (error) {
    throw error instanceof AppError ? error : new AppError("invalid_json");
  }
}

/** Reviver with source text access (TC39 proposal "JSON.parse source text access"). */
function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined) return value;
  if (INTEGER.test(source) && BigInt(source) !== BigInt(value)) {
    throw new AppError("invalid_json", {
      message: "Send integers beyond 2^53 as strings of digits; as a number this one would be rounded",
    });
  }
  return value;
}
