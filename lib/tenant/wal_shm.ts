// The head of the index of a SQLite write-ahead log (the file `-shm`): how far its readers read the log at this moment. Source:
// "WAL-Mode File Format", 2.1, https://www.sqlite.org/walformat.html

/** Bytes of the head, which stands there twice. */
export const WAL_INDEX_BYTES = 96;
const COPY_BYTES = 48;
const VERSION = 3_007_000;
/** The longest page has a length that its field cannot hold. */
const LONGEST_PAGE = 65_536;

/** What readers see of the log. */
export interface WalIndex {
  readonly pageBytes: number;
  /** Frames up to the last one that ends a transaction. */
  readonly frames: number;
  /** Pages that the database has with them. */
  readonly pages: number;
  /** The two salts of the log, as 16 hexadecimal digits. */
  readonly salts: string;
}

/** Reads the head; null: it is being changed, or has another form. */
export function readWalIndex(bytes: Uint8Array<ArrayBuffer>): WalIndex | null {
  if (bytes.length < WAL_INDEX_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, WAL_INDEX_BYTES);
  // Numbers are in the order of the machine, and where that is another one the version is none.
  if (view.getUint32(0, true) !== VERSION || view.getUint8(12) === 0) return null;
  for (let at = 0; at < COPY_BYTES; at += 4) {
    if (view.getUint32(at) !== view.getUint32(at + COPY_BYTES)) return null;
  }
  const page = view.getUint16(14, true);
  return {
    pageBytes: page === 1 ? LONGEST_PAGE : page,
    frames: view.getUint32(16, true),
    pages: view.getUint32(20, true),
    salts: bytes.subarray(32, 40).toHex(),
  };
}
