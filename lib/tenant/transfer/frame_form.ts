// How items travel from the child that reads a file, through the service, to the child that builds one. A frame is a 4-byte
// big-endian length, a kind, and that many bytes of JSON.

/** Rows, which the service passes on unread, and everything else, which it looks at. */
export const ROWS_FRAME = 0x52;
export const ITEM_FRAME = 0x4a;
/** Bytes in front of a frame's JSON. */
export const FRAME_HEAD = 5;
/** A length that stands for the end of all frames: a reader that was stopped has not written it. */
export const END = 0xffff_ffff;

/** Makes a frame. */
export function frameBytes(kind: number, json: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(json);
  const frame = new Uint8Array(FRAME_HEAD + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame[4] = kind;
  frame.set(bytes, FRAME_HEAD);
  return frame;
}

/** The end of all frames. */
export function endBytes(): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(FRAME_HEAD);
  new DataView(frame.buffer).setUint32(0, END);
  return frame;
}
