// The program files that engine children load. An update under the running service replaces them, and a child of the new
// version would misread the frames of the old one.
import { type Clock, systemClock } from "../../../core/clock.ts";
import { sha256 } from "../../../core/sha256.ts";

const LIB = new URL("../../../", import.meta.url);
/** The folders below `lib/` from which a child loads files. */
export const CHILD_FOLDERS: readonly string[] = [
  "core/",
  "engine/",
  "engine/footprint/",
  "engine/rows_read/",
  "sql/grammar/",
  "sql/schema/",
  "sql/service/",
  "sql/tokens/",
  "sql/words/",
  "tenant/",
  "tenant/branches/",
  "tenant/calls/",
  "tenant/local/child/",
];

/** Milliseconds after which a file's last change tells it apart from a later one: systems tell it in whole seconds. */
const SETTLED_MS = 2000;

/** Remembers the program files as they were when it was made. */
export class ProgramFiles {
  readonly #digest: string | null;
  /** The stamp that the files had when their digest was last the same; null: none is known. */
  #stamp: string | null;

  /** `lib`: the folder of the program, ending in a slash. */
  constructor(private readonly lib: URL = LIB, private readonly clock: Pick<Clock, "now"> = systemClock) {
    this.#stamp = stampOf(lib, clock.now());
    this.#digest = digestOf(lib);
  }

  /** Whether the files are still the same; true where they cannot be read, or are no files. */
  areSame(): boolean {
    const stamp = stampOf(this.lib, this.clock.now());
    // To read all files at each child's start would hold up every call for some milliseconds.
    if (stamp !== null && stamp === this.#stamp) return true;
    const now = digestOf(this.lib);
    if (this.#digest === null || now === null) return true;
    this.#stamp = now === this.#digest ? stamp : null;
    return now === this.#digest;
  }
}

/** The paths of the program files below `lib`, in an order of their own. */
function pathsOf(lib: URL): string[] {
  return CHILD_FOLDERS.flatMap((folder) =>
    Array.from(Deno.readDirSync(new URL(folder, lib)), ({ name }) => folder + name).filter((path) =>
      path.endsWith(".ts")
    ).sort()
  );
}

/**
 * What changes with every write to one of the files: the system sets the time of the last change (`ctime`) also where
 * whoever wrote has set the other times back. Null where that is not known of a file, or where it has just changed.
 */
function stampOf(lib: URL, nowMs: number): string | null {
  let stamp = "";
  try {
    for (const path of pathsOf(lib)) {
      const { size, ino, mtime, ctime } = Deno.statSync(new URL(path, lib));
      if (ctime === null || nowMs - ctime.getTime() < SETTLED_MS) return null;
      stamp += `${path} ${size} ${ino} ${mtime?.getTime()} ${ctime.getTime()}\n`;
    }
  } catch {
    return null;
  }
  return stamp;
}

/** A digest of names and contents; null where a file cannot be read. A missing file counts as a change. */
function digestOf(lib: URL): string | null {
  const hash = sha256();
  try {
    for (const path of pathsOf(lib)) hash.update(`${path}\n`).update(Deno.readFileSync(new URL(path, lib)));
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "missing" : null;
  }
  return hash.digest("hex");
}
