// The frames of a client's WebSocket (RFC 6455, section 5): those that it sends are masked, those of a server are not.
import { joined } from "../../../core/joined.ts";

/** What a server's frames say; a pong says nothing. */
export type Heard =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "ping"; readonly payload: Uint8Array<ArrayBuffer> }
  | { readonly kind: "close" };

const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const FINAL = 0x80;
const MASKED = 0x80;
const RESERVED = 0x70;
/** Bytes that a control frame may carry. */
const MAX_CONTROL_BYTES = 125;
/** Bytes of the buffer that is used again for what arrives. */
const BUFFER_BYTES = 65_536;
/** Masks that are drawn at a time. */
const MASKS = 1024;
/** Bytes of a mask. */
const WORD_BYTES = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A whole message. */
export function textFrame(text: string): Uint8Array<ArrayBuffer> {
  return clientFrame(TEXT, encoder.encode(text));
}

/** The answer to a ping. */
export function pongFrame(payload: Uint8Array): Uint8Array<ArrayBuffer> {
  return clientFrame(PONG, payload);
}

/** The payload begins at a whole word, so that it is masked by words: a fifth of the time that bytes take. */
function clientFrame(opcode: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const { length } = payload;
  const lengthBytes = length <= MAX_CONTROL_BYTES ? 0 : length <= 0xffff ? 2 : 8;
  const start = 2 + lengthBytes + WORD_BYTES;
  const unused = (WORD_BYTES - start % WORD_BYTES) % WORD_BYTES;
  const first = (unused + start) / WORD_BYTES;
  const words = new Uint32Array(first + Math.ceil(length / WORD_BYTES));
  const frame = new Uint8Array(words.buffer, unused, start + length);
  frame[0] = FINAL | opcode;
  frame[1] = MASKED | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  const view = new DataView(words.buffer, unused);
  if (lengthBytes === 2) view.setUint16(2, length);
  else if (lengthBytes === 8) view.setBigUint64(2, BigInt(length));
  frame.set(payload, start);
  const mask = nextMask();
  words[first - 1] = mask;
  for (let at = first; at < words.length; at++) words[at] = (words[at] ?? 0) ^ mask;
  return frame;
}

const masks = new Uint32Array(MASKS);
let masksUsed = MASKS;

/** Nobody can foresee a mask. */
function nextMask(): number {
  if (masksUsed === MASKS) {
    crypto.getRandomValues(masks);
    masksUsed = 0;
  }
  return masks[masksUsed++] ?? 0;
}

/** Where a frame lies in the buffer. */
interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Uint8Array<ArrayBuffer>;
  readonly end: number;
}

/** What comes from a server, whatever pieces it comes in. `maxBytes`: of a message. */
export class ServerFrames {
  #buffer = new Uint8Array(BUFFER_BYTES);
  #filled = 0;
  /** Bytes of the frame that has begun, where that is known. */
  #wanted = 0;
  /** Of a message in several frames; null: none has begun. */
  #parts: Uint8Array<ArrayBuffer>[] | null = null;
  #partsBytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns what is whole now. Throws `RangeError` on what no server may send, a message of bytes too, `TypeError` on what is no UTF-8. */
  push(chunk: Uint8Array): Heard[] {
    this.#add(chunk);
    const heard: Heard[] = [];
    let start = 0;
    for (let frame = this.#frameAt(0); frame !== null; frame = this.#frameAt(start)) {
      const said = this.#read(frame);
      if (said !== null) heard.push(said);
      start = frame.end;
    }
    this.#dropTo(start);
    return heard;
  }

  #add(chunk: Uint8Array): void {
    const needed = this.#filled + chunk.length;
    if (needed > this.#buffer.length) {
      // What a frame says of its length is believed up to twice of what has come.
      const longer = new Uint8Array(Math.max(needed, Math.min(this.#wanted, 2 * needed)));
      longer.set(this.#buffer.subarray(0, this.#filled));
      this.#buffer = longer;
    }
    this.#buffer.set(chunk, this.#filled);
    this.#filled = needed;
  }

  #dropTo(start: number): void {
    if (start === 0) return;
    const left = this.#buffer.subarray(start, this.#filled);
    if (this.#buffer.length > BUFFER_BYTES && left.length <= BUFFER_BYTES) {
      this.#buffer = new Uint8Array(BUFFER_BYTES);
      this.#buffer.set(left);
    } else this.#buffer.copyWithin(0, start, this.#filled);
    this.#filled = left.length;
  }

  /** Null: it is not whole yet. */
  #frameAt(start: number): Frame | null {
    this.#wanted = 0;
    const view = new DataView(this.#buffer.buffer, start, this.#filled - start);
    if (view.byteLength < 2) return null;
    const [first, second] = [view.getUint8(0), view.getUint8(1)];
    const short = second & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (view.byteLength < head) return null;
    const length = head === 2 ? short : head === 4 ? view.getUint16(2) : Number(view.getBigUint64(2));
    const opcode = first & 0x0f;
    const isFinal = (first & FINAL) !== 0;
    if ((first & RESERVED) !== 0 || (second & MASKED) !== 0) throw new RangeError("not a server's frame");
    if (opcode >= CLOSE && (length > MAX_CONTROL_BYTES || !isFinal)) throw new RangeError("a control frame");
    if (length > this.maxBytes) throw new RangeError("a message too long");
    this.#wanted = head + length;
    if (view.byteLength < this.#wanted) return null;
    const end = start + this.#wanted;
    return { opcode, isFinal, payload: this.#buffer.subarray(end - length, end), end };
  }

  #read({ opcode, isFinal, payload }: Frame): Heard | null {
    if (opcode === CLOSE) return { kind: "close" };
    if (opcode === PING) return { kind: "ping", payload: payload.slice() };
    if (opcode === PONG) return null;
    if (opcode !== (this.#parts === null ? TEXT : CONTINUATION)) throw new RangeError("not a text");
    if (isFinal && this.#parts === null) return { kind: "text", text: decoder.decode(payload) };
    this.#partsBytes += payload.length;
    if (this.#partsBytes > this.maxBytes) throw new RangeError("a message too long");
    const parts = this.#parts ??= [];
    parts.push(payload.slice());
    if (!isFinal) return null;
    this.#parts = null;
    this.#partsBytes = 0;
    return { kind: "text", text: decoder.decode(joined(parts)) };
  }
}
