// Look-ups by key in copies of small files. Where there is no room for one more connection, the service reads a file and its log
// as a whole: an engine child takes four times as long to open the file.
import { existsSync } from "node:fs";
import type { Lookup, LookupColumns, LookupImages } from "../../../engine/lookup_connection.ts";
import { FRAME_HEAD_BYTES, WAL_HEAD_BYTES } from "../../wal_frames.ts";
import { readWalIndex, WAL_INDEX_BYTES, type WalIndex } from "../../wal_shm.ts";

/** Bytes of the longest file that is copied, and of the longest log. */
const MAX_IMAGE_BYTES = 256 * 1024;
const MAX_LOG_BYTES = 128 * 1024;
/**
 * Of the head of a file: its length, where it says in two bytes whether it has a log, and where the number of its schema stands
 * (sqlite.org/fileformat.html, 1.3).
 */
const HEAD_BYTES = 100;
const FORMS_AT = 18;
const WITHOUT_LOG = 0x0101;
const WITH_LOG = 0x0202;
const SCHEMA_VERSION_AT = 40;

/** Holds the copy of the file that was read last. */
export class FileImages {
  readonly #bytes = new Uint8Array(MAX_IMAGE_BYTES + 1);
  readonly #head = new DataView(this.#bytes.buffer, 0, HEAD_BYTES);
  readonly #log = new Uint8Array(MAX_LOG_BYTES);
  readonly #frames = new DataView(this.#log.buffer);

  constructor(readonly connection: LookupImages) {}

  /**
   * The look-up, compiled in a copy of the file at `path`, whose write slot nobody has; null where it is too long, of another
   * schema, or just being changed. `columns`: those that the look-up had under it before. Throws what the engine or the file
   * system throws, or where the read cannot be proven.
   */
  compile(
    path: string,
    sql: string,
    { schemaVersion, columns }: { readonly schemaVersion: number; readonly columns: LookupColumns | null },
  ): Lookup | null {
    const length = existsSync(`${path}-wal`) ? this.#readWithLog(path) : this.#readAlone(path);
    if (length < HEAD_BYTES || this.#head.getInt32(SCHEMA_VERSION_AT) !== schemaVersion) return null;
    // In memory there is no log.
    this.#head.setUint16(FORMS_AT, WITHOUT_LOG);
    return this.connection.compile(this.#bytes.subarray(0, length), sql, columns);
  }

  /** Reads a file without a log. How many bytes; 0: it is too long, or somebody has written into it meanwhile. */
  #readAlone(path: string): number {
    const before = Deno.statSync(path);
    if (!before.isFile || before.size > MAX_IMAGE_BYTES) return 0;
    using file = Deno.openSync(path);
    const length = readWhole(file, this.#bytes);
    const form = length < HEAD_BYTES ? 0 : this.#head.getUint16(FORMS_AT);
    // A child or another program may have begun to write into it, or ended by a kill while it did.
    const after = file.statSync();
    const isSame = after.size === length && after.ino === before.ino &&
      after.mtime?.getTime() === before.mtime?.getTime();
    const isWhole = isSame && !existsSync(`${path}-journal`) && !existsSync(`${path}-wal`);
    return isWhole && (form === WITHOUT_LOG || form === WITH_LOG) ? length : 0;
  }

  /**
   * Reads a file and what its readers see of its log. How many bytes; 0 as above. Only a writer adds to the log, or begins it again,
   * and then the index changes too. What somebody folds into the file meanwhile stands in the log as well.
   */
  #readWithLog(path: string): number {
    const before = readIndex(path);
    const index = before && readWalIndex(before);
    if (before === null || index === null || !this.#readLog(path, index)) return 0;
    using file = openFile(path);
    if (file === null) return 0;
    const read = readWhole(file, this.#bytes);
    const length = index.frames === 0 ? read : index.pages * index.pageBytes;
    if (length > MAX_IMAGE_BYTES) return 0;
    // Nothing of the file that was read before is left where the log would not tell of a page.
    if (read < length) this.#bytes.fill(0, read, length);
    if (!this.#applyLog(index, length)) return 0;
    const after = readIndex(path);
    const isSame = after !== null && before.every((byte, at) => byte === after[at]);
    return isSame && !existsSync(`${path}-journal`) ? length : 0;
  }

  /** Whether the frames that the index tells of have been read. */
  #readLog(path: string, { frames, pageBytes }: WalIndex): boolean {
    const bytes = WAL_HEAD_BYTES + frames * (FRAME_HEAD_BYTES + pageBytes);
    if (bytes > MAX_LOG_BYTES) return false;
    if (frames === 0) return true;
    using log = openFile(`${path}-wal`);
    return log !== null && readWhole(log, this.#log.subarray(0, bytes)) === bytes;
  }

  /** Puts the pages of the log over those of the file; false: it is not the log of the index. */
  #applyLog({ frames, pageBytes, pages, salts }: WalIndex, length: number): boolean {
    const [first, second] = [parseInt(salts.slice(0, 8), 16), parseInt(salts.slice(8), 16)];
    const frameBytes = FRAME_HEAD_BYTES + pageBytes;
    for (let frame = 0; frame < frames; frame++) {
      const at = WAL_HEAD_BYTES + frame * frameBytes;
      const isOwn = this.#frames.getUint32(at + 8) === first && this.#frames.getUint32(at + 12) === second;
      if (!isOwn || (frame === frames - 1 && this.#frames.getUint32(at + 4) !== pages)) return false;
      const end = this.#frames.getUint32(at) * pageBytes;
      // A later frame may have made the database shorter.
      if (end <= length) {
        this.#bytes.set(this.#log.subarray(at + FRAME_HEAD_BYTES, at + frameBytes), end - pageBytes);
      }
    }
    return true;
  }
}

/** The head of the index of the log; null: there is none. */
function readIndex(path: string): Uint8Array<ArrayBuffer> | null {
  using index = openFile(`${path}-shm`);
  const bytes = new Uint8Array(WAL_INDEX_BYTES);
  return index !== null && readWhole(index, bytes) === bytes.length ? bytes : null;
}

/** Null: there is none, or it is something else, which may never let itself be read. */
function openFile(path: string): Deno.FsFile | null {
  return existsSync(path) && Deno.statSync(path).isFile ? Deno.openSync(path) : null;
}

/** Reads a file until it or the room ends; says how many bytes. */
function readWhole(file: Deno.FsFile, room: Uint8Array): number {
  let length = 0;
  while (length < room.length) {
    const read = file.readSync(room.subarray(length));
    if (!read) break;
    length += read;
  }
  return length;
}
