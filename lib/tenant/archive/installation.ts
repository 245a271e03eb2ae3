// Which installation a data folder is: a name in a file, and the file itself, since a copy of the folder has another one.
import { ifThere } from "../../store/if_there.ts";

/** An installation, as its archive knows it. */
export interface Installation {
  readonly writer: string;
  /** When the file of the name was made, unix milliseconds, which no copy takes along; null: its disk does not tell. */
  readonly madeAtMs: number | null;
  /** The file's number on its disk, which counts where the time is not told. */
  readonly inode: number | null;
}

/** The installation that has that folder for its archive; a new one where there is none. */
export async function installationOf(folder: string): Promise<Installation> {
  const path = `${folder}/writer`;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const writer = await ifThere(Deno.readTextFile(path)) ?? await newWriter(path);
  const { birthtime, ino } = await Deno.stat(path);
  return { writer, madeAtMs: birthtime?.getTime() ?? null, inode: ino };
}

/** Whether `recorded` is this one. A record of a version that noted the name alone is that of any folder with the name. */
export function isSame(recorded: Partial<Installation>, { writer, madeAtMs, inode }: Installation): boolean {
  if (recorded.writer !== writer) return false;
  const { madeAtMs: made = null, inode: was = null } = recorded;
  if (made !== null && madeAtMs !== null) return made === madeAtMs;
  return was === null || inode === null || was === inode;
}

async function newWriter(path: string): Promise<string> {
  const writer = crypto.randomUUID();
  await Deno.writeTextFile(path, writer, { createNew: true, mode: 0o600 });
  return writer;
}
