// What a store does for exports and imports: it copies a database out of itself. Stores on platforms without processes and
// disks have none.
import type { TransferRoom } from "./transfer_room.ts";

/** The transfers of a store. */
export interface TransferStore {
  readonly room: TransferRoom;
  /**
   * Puts one state of a database into the transfer's folder, as the file `transferFiles.copy`. Errors: `storage_full`,
   * `store_unavailable`, `database_corrupt`, `database_busy`.
   */
  copyOut(
    database: { readonly databaseId: string; readonly namespaceId: string },
    transferId: string,
  ): Promise<void>;
}
