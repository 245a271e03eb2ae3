// Files that restores have set aside because they could not be read: kept for whoever wants to look into them, for as
// long as snapshots and only the newest few.
import { damagedLabel } from "../damage.ts";

/** Damaged files kept of one database. */
const MAX_KEPT = 5;

/** Removes what is older than `beforeMs` and what is too much, a file with its log. Nothing where the folder is missing. */
export async function thinDamagedFiles(folder: string, beforeMs: number): Promise<void> {
  const files: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) files.push(entry.name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  const nameOf = (file: string) => file.replace(/\.db(-wal|-shm)?$/, "");
  const newest = [...new Set(files.map(nameOf))].sort().slice(-MAX_KEPT);
  const oldest = damagedLabel(beforeMs);
  for (const file of files) {
    if (newest.includes(nameOf(file)) && nameOf(file) >= oldest) continue;
    await Deno.remove(`${folder}/${file}`).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}
