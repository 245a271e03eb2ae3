// The archive in a folder: another disk, or a share of a network.
import { DAY_MS } from "../../core/clock.ts";
import { dirname } from "node:path";
import type { ObjectStore } from "../object_store.ts";
import { digestOf } from "./digest.ts";
import { entriesOf, ifThere } from "../../store/if_there.ts";
import { writeAll } from "../../store/write_all.ts";

/** What a write is called until it is finished. */
const UNFINISHED = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;
/** Milliseconds that a write may take, on the slowest share. */
const WRITE_MS = DAY_MS;

/** The objects of a folder, which is made when it is first written. */
export class FolderObjects implements ObjectStore {
  #toldMs: number | null = null;

  constructor(private readonly folder: string) {}

  /** By its file system: of a share that is the server's clock, of a disk of this machine its own. */
  get toldMs(): number | null {
    return this.#toldMs;
  }

  /** Reads and writes of files have no bound of time. */
  within(): this {
    return this;
  }

  async put(key: string, bytes: Uint8Array<ArrayBuffer>, expects?: string | null): Promise<boolean> {
    const path = `${this.folder}/${key}`;
    const folder = dirname(path);
    await this.#make(folder);
    const part = `${path}.${crypto.randomUUID()}.part`;
    try {
      using file = await Deno.open(part, { createNew: true, write: true, mode: 0o600 });
      await writeAll(file, bytes);
      await file.sync();
      this.#toldMs = (await file.stat()).mtime?.getTime() ?? this.#toldMs;
      if (expects !== null && expects !== undefined && (await this.get(key))?.tag !== expects) return false;
      if (expects !== null) await Deno.rename(part, path);
      else if (!await this.#linkNew(part, path)) return false;
      await syncNames(folder);
      return true;
    } finally {
      await Deno.remove(part).catch(() => {});
    }
  }

  async get(key: string): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly tag: string } | null> {
    const bytes = await ifThere(Deno.readFile(`${this.folder}/${key}`));
    return bytes && { bytes, tag: digestOf(bytes) };
  }

  async *keys(prefix: string, after = ""): AsyncGenerator<string> {
    for await (const key of this.#walk(prefix.slice(0, prefix.lastIndexOf("/") + 1))) {
      if (key.startsWith(prefix) && key > after && !key.endsWith(".part")) yield key;
    }
  }

  async remove(key: string): Promise<void> {
    await ifThere(Deno.remove(`${this.folder}/${key}`));
  }

  /** A process that is killed while it writes removes nothing. By the times of the file system that has the files. */
  async removeUnfinished(): Promise<void> {
    if (this.#toldMs === null) return;
    for await (const key of this.#walk("")) {
      if (UNFINISHED.test(key) && await this.#writtenMs(key) < this.#toldMs - WRITE_MS) {
        await this.remove(key);
      }
    }
  }

  /** Makes a folder and those around it; each is as lasting as the files in it. */
  async #make(folder: string): Promise<void> {
    try {
      if (!await makeFolder(folder)) return;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      await this.#make(dirname(folder));
      // Once: below a link to a disk that is away nothing is found, however often what is around it is made.
      if (!await makeFolder(folder)) return;
    }
    await syncNames(dirname(folder));
  }

  /** The write may have ended meanwhile. */
  async #writtenMs(key: string): Promise<number> {
    return (await ifThere(Deno.stat(`${this.folder}/${key}`)))?.mtime?.getTime() ?? Infinity;
  }

  /** A link is made only where there is no file of the name. */
  async #linkNew(part: string, path: string): Promise<boolean> {
    try {
      await Deno.link(part, path);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return false;
      throw error;
    }
  }

  async *#walk(folder: string): AsyncGenerator<string> {
    const entries = await Array.fromAsync(entriesOf(`${this.folder}/${folder}`));
    // As a bucket lists them: whoever wants the first ones reads no further.
    entries.sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name, isDirectory } of entries) {
      if (isDirectory) yield* this.#walk(`${folder}${name}/`);
      else yield `${folder}${name}`;
    }
  }
}

/** False: it is there already. */
async function makeFolder(folder: string): Promise<boolean> {
  try {
    await Deno.mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

/** What the system says where a file system cannot sync a folder, as some shares, whose server sees to that. */
const UNSUPPORTED: ReadonlySet<unknown> = new Set(["EINVAL", "ENOTSUP", "ENOSYS"]);

/** Brings a folder's list of names to the disk: without it a power failure may take a synced file away again. */
async function syncNames(folder: string): Promise<void> {
  // Windows opens no folder, and writes such lists by itself.
  if (Deno.build.os === "windows") return;
  try {
    using names = await Deno.open(folder);
    await names.sync();
  } catch (error) {
    if (!(error instanceof Error && UNSUPPORTED.has(Reflect.get(error, "code")))) throw error;
  }
}
