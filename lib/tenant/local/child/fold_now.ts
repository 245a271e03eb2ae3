// Folds a write-ahead log into its file at once, or not at all.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";

/** Milliseconds of the last folds, in the mean, from which on other work does not wait for a fold: most of it is two syncs. */
const SLOW_MS = 4;
const MEAN_OF = 8;
let meanMs = 0;

/** Waits for nobody. Returns how many frames of the log are in the file then; null: all, and the log is empty. */
export function foldNow(writer: Connection): number | null {
  const startedMs = systemClock.monotonicMs();
  const wait = Number(writer.internalRow("PRAGMA busy_timeout")?.[0] ?? 0);
  writer.database.exec("PRAGMA busy_timeout=0");
  try {
    const [busy, , folded] = writer.internalRow("PRAGMA wal_checkpoint(TRUNCATE)") ?? [];
    return Number(busy) === 0 ? null : Number(folded);
  } finally {
    writer.database.exec(`PRAGMA busy_timeout=${wait}`);
    meanMs += (systemClock.monotonicMs() - startedMs - meanMs) / MEAN_OF;
  }
}

/** The same, but not where the disk has been slow: others wait for this. Throws nothing. */
export function foldQuickly(writer: Connection): void {
  if (meanMs > SLOW_MS) return;
  try {
    foldNow(writer);
  } catch {
    // What was committed stays in the log, and whoever writes next meets the failure of the disk.
  }
}

/**
 * The same for a log whose file keeps its length: the next write begins at its start. A file that does not grow is written
 * and synced in a fraction of the time.
 */
export function foldKeeping(writer: Connection): number {
  return Number(writer.internalRow("PRAGMA wal_checkpoint(PASSIVE)")?.[2]);
}
