// Exports and imports of embedded databases: their files are copied as for a snapshot.
import type { DatabaseIds } from "../../core/database_ids.ts";
import { AppError } from "../../core/errors.ts";
import { transferFiles } from "../transfer/job.ts";
import type { TransferRoom } from "../transfer/transfer_room.ts";
import type { TransferStore } from "../transfer/transfer_store.ts";
import type { LocalSnapshots } from "./local_snapshots.ts";

/** The transfers of this store. */
export class LocalTransfers implements TransferStore {
  constructor(private readonly snapshots: LocalSnapshots, readonly room: TransferRoom) {}

  async copyOut(database: DatabaseIds, transferId: string): Promise<void> {
    const target = `${this.room.folderOf(transferId)}/${transferFiles.copy}`;
    const request = { op: "copy_out", db: database.databaseId, transfer: transferId } as const;
    const answered = await this.snapshots.copyWhole(
      database,
      target,
      (early) => ({ ...request, ...early }),
    );
    if (answered !== null && answered.reply.t !== "done") throw new AppError("store_unavailable");
  }

  async adopt({ databaseId }: DatabaseIds, built: string, label: string): Promise<void> {
    try {
      await this.snapshots.adopt(databaseId, built, label);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("storage_full");
    }
  }

  async forget({ databaseId }: DatabaseIds, label: string): Promise<void> {
    await this.snapshots.forget(databaseId, label);
  }
}
