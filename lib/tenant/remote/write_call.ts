// Calls that wait for a database's write slot, and how they are answered.
import { AppError } from "../../core/errors.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";

/** A call that somebody waits for. */
export interface AskedCall {
  readonly call: TenantCall;
  /** Of `call.signal`, asked for once. */
  readonly signal: AbortSignal | null;
}

/** One that waits for the write slot, with how it is answered. */
export interface CallJob extends AskedCall {
  readonly resolve: (outcome: TenantOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Nobody waits for it any more. */
export function abandon(job: CallJob): void {
  job.reject(new AppError("store_unavailable"));
}

/** Such a call has a transaction of its own. */
export function travelsAlone({ level, foreignKeysOff, snapshot, dryRun, affected }: TenantCall): boolean {
  return level === "schema" || foreignKeysOff || snapshot !== null || dryRun === true || Boolean(affected);
}
