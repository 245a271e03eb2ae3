// Exports and imports of embedded databases: their files are copied by engine children, in the write slot.
import { AppError } from "../../core/errors.ts";
import type { TransferRoom } from "../transfer/transfer_room.ts";
import type { TransferStore } from "../transfer/transfer_store.ts";
import type { DatabaseHost } from "./database_host.ts";

/** The transfers of this store. */
export class LocalTransfers implements TransferStore {
  constructor(private readonly host: DatabaseHost, readonly room: TransferRoom) {}

  async copyOut(
    { databaseId, namespaceId }: { readonly databaseId: string; readonly namespaceId: string },
    transferId: string,
  ): Promise<void> {
    const request = { op: "copy_out", db: databaseId, transfer: transferId } as const;
    const { reply } = await this.host.task(databaseId, namespaceId, request, "write");
    if (reply.t !== "done") throw new AppError("store_unavailable");
  }
}
