// Decides how many calls travel in one frame.
import type { TenantCall } from "./tenant_store.ts";

/** The most calls, and characters of statement text, in one frame. */
const GROUP_CALLS = 128;
const GROUP_CHARACTERS = 4_000_000;

/** A call that waits. */
export interface WaitingCall {
  readonly call: TenantCall;
  /** How often a child ended while a statement of this call ran. */
  readonly crashes: number;
}

/** Counts the calls from the front that fit one frame: at least one. */
export function groupLength(jobs: readonly WaitingCall[]): number {
  let characters = 0;
  let count = 0;
  for (const job of jobs) {
    for (const statement of job.call.statements) {
      characters += statement.sql.length + statement.params.length * 16;
    }
    for (const set of job.call.paramSets ?? []) characters += set.length * 16;
    if (count > 0 && (count >= GROUP_CALLS || characters > GROUP_CHARACTERS)) break;
    // A call travels alone if it crashed a child before, takes a snapshot, is a dry run, has its row changes recorded, or
    // applies a migration.
    const { snapshot, dryRun, footprint, migration } = job.call;
    if (job.crashes > 0 || snapshot !== null || dryRun || footprint || migration) return Math.max(1, count);
    count++;
  }
  return Math.max(1, count);
}
