// The program files that engine children load. An update under the running service replaces them, and a child of the new
// version would misread the frames of the old one.
import { sha256 } from "../../core/sha256.ts";

const LIB = new URL("../../", import.meta.url);
/** The folders below `lib/` from which a child loads files. */
export const CHILD_FOLDERS: readonly string[] = [
  "core/",
  "engine/",
  "engine/footprint/",
  "engine/rows_read/",
  "sql/",
  "tenant/",
  "tenant/branches/",
  "tenant/calls/",
  "tenant/local/child/",
];

/** Remembers the program files as they were when it was made. */
export class ProgramFiles {
  readonly #digest: string | null;

  /** `lib`: the folder of the program, ending in a slash. */
  constructor(private readonly lib: URL = LIB) {
    this.#digest = digestOf(lib);
  }

  /** Whether the files are still the same; true where they cannot be read, or are no files. */
  areSame(): boolean {
    const now = digestOf(this.lib);
    return this.#digest === null || now === null || now === this.#digest;
  }
}

/** A digest of names and contents; null where a file cannot be read. A missing file counts as a change. */
function digestOf(lib: URL): string | null {
  const hash = sha256();
  try {
    for (const folder of CHILD_FOLDERS) {
      const url = new URL(folder, lib);
      const names = Array.from(Deno.readDirSync(url), ({ name }) => name).filter((name) =>
        name.endsWith(".ts")
      );
      for (const name of names.sort()) {
        hash.update(`${folder}${name}\n`).update(Deno.readFileSync(new URL(name, url)));
      }
    }
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "missing" : null;
  }
  return hash.digest("hex");
}
