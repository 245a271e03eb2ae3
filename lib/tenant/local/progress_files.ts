// The files in which engine children note where they are. They stay and are used again: on a full disk a child can start
// all the same.
import { PROGRESS_FILE_BYTES } from "./child/protocol.ts";

/** The file of one child. */
export interface ProgressFile {
  readonly path: string;
  readonly number: number;
}

/** An emptied one that none of those uses. Throws what the system throws, as where there is no room for one more. */
export function freeProgressFile(runDirectory: string, used: readonly number[]): ProgressFile {
  let number = 1;
  while (used.includes(number)) number++;
  return { path: emptied(runDirectory, number), number };
}

/** Makes the files that up to `count` children need, as many as there is room for, and removes others. */
export async function prepareProgressFiles(runDirectory: string, count: number): Promise<void> {
  const names = new Set(Array.from({ length: count }, (_, at) => `engine-${at + 1}`));
  for await (const { name } of Deno.readDir(runDirectory)) {
    if (!names.has(name)) await Deno.remove(`${runDirectory}/${name}`, { recursive: true });
  }
  for (let number = 1; number <= count; number++) {
    try {
      emptied(runDirectory, number);
    } catch (error) {
      // The first one is needed; fewer children are enough to go on.
      if (number === 1) throw error;
      return;
    }
  }
}

function emptied(runDirectory: string, number: number): string {
  const path = `${runDirectory}/engine-${number}`;
  const file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
  try {
    // Overwritten, not cut: what it says of an older child must go, the room that it has must not.
    file.writeSync(new Uint8Array(PROGRESS_FILE_BYTES));
  } finally {
    file.close();
  }
  return path;
}
