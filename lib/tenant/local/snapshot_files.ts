// The snapshots of one embedded database: files in a folder beside it, named by time and label. A snapshot is the
// database file with the write-ahead log that belongs to it.
import type { SnapshotInfo } from "../snapshots.ts";
import { sizeOf } from "./tenant_paths.ts";

/** One snapshot in the folder. */
export interface SnapshotFile extends SnapshotInfo {
  /** Name of the file without `.db`. */
  readonly name: string;
}

/** The prefix of the service's own labels; a caller's label may not have it. */
const AUTOMATIC = "auto-";

/** Makes a name such as `1763764800000.before-import`; the names sort by time. */
export function snapshotName(unixMs: number, label: string): string {
  return `${String(unixMs).padStart(15, "0")}.${label}`;
}

/** Lists the snapshots, the newest first; none where the folder is missing. */
export async function listSnapshotFiles(folder: string): Promise<SnapshotFile[]> {
  const found: SnapshotFile[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      const [, time, label] = /^(\d{15})\.(.+)\.db$/.exec(entry.name) ?? [];
      if (time === undefined || label === undefined) continue;
      const name = `${time}.${label}`;
      const sizes = await Promise.all(
        [`${name}.db`, `${name}.db-wal`].map((file) => sizeOf(`${folder}/${file}`)),
      );
      found.push({
        name,
        label,
        createdAt: Number(time),
        automatic: label.startsWith(AUTOMATIC),
        sizeBytes: sizes.reduce((sum, size) => sum + size, 0),
      });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort((a, b) => b.name < a.name ? -1 : 1);
}

/** Deletes the files of a snapshot. */
export async function removeSnapshotFile(folder: string, name: string): Promise<void> {
  for (const file of [`${name}.db`, `${name}.db-wal`]) {
    await Deno.remove(`${folder}/${file}`).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}
