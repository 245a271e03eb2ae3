// How many pages of its file an open connection may cache, and what that takes. A reader begins with few: what look-ups
// read again and again, for most of them have no more. A child then keeps thousands of files open in the same memory.
import type { Connection } from "../../../engine/connection.ts";

/** Memory of an open connection without its cache (measured), and the most that a cache may have. */
const CONNECTION_BYTES = 84 * 1024;
const CACHE_BYTES = 2 * 1024 * 1024;
/** The same of a reader that has not been used much. */
export const NARROW_BYTES = 40 * 1024;
/**
 * The same of a writer while it works. A large change goes through the pages of an index in any order, and each that has no room
 * is written to the log and read again, as often as it is changed.
 */
const WORKING_BYTES = 64 * 1024 * 1024;

/** Descriptors of the first connection (file, log, index of the log), and of a second one. */
const FIRST_DESCRIPTORS = 3;
const SECOND_DESCRIPTORS = 2;

/** The open connections of a file. */
interface Open {
  readonly reader: Connection | null;
  readonly writer: Connection | null;
  /** The reader may have a large cache. */
  readonly isWide: boolean;
}

/** The most memory that they take, and their file descriptors. */
export function heldBy(
  { reader, writer, isWide }: Open,
  fileBytes: number,
): { readonly bytes: number; readonly descriptors: number } {
  const ofReader = CONNECTION_BYTES + Math.min(isWide ? CACHE_BYTES : NARROW_BYTES, fileBytes);
  // With less, a writer would write the pages of a long transaction twice.
  const ofWriter = CONNECTION_BYTES + Math.min(CACHE_BYTES, fileBytes);
  const first = reader || writer ? FIRST_DESCRIPTORS : 0;
  return {
    bytes: (reader ? ofReader : 0) + (writer ? ofWriter : 0),
    descriptors: first + (reader && writer ? SECOND_DESCRIPTORS : 0),
  };
}

/** Lets a reader cache many pages, or few, which frees the others at once. Throws what the engine throws. */
export function sizeCache(reader: Connection, isWide: boolean): void {
  setCache(reader, isWide ? CACHE_BYTES : NARROW_BYTES);
}

/** The cache of a file's writer, which is larger while that works. What an open transaction has changed stays in it. */
export class WriterCache {
  #working: Connection | null = null;

  /** Throws what the engine throws. */
  beginWork(writer: Connection, fileBytes: number): void {
    if (writer === this.#working || fileBytes <= CACHE_BYTES) return;
    setCache(writer, WORKING_BYTES);
    this.#working = writer;
  }

  /** Frees what has been cached meanwhile. */
  endWork(): void {
    const writer = this.#working;
    this.#working = null;
    try {
      if (writer?.database.isOpen) setCache(writer, CACHE_BYTES);
    } catch {
      // Damage, or a failure of the disk: whoever writes the file next meets it.
    }
  }
}

/** The engine keeps the rows of a schema change in as much memory as well, where more of them take longer to sort. */
export function narrowForSchema(writer: Connection): void {
  setCache(writer, CACHE_BYTES);
}

function setCache({ database }: Connection, bytes: number): void {
  database.exec(`PRAGMA cache_size=-${bytes / 1024}`);
}
