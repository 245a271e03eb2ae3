// What a store does for exports and imports: it copies a database out of itself. Stores on platforms without processes and
// disks have none.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { TransferRoom } from "./transfer_room.ts";

/** The transfers of a store. */
export interface TransferStore {
  readonly room: TransferRoom;
  /**
   * Puts one state of a database into the transfer's folder, as the file `transferFiles.copy`. Errors: `storage_full`,
   * `store_unavailable`, `database_corrupt`, `database_busy`.
   */
  copyOut(database: DatabaseIds, transferId: string): Promise<void>;
  /**
   * Makes the file at `built` a snapshot of a database, which a restore then puts in place. This service has built and checked
   * the file. Errors: `storage_full`, `store_unavailable`.
   */
  adopt(database: DatabaseIds, built: string, label: string): Promise<void>;
  /** Removes such a snapshot; it may be gone. */
  forget(database: DatabaseIds, label: string): Promise<void>;
}
