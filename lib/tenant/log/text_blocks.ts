// Texts that wait for long, as bytes in arrays that are used again. V8 counts the memory of arrays, and marks all objects of the
// service when that has grown by some megabytes; new arrays for all packs of log rows would grow so much in seconds.

/** Sizes of blocks are multiples of so many bytes. */
const STEP_BYTES = 512;
/** Bytes of all free blocks that are kept at most, and of the largest one. */
const FREE_BYTES = 1024 * 1024;
const LARGEST_BYTES = 64 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A text at the beginning of a block. */
export interface WrittenText {
  readonly block: Uint8Array;
  readonly length: number;
}

/** The blocks of a process. */
export class TextBlocks {
  readonly #free = new Map<number, Uint8Array[]>();
  #freeBytes = 0;

  /** Writes the text into a block, which is the caller's until `giveBack`. */
  write(text: string): WrittenText {
    // Most texts are ASCII.
    const block = this.#take(text.length);
    const { read, written } = encoder.encodeInto(text, block);
    if (read === text.length) return { block, length: written };
    this.giveBack(block);
    const bytes = encoder.encode(text);
    const larger = this.#take(bytes.length);
    larger.set(bytes);
    return { block: larger, length: bytes.length };
  }

  /** The next texts may be written over the one in it. */
  giveBack(block: Uint8Array): void {
    const size = block.length;
    if (size > LARGEST_BYTES || this.#freeBytes + size > FREE_BYTES) return;
    const alike = this.#free.get(size);
    if (alike) alike.push(block);
    else this.#free.set(size, [block]);
    this.#freeBytes += size;
  }

  #take(length: number): Uint8Array {
    const size = Math.max(1, Math.ceil(length / STEP_BYTES)) * STEP_BYTES;
    const block = this.#free.get(size)?.pop();
    if (block === undefined) return new Uint8Array(size);
    this.#freeBytes -= size;
    return block;
  }
}

/** The text that was written. */
export function readText({ block, length }: WrittenText): string {
  return decoder.decode(block.subarray(0, length));
}
