// Statements that are no transaction stay when a later one does not come to its end and takes the store's own transaction
// with it: they run once more, as a call of their own that is logged and answered with that ending.
import type { TenantCall, TenantOutcome } from "./tenant_store.ts";

/** A call that failed. */
export type FailedOutcome = Extract<TenantOutcome, { ok: false }>;

/** The call to run, of which nothing has been kept so far; null: nothing of it is to stay. */
export function whatStays(call: TenantCall, { failedIndex, failure }: FailedOutcome): TenantCall | null {
  if (call.atomic || call.dryRun || failedIndex === 0) return null;
  return { ...call, statements: call.statements.slice(0, failedIndex), failsWith: failure.kind };
}

/** The outcome of the whole call, given that of what stays. Work that ran twice counts once. */
export function endedAfter(outcome: TenantOutcome, ending: FailedOutcome): TenantOutcome {
  if (outcome.ok !== true) return outcome;
  const { results, durationMs } = outcome;
  const count = (name: "rowsRead" | "rowsWritten") =>
    Math.max(ending.work[name], results.reduce((total, one) => total + one[name], 0));
  const work = { rowsRead: count("rowsRead"), rowsWritten: count("rowsWritten") };
  return { ...ending, results, work, durationMs: ending.durationMs + durationMs };
}
