// Room that is set aside while there is some: to open a database, SQLite needs a little on the disk even to read, which a
// full one does not give.
import { statfs } from "node:fs/promises";
import { ConfigError } from "../core/errors.ts";
import { folderOf } from "../core/folder_of.ts";
import { openUnlocked } from "./open_unlocked.ts";
import { ifThere } from "./if_there.ts";

/** Bytes that one database takes to be opened: 32 KB for SQLite's index of its log, and a new entry in the folder. */
const OPENING_BYTES = 40 * 1024;
/** How many times its own size must be free before a reserve is set aside: it is not to be what fills the disk. */
const MARGIN = 3;
/** Bytes of random numbers that the system gives at once. */
const RANDOM_BYTES = 65_536;
/** Bytes of different random numbers that a reserve is made of: file systems look for repetitions in far smaller pieces. */
const NOISE_BYTES = 512 * 1024;
/** Bytes of the reserve in which the file of the control plane is opened. */
const KV_RESERVE_BYTES = 512 * 1024;
/** Bytes of the reserve in which tenants' databases are opened to be read: about a hundred. */
const TENANTS_RESERVE_BYTES = 4 * 1024 * 1024;

/** A file that can be made shorter. One object for each file: it alone knows how long that is. */
export class DiskReserve {
  #bytes = 0;

  constructor(private readonly path: string, private readonly wholeBytes: number) {}

  /** Sets the room aside where it is missing and there is plenty. Best effort: without one, more has to wait for room. */
  async fill(): Promise<void> {
    if (this.#bytes === this.wholeBytes) return;
    try {
      this.#bytes = Math.min((await ifThere(Deno.stat(this.path)))?.size ?? 0, this.wholeBytes);
      const missing = this.wholeBytes - this.#bytes;
      if (missing === 0 || await freeBytes(this.path) < missing * MARGIN) return;
      await this.#write();
      this.#bytes = this.wholeBytes;
    } catch {
      // Others were quicker, or a quota is reached: what was taken of the room is given back.
      this.#bytes = 0;
      await Deno.remove(this.path).catch(() => {});
    }
  }

  async #write(): Promise<void> {
    using file = await Deno.open(this.path, { write: true, create: true, truncate: true, mode: 0o600 });
    // Of an odd length: no block of the disk is the same as another.
    const bytes = noise(Math.min(this.wholeBytes, NOISE_BYTES) - 1);
    for (let left = this.wholeBytes; left > 0;) left -= await file.write(bytes.subarray(0, left));
  }

  /** Gives back the room that opening one database takes, or as much as is asked for; false: nothing is left. */
  lend(wanted = OPENING_BYTES): boolean {
    if (this.#bytes === 0) return false;
    const bytes = Math.max(0, this.#bytes - wanted);
    try {
      Deno.truncateSync(this.path, bytes);
      this.#bytes = bytes;
      return true;
    } catch {
      // What cannot be shortened gives no room.
      this.#bytes = 0;
      return false;
    }
  }
}

/** The reserve in the folder of tenants' databases. */
export function tenantsReserve(folder: string): DiskReserve {
  return new DiskReserve(`${folder}/reserve`, TENANTS_RESERVE_BYTES);
}

/**
 * Opens the KV that lies in `folder`, in the room of the reserve where there is no other; the next start with room makes
 * it anew. Throws `ConfigError` where it cannot be opened so either, or is held by somebody else.
 */
export async function openWithReserve(folder: string, open: () => Promise<Deno.Kv>): Promise<Deno.Kv> {
  const reserve = new DiskReserve(`${folder}/reserve`, KV_RESERVE_BYTES);
  await reserve.fill();
  do {
    try {
      return await openUnlocked(open);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      // The reserve may be what is missing; without one it is told below.
    }
  } while (reserve.lend(KV_RESERVE_BYTES));
  throw new ConfigError(
    "Make room on the disk of DATA_DIR, let this process write there, or bring kv.sqlite3 back from a backup; it could not be opened",
  );
}

/** Numbers that no file system packs. */
function noise(bytes: number): Uint8Array<ArrayBuffer> {
  const room = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += RANDOM_BYTES) {
    crypto.getRandomValues(room.subarray(at, Math.min(bytes, at + RANDOM_BYTES)));
  }
  return room;
}

/** Bytes that are free for this process on the disk that the file is on. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(folderOf(path));
  return bavail * bsize;
}
