// Copies of a tenant's file inside its folder: while nobody writes and an own connection is open, so that the file and
// its write-ahead log belong together (engine facts: a copy without that is malformed).

/** Where the snapshots of the file at `path` (`….db`) are. */
export function snapshotFolder(path: string): string {
  return `${path.slice(0, -".db".length)}.snapshots`;
}

/** Where files of the database at `path` are that were found damaged. */
export function damagedFolder(path: string): string {
  return `${path.slice(0, -".db".length)}.damaged`;
}

/**
 * Copies a database with its log. `target` is there only once it is whole and on the disk; of a copy that fails nothing
 * stays. The system clones the blocks where the file system can (copy_file_range).
 */
export function copyDatabase(source: string, target: string): void {
  const parts = [`${target}.part`, `${target}-wal`] as const;
  const [staged, log] = parts;
  for (const part of parts) removeIfThere(part);
  try {
    if (exists(`${source}-wal`) && Deno.statSync(`${source}-wal`).size > 0) {
      Deno.copyFileSync(`${source}-wal`, log);
      sync(log);
    }
    Deno.copyFileSync(source, staged);
    sync(staged);
    Deno.renameSync(staged, target);
  } catch (error) {
    for (const part of parts) removeIfThere(part);
    throw error;
  }
  sync(folderOf(target));
}

/** Puts `source`, which has no log, in the place of `target`, whose log is folded in and closed. */
export function replaceDatabase(source: string, target: string): void {
  sync(source);
  for (const suffix of ["-wal", "-shm"]) removeIfThere(target + suffix);
  Deno.renameSync(source, target);
  sync(folderOf(target));
}

/** Moves a database with what belongs to it, as much of it as is there. */
export function moveDatabase(source: string, target: string): void {
  Deno.mkdirSync(folderOf(target), { recursive: true, mode: 0o700 });
  // The log first: a file without its log is damaged still, a new file under an old log would be.
  for (const suffix of ["-wal", "-shm", ""]) {
    if (exists(source + suffix)) Deno.renameSync(source + suffix, target + suffix);
  }
  sync(folderOf(target));
  sync(folderOf(source));
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

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Of a file, or of a folder whose entries have changed. */
function sync(path: string): void {
  const file = Deno.openSync(path, { read: true });
  try {
    file.syncSync();
  } finally {
    file.close();
  }
}
