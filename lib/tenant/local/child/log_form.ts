// A file at rest has no write-ahead log: who opens it opens one file instead of three, and makes no index of the log, which is
// more than half of what opening takes. It gets its log before it is written, and loses it once it has not been written for a
// while. Without a log a reader keeps writers out, so only reads that end by themselves may leave a file at rest.
import { Connection } from "../../../engine/connection.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";

/** Whether the file of the connection has no log. Throws what the engine throws. */
export function isAtRest(connection: Connection): boolean {
  // The engine knows the form of a file that it has read.
  connection.internalRow("SELECT 1 FROM sqlite_schema LIMIT 1");
  return connection.internalRow("PRAGMA journal_mode")?.[0] !== "wal";
}

/** A connection that writes: the file has its log then. `keepsLog`: only who is told to folds it in. Throws what the engine throws. */
export function connectWriter(path: string, keepsLog: boolean): Connection {
  const connection = new Connection(path);
  try {
    beginLog(connection);
    if (keepsLog) connection.database.exec("PRAGMA wal_autocheckpoint=0");
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Gives the file of a connection that writes its log. Nobody else may read without one longer than the connection waits. Throws
 * what the engine throws.
 */
function beginLog(connection: Connection): void {
  const { database } = connection;
  // One page is written, and only its first bytes differ. Where a machine loses its power before that page is on the disk, the
  // file is at rest with a log beside it, which the engine reads all the same. So neither a journal nor a sync is needed.
  if (isAtRest(connection)) database.exec("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
}

/**
 * Puts a file to rest whose log is empty. False: others have it open, and it stays as it is. The connection has to be closed
 * afterwards. Throws what the engine throws.
 */
export function endLog({ database }: Connection): boolean {
  database.exec("PRAGMA busy_timeout=0");
  try {
    database.exec("PRAGMA journal_mode=MEMORY");
    return true;
  } catch (error) {
    if (engineFailure(error, null).kind !== "busy") throw error;
    return false;
  }
}
