// Folds a write-ahead log into its file at once, or not at all.
import type { Connection } from "../../../engine/connection.ts";

/** Waits for nobody. Returns how many frames of the log are in the file then; null: all, and the log is empty. */
export function foldNow(writer: Connection): number | null {
  const wait = Number(writer.internalRow("PRAGMA busy_timeout")?.[0] ?? 0);
  writer.database.exec("PRAGMA busy_timeout=0");
  try {
    const [busy, , folded] = writer.internalRow("PRAGMA wal_checkpoint(TRUNCATE)") ?? [];
    return Number(busy) === 0 ? null : Number(folded);
  } finally {
    writer.database.exec(`PRAGMA busy_timeout=${wait}`);
  }
}

/**
 * The same for a log whose file keeps its length: the next write begins at its start. A file that does not grow is written
 * and synced in a fraction of the time.
 */
export function foldKeeping(writer: Connection): number {
  return Number(writer.internalRow("PRAGMA wal_checkpoint(PASSIVE)")?.[2]);
}
