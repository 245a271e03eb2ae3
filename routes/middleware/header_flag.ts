// Headers that turn something on: one accepted value. A misspelt safety option must not pass as absent.
import type { Context } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../env.ts";

/** False without the header. Errors: `validation_failed` for any other value than `on`. */
export function headerFlag(c: Context<Env>, name: string, on: string): boolean {
  const value = c.req.header(name);
  if (value === undefined) return false;
  if (value.trim().toLowerCase() === on) return true;
  throw new AppError("validation_failed", {
    issues: [{ path: name, message: `Send the value ${on}, or leave the header out` }],
  });
}
