// What the packer is told to do for a database, and what it answers: a line of JSON each.
import type { ArchiveState } from "./archive_state.ts";
import type { After } from "./epoch_turns.ts";

/** Work on the archive of one database. */
export interface CutJob {
  /**
   * `cut`: reads what has been committed until now. With `then` it also notes that the log will be folded in, or that another
   * file takes the place. `folded`: so many frames of the log are in the file; null: all, and the log is empty.
   */
  readonly work:
    | { readonly kind: "cut"; readonly then: "folding" | "replaced" | null }
    | { readonly kind: "folded"; readonly frames: number | null };
  readonly databaseId: string;
  /** The database's file. */
  readonly path: string;
  /** The folder of its state and spool. */
  readonly folder: string;
  readonly state: ArchiveState | null;
  /** What a first epoch comes after; null: the state tells. */
  readonly after: After | null;
  /** When the job was given, by the clock of the service, and what that is ahead of the machine's: tests turn it. */
  readonly nowMs: number;
  readonly aheadMs: number;
}

/** The state afterwards, which is noted; `failed`: the name of the error, and nobody knows what was noted. */
export type CutAnswer = { readonly state: ArchiveState | null } | { readonly failed: string };
