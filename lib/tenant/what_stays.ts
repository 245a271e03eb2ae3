// The statements of a call that is not atomic stay when a later one is stopped. The stop also undoes the store's own
// transaction, so the earlier statements run once more, as a call that is logged and answered with the failure.
import { firstRuns } from "../sql/words/param_sets.ts";
import type { TenantCall, TenantOutcome } from "./tenant_store.ts";

/** A call that failed. */
export type FailedOutcome = Extract<TenantOutcome, { ok: false }>;

/** The call to run again, because nothing of it is committed yet; null where nothing is to stay. */
export function whatStays(
  call: TenantCall,
  { failedIndex, failure, durationMs }: FailedOutcome,
): TenantCall | null {
  if (call.atomic || call.dryRun || failedIndex === 0) return null;
  return { ...firstRuns(call, failedIndex), failsWith: failure.kind, stoppedMs: durationMs };
}

/** The outcome of the whole call, from the outcome of the repeated statements. Work that ran twice counts once. */
export function endedAfter(outcome: TenantOutcome, ending: FailedOutcome): TenantOutcome {
  if (outcome.ok !== true) return outcome;
  const { results, durationMs } = outcome;
  const count = (name: "rowsRead" | "rowsWritten") =>
    Math.max(ending.work[name], results.reduce((total, one) => total + one[name], 0));
  const work = { rowsRead: count("rowsRead"), rowsWritten: count("rowsWritten") };
  return { ...ending, results, work, durationMs: ending.durationMs + durationMs };
}
