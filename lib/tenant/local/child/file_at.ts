// Which file a path leads to.
import { FileDamage } from "../../../engine/engine_failure.ts";

/**
 * Returns a text that identifies the file at `path`, as another file has another text, and its size. Throws `FileDamage`
 * for a missing or empty file: a new database has its first page before anybody can find it.
 */
export function fileAt(path: string): { readonly id: string; readonly sizeBytes: number } {
  const { size, dev, ino } = statOf(path);
  if (size === 0) throw new FileDamage("the file is empty");
  return { id: `${dev}:${ino}`, sizeBytes: size };
}

function statOf(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new FileDamage("the file is missing");
    throw error;
  }
}

/** Bytes of the log beside the file at `path`; 0 where there is none. */
export function logBytesAt(path: string): number {
  try {
    return Deno.statSync(`${path}-wal`).size;
  } catch {
    return 0;
  }
}
