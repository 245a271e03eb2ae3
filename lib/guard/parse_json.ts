// JSON text of a request to a value: the one place where a body that is no JSON becomes a failure of the table.
import { AppError } from "../core/errors.ts";

/** The value. Errors: `invalid_json`; the parser's own words are dropped because they quote the body. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("invalid_json");
  }
}
