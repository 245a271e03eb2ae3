// The files of an embedded database's snapshots, in a folder beside it, named by time and label: a snapshot is a database
// file with its write-ahead log. Removes old ones, damaged files that restores have set aside, and unfinished copies.
import { HOUR_MS } from "../../../core/clock.ts";
import type { SnapshotInfo } from "../../snapshots.ts";
import { folderOf } from "../../../core/folder_of.ts";
import { sizeOf, syncPath } from "./tenant_paths.ts";
import { damagedLabel } from "../../damage.ts";
import { entriesOf, ifThere, removeIfThere } from "../../../store/if_there.ts";

/** The most damaged files of one database. */
const MAX_DAMAGED = 5;

/** An unfinished copy of this age is abandoned, because the service's own work is ended long before. */
const STALE_MS = HOUR_MS;

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
  for await (const entry of entriesOf(folder)) {
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
  return found.sort((a, b) => b.name < a.name ? -1 : 1);
}

/** Makes a closed file on the same file system the file `target` of a snapshot, on the disk. */
export async function adoptFile(path: string, target: string): Promise<void> {
  const folder = folderOf(target);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await syncPath(path);
  await Deno.rename(path, target);
  await syncPath(folder);
}

/** Deletes the files of a snapshot. */
export async function removeSnapshotFile(folder: string, name: string): Promise<void> {
  for (const file of [`${name}.db`, `${name}.db-wal`]) await ifThere(Deno.remove(`${folder}/${file}`));
}

/** Removes set-aside files, each with its log, that are older than `beforeMs` or too many. The folder may be missing. */
export async function pruneDamagedFiles(folder: string, beforeMs: number): Promise<void> {
  const files = await Array.fromAsync(entriesOf(folder), ({ name }) => name);
  const nameOf = (file: string) => file.replace(/\.db(-wal|-shm)?$/, "");
  const newest = [...new Set(files.map(nameOf))].sort().slice(-MAX_DAMAGED);
  const oldest = damagedLabel(beforeMs);
  for (const file of files) {
    if (newest.includes(nameOf(file)) && nameOf(file) >= oldest) continue;
    await ifThere(Deno.remove(`${folder}/${file}`));
  }
}

/** Removes copies that ended children left unfinished from a folder of databases or of snapshots. */
export async function removeLeftoverCopies(folder: string, nowMs: number): Promise<void> {
  const names = new Set<string>();
  for await (const { name, isFile } of Deno.readDir(folder)) if (isFile) names.add(name);
  for (const name of names) {
    if (!isLeftover(name, names, folder)) continue;
    const changedMs = await changedAt(`${folder}/${name}`);
    if (changedMs !== null && nowMs - changedMs > STALE_MS) await removeIfThere(`${folder}/${name}`);
  }
}

/** Null where the file is no longer there: its child has ended well meanwhile. */
async function changedAt(path: string): Promise<number | null> {
  return (await ifThere(Deno.stat(path)))?.mtime?.getTime() ?? null;
}

function isLeftover(name: string, names: ReadonlySet<string>, folder: string): boolean {
  if (/\.part$|\.db\.restoring(-wal|-shm)?$/.test(name)) return true;
  // The log of a damaged database whose file is missing must stay. Without its file there is no snapshot.
  const [, of] = /^(.+\.db)-(?:wal|shm)$/.exec(name) ?? [];
  return of !== undefined && folder.endsWith(".snapshots") && !names.has(of);
}
