// Look-ups by key in copies of small files at rest: where there is no room for one more connection, a file is read as a whole,
// which takes a fourth of what an engine child takes to open it.
import { existsSync } from "node:fs";
import type { Lookup, LookupColumns, LookupImages } from "../../engine/lookup_connection.ts";

/** Bytes of the longest file that is copied. */
const MAX_IMAGE_BYTES = 256 * 1024;
/** Of the head of a file: its length, and where it says that it has no log, and which number its schema has (sqlite.org/fileformat.html, 1.3). */
const HEAD_BYTES = 100;
const FORMS_AT = 18;
const WITHOUT_LOG = 0x0101;
const SCHEMA_VERSION_AT = 40;

/** Holds the copy of the file that was read last. */
export class FileImages {
  readonly #bytes = new Uint8Array(MAX_IMAGE_BYTES + 1);
  readonly #head = new DataView(this.#bytes.buffer, 0, HEAD_BYTES);

  constructor(readonly connection: LookupImages) {}

  /**
   * The look-up, compiled in a copy of the file at `path`, whose write slot nobody has; null where it is not at rest, too long or
   * of another schema. `columns`: those that the look-up had under it before. Throws what the engine or the file system throws, or where the read cannot be proven.
   */
  compile(
    path: string,
    sql: string,
    { schemaVersion, columns }: { readonly schemaVersion: number; readonly columns: LookupColumns | null },
  ): Lookup | null {
    const length = this.#read(path);
    const isRead = length >= HEAD_BYTES && this.#head.getUint16(FORMS_AT) === WITHOUT_LOG &&
      this.#head.getInt32(SCHEMA_VERSION_AT) === schemaVersion;
    return isRead ? this.connection.compile(this.#bytes.subarray(0, length), sql, columns) : null;
  }

  /** How many bytes have been read; 0: the file is not at rest, or too long. */
  #read(path: string): number {
    const before = Deno.statSync(path);
    if (!before.isFile || before.size > MAX_IMAGE_BYTES) return 0;
    using file = Deno.openSync(path);
    let length = 0;
    for (;;) {
      const read = file.readSync(this.#bytes.subarray(length));
      if (!read) break;
      length += read;
    }
    // A child or another program may have begun to write into it, or ended by a kill while it did.
    const after = file.statSync();
    const isSame = after.size === length && after.ino === before.ino &&
      after.mtime?.getTime() === before.mtime?.getTime();
    const isAtRest = isSame && !existsSync(`${path}-journal`) && !existsSync(`${path}-wal`);
    return isAtRest ? length : 0;
  }
}
