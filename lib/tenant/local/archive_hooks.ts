// The archive as the store of this machine sees it.
import type { MomentArchive } from "../moment_archive.ts";
import type { StoreStrain } from "../store_strain.ts";

/** What the store tells its archive. */
export interface ArchiveHooks extends MomentArchive {
  /** A database may have changed. */
  touch(databaseId: string): void;
  /** Another file takes the place of a database's, which is open nowhere. Never rejects. */
  willReplace(databaseId: string): Promise<void>;
  /** A database was dropped. */
  forget(databaseId: string): Promise<void>;
  /** Why the archive falls behind; null: it does not. */
  readonly strain: Extract<StoreStrain, "archive_away" | "archive_taken"> | null;
  /** Of all databases: the age of the oldest change that is not there, and attempts that failed since the start. */
  readonly figures: { readonly lagMs: number; readonly failures: number };
  close(): Promise<void>;
}
