// Copies that an engine child was making when it ended: they are of no use, and may be as large as the database.
import { removeIfThere } from "./tenant_paths.ts";

/** Milliseconds after which nobody is making a copy any more: work of the service itself is ended long before. */
const STALE_MS = 3_600_000;

/** Removes them from a folder of databases or of snapshots. */
export async function removeLeftoverCopies(folder: string, nowMs: number): Promise<void> {
  const names = new Set<string>();
  for await (const { name, isFile } of Deno.readDir(folder)) if (isFile) names.add(name);
  for (const name of names) {
    if (!isLeftover(name, names, folder)) continue;
    const { mtime } = await Deno.stat(`${folder}/${name}`);
    if (mtime !== null && nowMs - mtime.getTime() > STALE_MS) await removeIfThere(`${folder}/${name}`);
  }
}

function isLeftover(name: string, names: ReadonlySet<string>, folder: string): boolean {
  if (/\.part$|\.db\.restoring(-wal|-shm)?$/.test(name)) return true;
  // A database whose file is gone is damaged, and its log all that is left of it; a snapshot is not there without its file.
  const [, of] = /^(.+\.db)-(?:wal|shm)$/.exec(name) ?? [];
  return of !== undefined && folder.endsWith(".snapshots") && !names.has(of);
}
