// What a process knows of the archive of one database, in a file beside the spool, and the spool: objects that are not in
// the store yet, in the order in which they go there.
import { isId } from "../../core/ids.ts";
import { type ArchiveName, objectName, readObjectName } from "./archive_names.ts";
import type { WalSum } from "../wal_frames.ts";
import { entriesOf, ifThere } from "../../store/if_there.ts";
import { writeAll } from "../../store/write_all.ts";

/** How far a database is archived. Times are unix milliseconds. */
export interface ArchiveState {
  readonly epoch: string;
  /** Segments of the epoch that were made. */
  readonly segments: number;
  /** Objects that were ever put into the spool; the next one gets this number. */
  readonly spooled: number;
  /** The database's file as it was when its log was last folded in: nobody else changes it. */
  readonly file: string;
  /** The log that is read; empty: it begins anew. */
  readonly salts: string;
  readonly frames: number;
  /** How many of these are in the database's file already; absent: nobody knows of any. */
  readonly inFile?: number;
  readonly sum: WalSum;
  readonly pageBytes: number;
  readonly baseAtMs: number;
  readonly baseBytes: number;
  /** Bytes of the log since the base. */
  readonly walBytes: number;
  /** Everything that was answered until then has been read. */
  readonly untilMs: number;
  /** Everything that was answered until then is in the store. */
  readonly sentUntilMs: number;
  /** `folding`: the log is being folded in; `replaced`: another file takes the place; `lost`: the store was away too long. */
  readonly phase: "reads" | "folding" | "replaced" | "lost";
}

/** Where the folder of a database is, below that of all. */
export function archiveFolder(all: string, databaseId: string): string {
  return `${all}/${databaseId.slice(-2).toLowerCase()}/${databaseId}`;
}

/** Databases with something in their spools. */
export async function* spooledDatabases(all: string): AsyncIterable<string> {
  for await (const { path } of foldersIn(all)) {
    for await (const { path: folder, name } of foldersIn(path)) {
      if (isId("db", name) && (await new ArchiveFolder(folder).spool()).length > 0) yield name;
    }
  }
}

/** None where there is no such folder. */
async function* foldersIn(path: string): AsyncIterable<{ readonly path: string; readonly name: string }> {
  for await (const { name, isDirectory } of entriesOf(path)) {
    if (isDirectory) yield { path: `${path}/${name}`, name };
  }
}

/** The folder of a database's state and spool. */
export class ArchiveFolder {
  #adds = false;

  constructor(private readonly folder: string) {}

  async read(): Promise<ArchiveState | null> {
    const text = await ifThere(Deno.readTextFile(`${this.folder}/state.json`));
    return text === null ? null : parseState(text);
  }

  /** Removes from the spool what no state has noted: its process ended before, and what it stands for is read again. */
  async dropUnnoted(state: ArchiveState | null): Promise<void> {
    const noted = state === null || state.phase === "lost" ? 0 : state.spooled;
    for (const { file } of await this.spool()) {
      if (Number.parseInt(file, 10) >= noted) await this.drop(file);
    }
  }

  /** Notes a state: everything that was added is on the disk before it is. */
  async write(state: ArchiveState): Promise<void> {
    if (this.#adds) await this.#sync();
    await this.#writeWhole("state.json", new TextEncoder().encode(JSON.stringify(state)));
    await this.#sync();
    this.#adds = false;
  }

  /** Puts an object into the spool, for the state that is noted next. */
  async add(order: number, name: ArchiveName, bytes: Uint8Array): Promise<void> {
    this.#adds = true;
    const file = `${String(order).padStart(10, "0")}~${objectName(name).replace("/", "~")}`;
    await this.#writeWhole(file, bytes);
  }

  /** The spool, the oldest first. */
  async spool(): Promise<{ readonly file: string; readonly name: ArchiveName; readonly key: string }[]> {
    const found: { file: string; name: ArchiveName; key: string }[] = [];
    for await (const { name: file } of entriesOf(this.folder)) {
      const key = file.slice(file.indexOf("~") + 1).replace("~", "/");
      const name = readObjectName(key);
      if (name !== null) found.push({ file, name, key });
    }
    return found.sort((a, b) => a.file < b.file ? -1 : 1);
  }

  async spoolBytes(): Promise<number> {
    let sum = 0;
    for (const { file } of await this.spool()) sum += (await Deno.stat(`${this.folder}/${file}`)).size;
    return sum;
  }

  load(file: string): Promise<Uint8Array<ArrayBuffer>> {
    return Deno.readFile(`${this.folder}/${file}`);
  }

  async drop(file: string): Promise<void> {
    await Deno.remove(`${this.folder}/${file}`).catch(() => {});
  }

  async removeAll(): Promise<void> {
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
  }

  async #writeWhole(name: string, bytes: Uint8Array): Promise<void> {
    await Deno.mkdir(this.folder, { recursive: true, mode: 0o700 });
    const part = `${this.folder}/${name}.part`;
    {
      using file = await Deno.open(part, { create: true, truncate: true, write: true, mode: 0o600 });
      await writeAll(file, bytes);
      await file.sync();
    }
    await Deno.rename(part, `${this.folder}/${name}`);
  }

  async #sync(): Promise<void> {
    using folder = await Deno.open(this.folder);
    await folder.sync();
  }
}

/** Guarantee: this class wrote the file as a whole; a file that is no state counts as none, so that a new base is made. */
function parseState(text: string): ArchiveState | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
