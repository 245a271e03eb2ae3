// Folds a write-ahead log into its file at once, or not at all.
import type { Connection } from "../../../engine/connection.ts";

/** Waits for nobody; whether all of the log was folded in. */
export function foldNow(writer: Connection): boolean {
  const wait = Number(writer.internalRow("PRAGMA busy_timeout")?.[0] ?? 0);
  writer.database.exec("PRAGMA busy_timeout=0");
  try {
    return Number(writer.internalRow("PRAGMA wal_checkpoint(TRUNCATE)")?.[0]) === 0;
  } finally {
    writer.database.exec(`PRAGMA busy_timeout=${wait}`);
  }
}
