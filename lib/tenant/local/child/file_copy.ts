// Copies a tenant's file inside its folder. Nobody may write meanwhile and an own connection must be open, because
// otherwise the copies of the file and its write-ahead log may not match, and the copy is malformed.
import { systemClock } from "../../../core/clock.ts";
import { folderOf } from "../../../core/folder_of.ts";
import { trimLog } from "../../log_length.ts";
import { type EarlyCopy, isOneState } from "./early_copy.ts";

/** Where the file of a copy stands until the copy is complete. */
export function stagedCopy(target: string): string {
  return `${target}.part`;
}

/**
 * Copies a database with its log. `target` appears only once it is complete and on the disk; a failed copy leaves nothing.
 * The system clones the blocks where the file system can (copy_file_range). `early`: the file may be copied already.
 */
export function copyDatabase(source: string, target: string, early?: EarlyCopy): void {
  const parts = [stagedCopy(target), `${target}-wal`] as const;
  const [staged, log] = parts;
  const isCopied = early !== undefined && exists(staged) && isOneState(early, source, systemClock.now());
  for (const part of isCopied ? [log] : parts) removeIfThere(part);
  try {
    if (exists(`${source}-wal`) && Deno.statSync(`${source}-wal`).size > 0) {
      Deno.copyFileSync(`${source}-wal`, log);
      trimLog(log);
      sync(log);
    }
    if (!isCopied) {
      Deno.copyFileSync(source, staged);
      sync(staged);
    }
    Deno.renameSync(staged, target);
  } catch (error) {
    for (const part of parts) removeIfThere(part);
    throw error;
  }
  sync(folderOf(target));
}

/** Replaces `target`, whose log is folded in and closed, by `source`, which has no log. */
export function replaceDatabase(source: string, target: string): void {
  sync(source);
  for (const suffix of ["-wal", "-shm"]) removeIfThere(target + suffix);
  Deno.renameSync(source, target);
  sync(folderOf(target));
}

/** Moves a database and the files that belong to it, as far as they exist. */
export function moveDatabase(source: string, target: string): void {
  Deno.mkdirSync(folderOf(target), { recursive: true, mode: 0o700 });
  // The log moves first: a damaged file may lose its log, but a new file must never meet an old log.
  for (const suffix of ["-wal", "-shm", ""]) {
    if (exists(source + suffix)) Deno.renameSync(source + suffix, target + suffix);
  }
  sync(folderOf(target));
  sync(folderOf(source));
}

/** Brings a new file, and its entry in its folder, to the disk. */
export function syncDatabase(path: string): void {
  sync(path);
  sync(folderOf(path));
}

/** Deletes the files of a database. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) removeIfThere(path + suffix);
}

/** Whether a file exists. */
export function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Syncs a file, or a folder whose entries have changed. */
function sync(path: string): void {
  const file = Deno.openSync(path, { read: true });
  try {
    file.syncSync();
  } finally {
    file.close();
  }
}
