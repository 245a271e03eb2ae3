// Commits what tenants write. Where the disk fails a commit, whoever called is told that nothing is kept, and that has to stay true.
import { engineFailure } from "../../../engine/engine_failure.ts";
import type { Connection } from "../../../engine/connection.ts";
import { FRAME_HEAD_BYTES, WAL_HEAD_BYTES } from "../../wal_frames.ts";

/**
 * Ends the transaction. Throws what the engine throws; the transaction has ended too where the disk has failed it, and nothing of
 * it comes back.
 */
export function commitToDisk(connection: Connection): void {
  try {
    connection.internalRun("COMMIT");
  } catch (error) {
    if (engineFailure(error, null).kind === "full") forget(connection);
    throw error;
  }
}

/**
 * Where it is the sync that has failed, the log holds the whole transaction behind its end. Nobody reads it there, but who opens
 * the file after a kill would take it for committed, and so would the archive: the log is cut off where its readers end.
 */
function forget(connection: Connection): void {
  const { database } = connection;
  try {
    if (database.isTransaction) connection.internalRun("ROLLBACK");
    const [, frames] = connection.internalRow("PRAGMA wal_checkpoint(NOOP)") ?? [];
    const [pageBytes] = connection.internalRow("PRAGMA page_size") ?? [];
    const length = WAL_HEAD_BYTES + Number(frames) * (FRAME_HEAD_BYTES + Number(pageBytes));
    using log = Deno.openSync(`${database.location()}-wal`, { write: true });
    if (!(length >= WAL_HEAD_BYTES && length < log.statSync().size)) return;
    log.truncateSync(length);
    log.syncSync();
  } catch {
    // A disk that takes nothing any more has not kept it either, unless it is mended by itself.
  }
}
