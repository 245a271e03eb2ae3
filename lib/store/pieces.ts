// Values larger than Deno KV takes, stored in pieces (at most 64 KiB a value, 800 KiB a commit).
import { joined } from "../core/joined.ts";
import type { Key } from "./keys.ts";
import { kvCall, kvCommit } from "./kv_call.ts";

/** The most bytes of a piece. */
export const PIECE_BYTES = 60 * 1024;
const PIECES_IN_COMMIT = 10;
/** The most keys that `getMany` takes. */
const PIECES_IN_READ = 10;

/** Writes the pieces and answers their number. Nobody else may know their keys yet. Errors: `meter_unreachable`. */
export async function writePieces(
  kv: Deno.Kv,
  value: Uint8Array,
  options: { readonly key: (piece: number) => Key<Uint8Array>; readonly expireIn: number },
): Promise<number> {
  const pieces = Math.max(1, Math.ceil(value.length / PIECE_BYTES));
  for (let start = 0; start < pieces; start += PIECES_IN_COMMIT) {
    const atomic = kv.atomic();
    for (let piece = start; piece < Math.min(pieces, start + PIECES_IN_COMMIT); piece++) {
      const bytes = value.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      atomic.set(options.key(piece), bytes, { expireIn: options.expireIn });
    }
    await kvCommit(atomic);
  }
  return pieces;
}

/** The value, or null when a piece is missing. Errors: `meter_unreachable`. */
export async function readPieces(
  kv: Deno.Kv,
  pieces: number,
  key: (piece: number) => Key<Uint8Array>,
): Promise<Uint8Array | null> {
  const found: Uint8Array[] = [];
  for (let start = 0; start < pieces; start += PIECES_IN_READ) {
    const wanted = Array.from(
      { length: Math.min(PIECES_IN_READ, pieces - start) },
      (_, at) => key(start + at),
    );
    const entries = await kvCall(() => kv.getMany<Uint8Array[]>(wanted));
    for (const { value } of entries) {
      if (value === null) return null;
      found.push(value);
    }
  }
  return joined(found);
}

/** Removes a value that nobody reads. Errors: `meter_unreachable`. */
export async function dropPieces(
  kv: Deno.Kv,
  pieces: number,
  key: (piece: number) => Key<Uint8Array>,
): Promise<void> {
  const atomic = kv.atomic();
  for (let piece = 0; piece < pieces; piece++) atomic.delete(key(piece));
  await kvCommit(atomic);
}
