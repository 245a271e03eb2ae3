// Headers that turn something on: one accepted value. A misspelt safety option must not pass as absent.
import type { Context } from "hono";
import { AppError } from "../../lib/core/errors.ts";
import type { Env } from "../http/env.ts";

/** A header that holds a number from `min` on, or null. Errors: `validation_failed`. */
export function headerNumber(c: Context<Env>, name: string, min: number): number | null {
  const value = c.req.header(name);
  if (value === undefined) return null;
  const number = /^\d{1,15}$/.test(value.trim()) ? Number(value) : -1;
  if (number >= min) return number;
  throw new AppError("validation_failed", {
    issues: [{ path: name, message: `Send a whole number from ${min} on, or leave the header out` }],
  });
}

/** Contract 4: whether every INTEGER of the answer is to be a string. Errors: `validation_failed`. */
export function integersAsStrings(c: Context<Env>): boolean {
  return headerFlag(c, "X-Integers", "string");
}

/** False where the caller does without the snapshot before a destructive statement. Errors: `validation_failed`. */
export function snapshots(c: Context<Env>): boolean {
  return !headerFlag(c, "X-Service-No-Snapshot", "1");
}

/** False without the header. Errors: `validation_failed` for any other value than `on`. */
export function headerFlag(c: Context<Env>, name: string, on: string): boolean {
  const value = c.req.header(name);
  if (value === undefined) return false;
  if (value.trim().toLowerCase() === on) return true;
  throw new AppError("validation_failed", {
    issues: [{ path: name, message: `Send the value ${on}, or leave the header out` }],
  });
}
