// The frames that an engine child sends, out of the chunks in which they come.
import { HEAD_END, LONG_FRAME, type Reply } from "../child/protocol.ts";

/** A frame from a child. */
export interface ReplyFrame {
  readonly reply: Reply;
  /** The row texts, end to end; the reply holds their lengths. */
  readonly text: string;
  /** Present in place of the text where those lengths count bytes; nobody else uses this memory. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Gives the memory of a long frame back, for the next one. */
  readonly giveBack?: () => void;
}

const HEAD_END_BYTE = HEAD_END.charCodeAt(0);
const decoder = new TextDecoder();
/** Bytes of a buffer that is kept for the next long frame at most. */
const SPARE_BYTES = 1 << 20;

/** Collects chunks and hands out whole frames. */
export class FrameReader {
  readonly #ordinary = new Uint8Array(LONG_FRAME);
  /** The ordinary buffer, or one that was made for a long frame. */
  #buffer = this.#ordinary;
  /** A buffer of a long frame that is free again: new memory for each would be collected several times a second. */
  #spare: Uint8Array<ArrayBuffer> | null = null;
  #filled = 0;

  /** Adds a chunk; returns the frames that are complete now. */
  push(chunk: Uint8Array): ReplyFrame[] {
    if (this.#filled + chunk.length > this.#buffer.length) this.#grow(this.#filled + chunk.length);
    this.#buffer.set(chunk, this.#filled);
    this.#filled += chunk.length;
    const frames: ReplyFrame[] = [];
    const view = new DataView(this.#buffer.buffer);
    let start = 0;
    while (this.#filled - start >= 4) {
      const end = start + 4 + view.getUint32(start);
      if (end > this.#filled) break;
      frames.push(replyFrame(this.#buffer.subarray(start + 4, end)));
      start = end;
    }
    if (start > 0 && this.#buffer !== this.#ordinary) this.#lend(frames);
    if (start > 0) this.#keepFrom(start);
    return frames;
  }

  /** Lets a long frame that is alone in its buffer give that back, once. */
  #lend(frames: ReplyFrame[]): void {
    const [long, other] = frames.filter(({ bytes }) => bytes !== undefined);
    let buffer: Uint8Array<ArrayBuffer> | null = this.#buffer;
    if (!long || other || buffer.length > SPARE_BYTES) return;
    const giveBack = () => {
      this.#spare = buffer ?? this.#spare;
      buffer = null;
    };
    frames[frames.indexOf(long)] = { ...long, giveBack };
  }

  /** Keeps what has come of the next frame. A buffer for a long frame belongs to that frame now. */
  #keepFrom(start: number): void {
    const left = this.#filled - start;
    if (this.#buffer === this.#ordinary) this.#buffer.copyWithin(0, start, this.#filled);
    else {
      const next = left <= LONG_FRAME ? this.#ordinary : new Uint8Array(left);
      next.set(this.#buffer.subarray(start, this.#filled));
      this.#buffer = next;
    }
    this.#filled = left;
  }

  #grow(needed: number): void {
    // The head of a frame tells how long it is, so that the buffer need not grow step by step.
    const frame = this.#filled < 4 ? 0 : 4 + new DataView(this.#buffer.buffer).getUint32(0);
    const length = Math.max(needed, frame || this.#buffer.length * 2);
    const spare = this.#spare;
    this.#spare = null;
    const grown = spare !== null && spare.length >= length ? spare : new Uint8Array(roomFor(length));
    grown.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = grown;
  }
}

/** Frames of one statement differ a little in their length. */
function roomFor(length: number): number {
  return Math.ceil(length / LONG_FRAME) * LONG_FRAME;
}

/** Guarantee: the child runs the service's own code and is the only writer of this pipe. */
function replyFrame(frame: Uint8Array<ArrayBuffer>): ReplyFrame {
  if (frame.length < LONG_FRAME) {
    const whole = decoder.decode(frame);
    const end = whole.indexOf(HEAD_END);
    return { reply: JSON.parse(whole.slice(0, end)), text: whole.slice(end + 1) };
  }
  const end = frame.indexOf(HEAD_END_BYTE);
  const reply: Reply = JSON.parse(decoder.decode(frame.subarray(0, end)));
  const rest = frame.subarray(end + 1);
  return reply.t === "outcomes" && reply.utf8
    ? { reply, text: "", bytes: rest }
    : { reply, text: decoder.decode(rest) };
}
