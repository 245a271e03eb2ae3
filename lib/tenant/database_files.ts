// Database files of this machine that the service builds itself, and how one becomes the state of a database.
import type { SnapshotInfo } from "./snapshots.ts";

/** What a store of files can do beside. */
export interface DatabaseFiles {
  /** A folder beside the databases for files that the service builds itself. What is left there is removed at a start. */
  readonly scratch: string;
  /**
   * Makes a finished file of the service's own, in `scratch`, a snapshot of a database, to which it can then be restored.
   * The file is closed, has no write-ahead log and has the tables of the service; whether it is sound is checked by the
   * restore. It is moved. Errors: `slug_taken` when the label is in use.
   */
  adopt(databaseId: string, path: string, label: string): Promise<SnapshotInfo>;
}
