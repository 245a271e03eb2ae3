// The files in which engine children note their progress. They are kept and reused, so that a child can start on a full
// disk.
import { PROGRESS_FILE_BYTES } from "./child/protocol.ts";

/** The progress file of one child. */
export interface ProgressFile {
  readonly path: string;
  readonly number: number;
}

/** Empties a file that is not in `used`. Throws what the system throws, for example where there is no room for another. */
export function freeProgressFile(runDirectory: string, used: readonly number[]): ProgressFile {
  let number = 1;
  while (used.includes(number)) number++;
  return { path: emptied(runDirectory, number), number };
}

/** Makes the files for up to `count` children, as many as there is room for, and removes others. */
export async function prepareProgressFiles(runDirectory: string, count: number): Promise<void> {
  const names = new Set(Array.from({ length: count }, (_, at) => `engine-${at + 1}`));
  for await (const { name } of Deno.readDir(runDirectory)) {
    if (!names.has(name)) await Deno.remove(`${runDirectory}/${name}`, { recursive: true });
  }
  for (let number = 1; number <= count; number++) {
    try {
      emptied(runDirectory, number);
    } catch (error) {
      // Only the first file is required; the store works with fewer children.
      if (number === 1) throw error;
      return;
    }
  }
}

function emptied(runDirectory: string, number: number): string {
  const path = `${runDirectory}/engine-${number}`;
  const file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
  try {
    // Overwrites the file instead of truncating it: the older child's records must go, the reserved room must stay.
    file.writeSync(new Uint8Array(PROGRESS_FILE_BYTES));
  } finally {
    file.close();
  }
  return path;
}
