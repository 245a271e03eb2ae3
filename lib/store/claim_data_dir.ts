// One running service owns the data folder: two would write the same tenant files.
import { reasonOf } from "../core/attempt.ts";
import { ConfigError } from "../core/errors.ts";
import { isThere } from "./if_there.ts";

/** The data folder as long as this process owns it. */
export interface DataDirClaim {
  /** Gives the folder up. */
  close(): void;
  /** Gives the folder up after a start that failed, and removes what the claim has made, unless it is in use by now. */
  undo(): Promise<void>;
}

/**
 * Makes `path` if it is missing (0700) and locks it as long as this process lives; the system releases the lock
 * however the process ends. Throws `ConfigError` when the folder cannot be written or another process has it.
 */
export async function claimDataDir(path: string): Promise<DataDirClaim> {
  const made = await missingFolders(path);
  const lock = `${path}/service.lock`;
  for (;;) {
    const { file, isNew } = await openLock(path, lock);
    if (!await file.tryLock(true)) {
      file.close();
      throw new ConfigError(
        "Stop the other service or set another DATA_DIR; this folder is in use by a running one",
      );
    }
    if (await isAt(lock, file)) return claimOf(file, isNew ? [lock, ...made] : []);
    // A failed start of another process has removed the file between the two steps.
    file.close();
  }
}

function claimOf(file: Deno.FsFile, made: readonly string[]): DataDirClaim {
  return {
    close: () => file.close(),
    async undo() {
      // Removed under the lock. A folder in which something else stands by now stays, and so do those above it.
      for (const one of made) {
        if (!await Deno.remove(one).then(() => true, () => false)) break;
      }
      file.close();
    },
  };
}

async function openLock(
  path: string,
  lock: string,
): Promise<{ readonly file: Deno.FsFile; readonly isNew: boolean }> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    try {
      return { file: await Deno.open(lock, { createNew: true, write: true, mode: 0o600 }), isNew: true };
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      return { file: await Deno.open(lock, { create: true, write: true, mode: 0o600 }), isNew: false };
    }
  } catch (error) {
    throw new ConfigError(
      `Set DATA_DIR to a folder that this process can make and write; making it failed (${reasonOf(error)})`,
    );
  }
}

/** Whether the path still leads to the open file. */
async function isAt(path: string, file: Deno.FsFile): Promise<boolean> {
  const [{ ino, dev }, there] = await Promise.all([file.stat(), Deno.stat(path).catch(() => null)]);
  return there !== null && there.ino === ino && there.dev === dev;
}

/** The folder and those above it that do not exist yet, the innermost first. */
async function missingFolders(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = path.replace(/\/+$/, ""); folder !== "" && !await isThere(folder);) {
    missing.push(folder);
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")));
  }
  return missing;
}
