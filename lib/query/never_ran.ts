// Failures after which the engine has not seen the call, or has undone it for no fault of the call: the token that was spent
// on it is good again. `outcome_unknown` is none of them.
import { AppError, type ErrorCode } from "../core/errors.ts";

const CODES: ReadonlySet<ErrorCode> = new Set([
  ...["balance_exhausted", "monthly_cap_reached", "meter_unreachable", "store_unavailable"] as const,
  ...["database_busy", "shutting_down", "storage_full", "database_corrupt", "role_too_low"] as const,
  ...["store_over_quota", "too_many_approvals"] as const,
]);

/** Whether the call of this error has changed nothing, for a reason that is not the call's own. */
export function neverRan(error: unknown): boolean {
  return error instanceof AppError && CODES.has(error.code);
}
