// Headers that turn something on or bound it. They have one accepted value: a misspelt safety option must not count
// as absent. Neither must a header of other calls, at which the call does not look.
import type { Context, MiddlewareHandler } from "hono";
import { invalidInput } from "../../lib/core/errors.ts";
import { DIGIT_ROWS, PLAIN_ROWS, type RowForm } from "../../lib/sql/words/row_form.ts";
import type { Env } from "../http/env.ts";
import { hasHandler } from "./not_found.ts";

/** The most rows that the call may change; null: any number. Errors: `validation_failed`. */
export function maxAffectedOf(c: Context<Env>): number | null {
  const value = c.req.header("X-Max-Affected");
  if (value === undefined) return null;
  if (/^\d{1,15}$/.test(value.trim())) return Number(value);
  throw invalidInput("X-Max-Affected", "Send a whole number from 0 on, or leave the header out");
}

/** How the rows of the answer are to be written. Errors: `validation_failed`. */
export function rowFormOf(c: Context<Env>): RowForm {
  return headerFlag(c, "X-Integers", "string") ? DIGIT_ROWS : PLAIN_ROWS;
}

/** False where the caller wants no snapshot before a destructive statement. Errors: `validation_failed`. */
export function snapshots(c: Context<Env>): boolean {
  return !headerFlag(c, "X-Service-No-Snapshot", "1");
}

/** False without the header. Errors: `validation_failed` for any other value than `on`. */
export function headerFlag(c: Context<Env>, name: string, on: string): boolean {
  const value = c.req.header(name);
  if (value === undefined) return false;
  if (value.trim().toLowerCase() === on) return true;
  throw invalidInput(name, `Send the value ${on}, or leave the header out`);
}

const belongsTo = [
  ["X-Dry-Run", "query and batch, and a merge has dryRun in its body"],
  ["X-Max-Affected", "query and batch"],
  ["Idempotency-Key", "query and batch, and any call under /v1/db takes Plan-Key and Plan-Step"],
] as const;
const ofPlans = [["Plan-Key", "calls under /v1/db"], ["Plan-Step", "calls under /v1/db"]] as const;

/**
 * Refuses such headers on calls that ignore them, so that the caller learns of it before anything happens. Calls that
 * only read pass: there is nothing to bound. `plans`: whether the calls are steps of a plan. Errors: `validation_failed`
 * naming the header.
 */
export function refuseHeaders({ plans }: { readonly plans: boolean }): MiddlewareHandler<Env> {
  const refused = plans ? belongsTo : [...belongsTo, ...ofPlans];
  return (c, next) => {
    const reads = ["GET", "HEAD"].includes(c.req.method);
    const header = reads ? undefined : refused.find(([name]) => c.req.header(name) !== undefined);
    if (header === undefined || !hasHandler(c)) return next();
    const [path, operations] = header;
    throw invalidInput(path, `Leave the header out; it belongs to ${operations}`);
  };
}
