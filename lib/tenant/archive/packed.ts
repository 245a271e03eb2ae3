// Objects are gzip in members of a piece each, so that packing never holds the event loop for more than some milliseconds.
import { gunzipSync, gzipSync } from "node:zlib";

/** Bytes of a member; level 1 packs some 300 MB/s. */
const MEMBER_BYTES = 256 * 1024;

/** Packs bytes. */
export async function pack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const members: Uint8Array[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += MEMBER_BYTES) {
    members.push(gzipSync(bytes.subarray(at, at + MEMBER_BYTES), { level: 1 }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const packed = new Uint8Array(members.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const member of members) {
    packed.set(member, at);
    at += member.length;
  }
  return packed;
}

/** Unpacks what `pack` has packed, of at most `mostBytes`. Throws where it is something else. */
export function unpack(bytes: Uint8Array, mostBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gunzipSync(bytes, { maxOutputLength: mostBytes }));
}
