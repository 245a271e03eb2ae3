// An archive of databases off this machine, as the services see it.

import type { ObjectStore } from "./object_store.ts";
import type { StoreStrain } from "./store_strain.ts";

/** How it is known that the store is still this service's: a look of the last minute, or one right before the work. */
export type StoreTrust = "owner_remembered" | "owner_looked_up";

/** How the archive of a database stands. Times are unix milliseconds. */
export interface ArchiveStatus {
  /** Null: nothing of it is archived yet. */
  readonly archivedUntilMs: number | null;
  /** Null as well: nobody knows how far behind that is. */
  readonly lagMs: number | null;
  /** Why it falls behind; null: it does not. */
  readonly strain: Extract<StoreStrain, "archive_away" | "archive_taken"> | null;
}

/** The archive of a store. */
export interface MomentArchive {
  status(databaseId: string): Promise<ArchiveStatus>;
  /**
   * The earliest moment that can be brought back, unix milliseconds; null: nothing of it is archived yet. Errors:
   * `archive_damaged`, `archive_unavailable`.
   */
  firstMs(databaseId: string): Promise<number | null>;
  /** Ids of databases whose archive is late, by fifteen minutes, and that are not yet told of since. */
  late(): readonly string[];
  /** To be called once it is told of: it is not among them again until it has caught up. */
  toldLate(databaseId: string): void;
  /**
   * Works with its objects; `trust` is `owner_remembered` unless given. Rejects where the store does not answer, or is another
   * service's.
   */
  withObjects(work: (store: ObjectStore) => Promise<void>, trust?: StoreTrust): Promise<void>;
  /**
   * Makes a snapshot of the state at a moment: all that was answered by then, nothing that began later. Errors:
   * `archive_too_early`, `archive_gap`, `archive_damaged`, `archive_unavailable`, `slug_taken`, `database_busy` while as many
   * moments are built as may, or one of this database.
   */
  toSnapshot(databaseId: string, moment: { readonly atMs: number; readonly label: string }): Promise<void>;
}
