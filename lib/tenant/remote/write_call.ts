// Calls that wait for a database's write slot, and how they are answered.
import { AppError } from "../../core/errors.ts";
import { logRowOf } from "../log_columns.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import type { RemoteTenant } from "./remote_tenant.ts";

export interface CallJob {
  readonly call: TenantCall;
  readonly resolve: (outcome: TenantOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** Of `call.signal`, asked for once. */
  readonly signal: AbortSignal | null;
}

/** Answers a call whose log row, if it has one, is not written yet. */
export function settleUnlogged(tenant: RemoteTenant, job: CallJob, outcome: TenantOutcome): void {
  const row = logRowOf(job.call, outcome);
  if (row) tenant.log.add(row);
  job.resolve(outcome);
}

/** Nobody waits for it any more. */
export function abandon(job: CallJob): void {
  job.reject(new AppError("store_unavailable"));
}

/** Such a call has a transaction of its own. */
export function travelsAlone({ level, foreignKeysOff, snapshot, dryRun, affected }: TenantCall): boolean {
  return level === "schema" || foreignKeysOff || snapshot !== null || dryRun === true || Boolean(affected);
}
