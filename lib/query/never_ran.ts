// Failures after which the engine has not seen the call, or has undone it for a reason outside the call: the token that
// it spent on it is good again. `outcome_unknown` is none of them.
import { AppError, type ErrorCode } from "../core/errors.ts";

const CODES: ReadonlySet<ErrorCode> = new Set([
  ...["balance_exhausted", "monthly_cap_reached", "meter_unreachable", "store_unavailable"] as const,
  ...["database_busy", "shutting_down", "storage_full", "database_corrupt", "role_too_low"] as const,
  ...["store_over_quota", "too_many_approvals"] as const,
]);

/** Whether the failed call has changed nothing, for a reason outside the call. */
export function neverRan(error: unknown): boolean {
  return error instanceof AppError && CODES.has(error.code) && !keptSome(error);
}

/** Whether a batch that is not atomic has kept what stood before the failure: its error has the results. */
function keptSome({ facts }: AppError): boolean {
  const data = facts.extra?.["data"] ?? null;
  return Array.isArray(data) ? data.length > 0 : data !== null;
}
