// The child's standard output: bytes in pieces that are long enough. A write waits until the service has taken what was
// written before, so that a slow client holds nothing but its own child.
const encoder = new TextEncoder();
const PIECE = 256 * 1024;

/** Writes text and bytes. */
export class TextOut {
  readonly #buffer = new Uint8Array(PIECE * 2);
  #filled = 0;

  text(text: string): void {
    if (text.length * 3 > PIECE) return this.bytes(encoder.encode(text));
    if (this.#filled + text.length * 3 > this.#buffer.length) this.flush();
    this.#filled += encoder.encodeInto(text, this.#buffer.subarray(this.#filled)).written;
    if (this.#filled > PIECE) this.flush();
  }

  bytes(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > this.#buffer.length) this.flush();
    if (bytes.length > this.#buffer.length) return write(bytes);
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
    if (this.#filled > PIECE) this.flush();
  }

  flush(): void {
    write(this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }
}

function write(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
}
