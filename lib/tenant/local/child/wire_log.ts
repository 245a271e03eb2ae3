// How rows of the log tables travel to an engine child, and what is to be recorded of a restore with it.
import type { LogValue, LogValues } from "../../log_columns.ts";

/** Log rows of one kind, by column: the value of all rows, or one for each. */
export interface WireLogTable {
  readonly rows: number;
  readonly columns: readonly (LogValue | readonly LogValue[])[];
}

/** What becomes the log and audit rows of a restore or a merge, in its transaction. */
export interface WireRecord {
  readonly log: LogValues;
  readonly auditId: string;
}

/** Makes `db` what a snapshot says. Names are those of files. */
export interface RestoreRequest {
  readonly op: "restore";
  readonly db: string;
  readonly snapshot: string;
  readonly undo: string;
  /** Name under which a damaged file is set aside. */
  readonly aside: string;
  /** The file has been found damaged before. */
  readonly suspect: boolean;
  readonly nowMs: number;
  readonly record: WireRecord | null;
  /** Digest of what it is to do; null: whatever it does. */
  readonly expects: string | null;
}

/** Asks what such a restore would do. */
export interface CompareSnapshotRequest extends Pick<RestoreRequest, "db" | "snapshot" | "suspect"> {
  readonly op: "compare_snapshot";
}

/** A request that is about a snapshot. */
export type SnapshotRequest = RestoreRequest | CompareSnapshotRequest;
