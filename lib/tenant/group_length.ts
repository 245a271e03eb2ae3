// How many calls travel in one frame.
import type { TenantCall } from "./tenant_store.ts";

/** Calls and characters of statement text that travel in one frame. */
const GROUP_CALLS = 128;
const GROUP_CHARACTERS = 4_000_000;

/** A call that waits. */
export interface WaitingCall {
  readonly call: TenantCall;
  /** How often a child ended while this was the statement that ran. */
  readonly crashes: number;
}

/** How many from the front fit one frame: at least one. */
export function groupLength(jobs: readonly WaitingCall[]): number {
  let characters = 0;
  let count = 0;
  for (const job of jobs) {
    for (const statement of job.call.statements) {
      characters += statement.sql.length + statement.params.length * 16;
    }
    if (count > 0 && (count >= GROUP_CALLS || characters > GROUP_CHARACTERS)) break;
    // One that crashed a child before travels alone, and one that wants the state before it kept, one that undoes itself,
    // and one that is watched.
    const { snapshot, dryRun, footprint } = job.call;
    if (job.crashes > 0 || snapshot !== null || dryRun || footprint) return Math.max(1, count);
    count++;
  }
  return Math.max(1, count);
}
