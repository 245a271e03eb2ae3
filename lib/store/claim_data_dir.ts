// One running service owns the data folder: two would write the same tenant files.
import { ConfigError } from "../core/errors.ts";

/**
 * Makes `path` if it is missing (0700) and locks it as long as this process lives; the system releases the lock
 * however the process ends. Throws `ConfigError` when the folder cannot be written or another process has it.
 */
export async function claimDataDir(path: string): Promise<Deno.FsFile> {
  const file = await openLock(path);
  if (await file.tryLock(true)) return file;
  file.close();
  throw new ConfigError(
    "Stop the other service or set another DATA_DIR; this folder is in use by a running one",
  );
}

async function openLock(path: string): Promise<Deno.FsFile> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    return await Deno.open(`${path}/service.lock`, { create: true, write: true, mode: 0o600 });
  } catch (error) {
    const reason = error instanceof Error ? error.name : "unknown";
    throw new ConfigError(
      `Set DATA_DIR to a folder that this process can write; making it failed (${reason})`,
    );
  }
}
