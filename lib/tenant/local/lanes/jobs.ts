// The kinds of work that wait for an engine child or run in one.
import type { LookupReads } from "../../../engine/rows_read/lookup_reads.ts";
import type { SlowWork } from "../../read_queue.ts";
import type { WaitingRead } from "../../slow_caller.ts";
import type { TenantOutcome } from "../../tenant_store.ts";
import type { Request } from "../child/protocol.ts";
import type { SentCall } from "../child/wire_call.ts";
import type { LogValues } from "../../log_columns.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";

/** A caller's call, which travels in a group with others of the same database. */
export interface CallJob extends WaitingRead {
  readonly wire: SentCall;
  readonly resolve: (outcome: TenantOutcome) => void;
  readonly reject: (error: Error) => void;
  /** Called where the child has proven that the call ends by itself (`KeyLookups`), with the schema version where it tells it. */
  readonly proven?: (reads: LookupReads, schemaVersion?: number) => void;
  /** Called instead of the others where the database has to be woken first (`child/log_form.ts`). */
  readonly rests?: () => void;
  readonly queuedMs: number;
  /** How many children ended while a statement of this call ran. */
  crashes: number;
  /** How often it ran again in room of the reserve. */
  loans?: number;
  /** A child was ended that ran it, so that somebody else's database could be closed there: no second time. */
  hasMadeWay?: true;
  /** The call was taken back and waits again; this stands for it in its frame. */
  readonly takenBack?: true;
}

/** The service's own work: one request, one reply. */
export interface TaskJob {
  readonly request: Request;
  readonly resolve: (frame: ReplyFrame) => void;
  readonly reject: (error: Error) => void;
  readonly queuedMs: number;
  crashes: number;
  loans?: number;
}

/**
 * Where a task waits: beside writes, for the write slot, or for a database in which nothing else runs. `leased`: it is of
 * who has the slot, and waits for nothing.
 */
export type TaskLane = SharedLane | "exclusive";
/** Those in which the database serves others meanwhile. */
export type SharedLane = "read" | "write" | "leased";

/** What one child is doing for one database. */
export interface Flight {
  readonly work:
    | { readonly kind: "read" | "write"; readonly jobs: CallJob[]; readonly logRows: readonly LogValues[] }
    | { readonly kind: "task"; readonly job: TaskJob; readonly lane: TaskLane };
  readonly frame: number;
  /** Infinity while others run before it in its child. */
  startedMs: number;
  /** A write group's outcomes, held until its commit is on the disk. */
  answered: ReplyFrame | null;
  /**
   * Why the service ended the child; null: it did not. `busy`: a slow read had no slot, and others waited; or it
   * was the one before this that was to end.
   */
  killed: "timeout" | "gone" | "memory" | "disk" | "busy" | null;
  killedMs: number;
  /** When the caller of the statement that runs was first seen to have gone; null: it has not. */
  leftMs: number | null;
  /** When a statement of it was first seen to run, by the clock and by the child's processor time; null: not yet. */
  begun: { readonly atMs: number; readonly cpuMs: number } | null;
  /** Null: the work is not known to be slow. */
  slow: SlowWork | null;
  /** Number of the last report of the child's memory, and when the watchdog first saw it. */
  heard: { readonly count: number; sinceMs: number };
  /**
   * The statement that ran when the watchdog last looked, since when, and, of a read, the bytes that the child had written to
   * files before it; absent or NaN: not known yet.
   */
  seen: { call: number; statement: number; sinceMs: number; writtenBefore?: number };
}

/** Whether the flight has lasted for `longMs`, or is a read of what lasted a moment ago. */
export function isLong({ work, startedMs }: Flight, nowMs: number, longMs: number): boolean {
  return nowMs - startedMs >= longMs || (work.kind === "read" && work.jobs[0]?.lasts === true);
}

/** Whether the flight writes nothing but rows of its database's query log. */
export function isLog({ work }: Pick<Flight, "work">): boolean {
  return work.kind === "task" && work.job.request.op === "log";
}

/** Whether the flight has the write slot of its database. */
export function holdsWriteSlot({ work }: Pick<Flight, "work">): boolean {
  return work.kind === "write" || (work.kind === "task" && work.lane !== "read");
}
