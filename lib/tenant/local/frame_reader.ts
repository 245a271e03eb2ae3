// Cuts the byte stream of an engine child into frames.

/** Collects chunks and hands out whole frames as text. */
export class FrameReader {
  #buffer = new Uint8Array(1 << 16);
  #filled = 0;
  readonly #decoder = new TextDecoder();

  /** Adds a chunk; returns the frames that are complete now. */
  push(chunk: Uint8Array): string[] {
    if (this.#filled + chunk.length > this.#buffer.length) this.#grow(this.#filled + chunk.length);
    this.#buffer.set(chunk, this.#filled);
    this.#filled += chunk.length;
    const frames: string[] = [];
    const view = new DataView(this.#buffer.buffer);
    let start = 0;
    while (this.#filled - start >= 4) {
      const end = start + 4 + view.getUint32(start);
      if (end > this.#filled) break;
      frames.push(this.#decoder.decode(this.#buffer.subarray(start + 4, end)));
      start = end;
    }
    if (start > 0) {
      this.#buffer.copyWithin(0, start, this.#filled);
      this.#filled -= start;
    }
    return frames;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = grown;
  }
}
