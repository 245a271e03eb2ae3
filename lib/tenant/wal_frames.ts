// The frames of a SQLite write-ahead log: their checksums, and which of them end transactions. Source: "WAL-mode File
// Format", https://www.sqlite.org/walformat.html

/** Bytes of the head of a log, and of the head of each frame. */
export const WAL_HEAD_BYTES = 32;
export const FRAME_HEAD_BYTES = 24;

/** The head of a log. */
export interface WalHead {
  readonly pageBytes: number;
  /** The two salts, as 16 hexadecimal digits: each frame of this log repeats them. */
  readonly salts: string;
  /** Checksums are of big-endian words. */
  readonly bigEndian: boolean;
  readonly sum: WalSum;
}

/** A running checksum. */
export type WalSum = readonly [number, number];

const MAGIC = 0x377f0682;

/** Reads the head of a log; null: it is none, or not whole. */
export function readWalHead(bytes: Uint8Array<ArrayBuffer>): WalHead | null {
  if (bytes.length < WAL_HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, WAL_HEAD_BYTES);
  const magic = view.getUint32(0);
  if (magic !== MAGIC && magic !== MAGIC + 1) return null;
  const bigEndian = magic === MAGIC + 1;
  const sum = addToSum([0, 0], view, [0, 24], bigEndian);
  if (sum[0] !== view.getUint32(24) || sum[1] !== view.getUint32(28)) return null;
  return { pageBytes: view.getUint32(8), salts: bytes.subarray(16, 24).toHex(), bigEndian, sum };
}

/** Frames in a row. */
export interface WalWalk {
  /** How many of them are whole, of this log and in their order. */
  readonly frames: number;
  /** The checksum after them. */
  readonly sum: WalSum;
  /** Those that end a transaction: frames up to and with it, pages that the database has then. */
  readonly commits: readonly { readonly frames: number; readonly pages: number }[];
}

/** Reads the frames with which `bytes` begins; `sum` is the checksum of the frame before. */
export function walkFrames(
  bytes: Uint8Array<ArrayBuffer>,
  head: Omit<WalHead, "sum">,
  sum: WalSum,
): WalWalk {
  const frameBytes = FRAME_HEAD_BYTES + head.pageBytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const commits: { frames: number; pages: number }[] = [];
  const first = parseInt(head.salts.slice(0, 8), 16);
  const second = parseInt(head.salts.slice(8), 16);
  let frames = 0;
  for (; (frames + 1) * frameBytes <= bytes.length; frames++) {
    const at = frames * frameBytes;
    if (view.getUint32(at + 8) !== first || view.getUint32(at + 12) !== second) break;
    const headSum = addToSum(sum, view, [at, at + 8], head.bigEndian);
    const next = addToSum(headSum, view, [at + FRAME_HEAD_BYTES, at + frameBytes], head.bigEndian);
    if (next[0] !== view.getUint32(at + 16) || next[1] !== view.getUint32(at + 20)) break;
    sum = next;
    const pages = view.getUint32(at + 4);
    if (pages > 0) commits.push({ frames: frames + 1, pages });
  }
  return { frames, sum, commits };
}

function addToSum(
  [first, second]: WalSum,
  view: DataView,
  [from, to]: readonly [number, number],
  bigEndian: boolean,
): WalSum {
  let a = first;
  let b = second;
  for (let at = from; at < to; at += 8) {
    a = (a + view.getUint32(at, !bigEndian) + b) >>> 0;
    b = (b + view.getUint32(at + 4, !bigEndian) + a) >>> 0;
  }
  return [a, b];
}
