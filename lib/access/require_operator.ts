// Calls that concern every namespace are the operator's.
import { AppError } from "../core/errors.ts";
import type { Caller } from "./caller.ts";

/** Errors: `operator_required`. */
export function requireOperator(caller: Caller): void {
  if (caller.kind !== "operator") throw new AppError("operator_required");
}
