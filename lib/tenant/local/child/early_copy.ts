// A copy of a database's file that was made before the write slot was taken, so that writers wait for the copy of its
// write-ahead log only. Tells whether the file and the log together are still one state.

/** A file is copied early from this size on; a smaller one is copied in less than a millisecond. */
export const EARLY_BYTES = 1024 * 1024;

/** A file whose last change is younger may be changing in the same tick of the system's clock. */
const SETTLED_MS = 1000;

/** The state of a database's files when the copy began. */
export interface EarlyCopy {
  /** Number and salts of the write-ahead log, which change when it begins again; empty: there is none. */
  readonly log: string;
  /** The file itself, whatever it holds. */
  readonly file: string;
  /** Its size and last change; null: it has just been changed. */
  readonly content: string | null;
}

/** Reads that state. A system's error where the file is missing. */
export function earlyState(path: string, nowMs: number): EarlyCopy {
  const { dev, ino, size, mtime } = Deno.statSync(path);
  const changedMs = mtime?.getTime() ?? nowMs;
  return {
    log: logGeneration(path),
    file: `${dev}:${ino}`,
    content: nowMs - changedMs > SETTLED_MS ? `${size}:${changedMs}` : null,
  };
}

/**
 * Whether the early copy and the log as it is now are one state. What was moved from the log into the file meanwhile is
 * still in the log unless that has begun again, and a file that did not change has no part of it.
 */
export function isOneState(early: EarlyCopy, path: string, nowMs: number): boolean {
  const now = earlyState(path, nowMs);
  if (now.file !== early.file) return false;
  return (early.log !== "" && early.log === now.log) ||
    (early.content !== null && early.content === now.content);
}

/** Bytes of the head of a write-ahead log, and where the checkpoint's number and the salts stand in it. */
const HEAD_BYTES = 32;
const GENERATION = [12, 24] as const;

/** What changes when the write-ahead log of the database at `path` begins again; empty: there is none. */
export function logGeneration(path: string): string {
  const head = new Uint8Array(HEAD_BYTES);
  try {
    using log = Deno.openSync(`${path}-wal`);
    if (log.readSync(head) !== HEAD_BYTES) return "";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
  return head.subarray(...GENERATION).toHex();
}
