// Objects are zstd: pages of a log that are written again and again make up most of it, and its window finds them.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** Packs bytes, some 2 GB/s. */
export function pack(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }));
}

/** Unpacks what `pack` has packed, of at most `mostBytes`. Throws where it is something else. */
export function unpack(bytes: Uint8Array, mostBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(zstdDecompressSync(bytes, { maxOutputLength: mostBytes }));
}
