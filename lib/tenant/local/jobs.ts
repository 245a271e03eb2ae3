// Work that waits for an engine child or runs in one.
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import type { Request, WireCall } from "./child/protocol.ts";
import type { WireLogRow } from "./child/wire_log.ts";
import type { ReplyFrame } from "./engine_child.ts";

/** A call of somebody: travels in a group with others of the same database. */
export interface CallJob {
  readonly call: TenantCall;
  readonly wire: WireCall;
  readonly resolve: (outcome: TenantOutcome) => void;
  readonly reject: (error: Error) => void;
  readonly queuedMs: number;
  /** How often a child ended while this was the statement that ran. */
  crashes: number;
}

/** Work of the service itself: one request, one reply. */
export interface TaskJob {
  readonly request: Request;
  readonly resolve: (frame: ReplyFrame) => void;
  readonly reject: (error: Error) => void;
  readonly queuedMs: number;
  crashes: number;
}

/** What one child is doing for one database. */
export interface Flight {
  readonly work:
    | { readonly kind: "read" | "write"; readonly jobs: CallJob[]; readonly logRows: readonly WireLogRow[] }
    | { readonly kind: "task"; readonly job: TaskJob; readonly holdsWriteSlot: boolean };
  readonly frame: number;
  readonly startedMs: number;
  /** A write group's outcomes, held until its commit is on the disk. */
  answered: ReplyFrame | null;
  /** Why the service ended the child, if it did. */
  killed: "timeout" | "gone" | "memory" | null;
  killedMs: number;
  /** The statement that ran when the watchdog last looked, and since when. */
  seen: { call: number; statement: number; sinceMs: number };
}
