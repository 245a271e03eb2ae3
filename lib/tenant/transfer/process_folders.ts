// Folders of processes that work side by side in one place: each holds a lock beside its own, which the system releases
// however the process ends, so that the next one can tell what nobody needs any more.
import { folderOf } from "../../core/folder_of.ts";
import { entriesOf, removeIfThere } from "../../store/if_there.ts";

const LOCK = ".lock";

/** Locks the folder, which is made afterwards; what is returned holds the lock until it is closed. */
export async function lockFolder(folder: string): Promise<Deno.FsFile> {
  await Deno.mkdir(folderOf(folder), { recursive: true, mode: 0o700 });
  const file = await Deno.open(`${folder}${LOCK}`, { create: true, write: true, mode: 0o600 });
  await file.lock(true);
  return file;
}

/** Removes the folder's lock; the folder is gone. */
export async function unlockFolder(folder: string, lock: Deno.FsFile): Promise<void> {
  await Deno.remove(`${folder}${LOCK}`).catch(() => {});
  lock.close();
}

/** Removes the folders of `place` whose processes have ended. */
export async function sweepFolders(place: string): Promise<void> {
  for (const { name } of await Array.fromAsync(entriesOf(place))) {
    if (!name.endsWith(LOCK)) continue;
    using lock = await Deno.open(`${place}/${name}`, { write: true });
    if (!await lock.tryLock(true)) continue;
    await removeIfThere(`${place}/${name.slice(0, -LOCK.length)}`);
    await Deno.remove(`${place}/${name}`);
  }
}
