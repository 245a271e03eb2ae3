// Reads one answer of HTTP/1.1 off a connection (RFC 9112).
import { joined } from "../../../core/joined.ts";

/** An answer with all of its body. */
export interface HttpAnswer {
  readonly status: number;
  /** The server's time in unix milliseconds; NaN: it does not tell. */
  readonly serverMs: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the connection can take another request. */
  readonly stays: boolean;
}

/** Bytes that a line of the head or of a chunk, and all lines of a head, may have. */
const MAX_LINE_BYTES = 16_384;
const MAX_HEAD_LINES = 200;
/** Bytes that a body may have: no batch of the service's comes near it. */
const MAX_BODY_BYTES = 1_000_000_000;

/** What arrives on a connection; null: it was closed. */
export type NextBytes = () => Promise<Uint8Array<ArrayBuffer> | null>;

/** Throws `RangeError` on what is no answer, or breaks off. */
export async function readHttpAnswer(next: NextBytes): Promise<HttpAnswer> {
  const reader = new Reader(next);
  for (;;) {
    const { status, version, headers } = await readHead(reader);
    if (status < 200) continue;
    if ((headers.get("content-encoding") ?? "identity") !== "identity") throw new RangeError("encoded");
    const sized = headers.get("content-length");
    const chunked = headers.get("transfer-encoding")?.toLowerCase() === "chunked";
    if (headers.has("transfer-encoding") && (!chunked || sized !== undefined)) throw new RangeError("length");
    const ends = chunked || sized !== undefined || status === 204 || status === 304;
    const bytes = chunked
      ? await readChunks(reader)
      : ends
      ? await reader.take(lengthOf(sized ?? "0", /^\d+$/, 10))
      : await reader.rest();
    const stays = ends && version === "1.1" && reader.left.length === 0 &&
      !/\bclose\b/i.test(headers.get("connection") ?? "");
    return { status, serverMs: Date.parse(headers.get("date") ?? ""), bytes, stays };
  }
}

/** The answer to a request that is to change the protocol, and what came behind its head. Throws as `readHttpAnswer`. */
export async function readUpgrade(next: NextBytes): Promise<{
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly rest: Uint8Array<ArrayBuffer>;
}> {
  const reader = new Reader(next);
  const { status, headers } = await readHead(reader);
  return { status, headers, rest: reader.left };
}

async function readHead(reader: Reader) {
  const first = /^HTTP\/(1\.[01]) (\d{3})(?: |$)/.exec(await reader.line());
  if (first === null) throw new RangeError("status line");
  const headers = new Map<string, string>();
  for (let count = 0;; count++) {
    const line = await reader.line();
    if (line === "") return { status: Number(first[2]), version: first[1] ?? "", headers };
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const twice = name === "content-length" && headers.has(name);
    if (colon < 1 || twice || count >= MAX_HEAD_LINES) throw new RangeError("head");
    headers.set(name, line.slice(colon + 1).trim());
  }
}

async function readChunks(reader: Reader): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let total = 0;;) {
    const [size = ""] = (await reader.line()).split(";");
    const length = lengthOf(size.trim(), /^[\da-f]+$/i, 16);
    if (length === 0) break;
    total += length;
    if (total > MAX_BODY_BYTES) throw new RangeError("body too long");
    chunks.push(await reader.take(length));
    if (await reader.line() !== "") throw new RangeError("chunk");
  }
  while (await reader.line() !== "");
  return joined(chunks);
}

function lengthOf(text: string, form: RegExp, radix: number): number {
  const length = form.test(text) ? Number.parseInt(text, radix) : NaN;
  if (!(length <= MAX_BODY_BYTES)) throw new RangeError("body length");
  return length;
}

const CR = 13;
const LF = 10;

class Reader {
  #left = new Uint8Array(0);

  constructor(private readonly next: NextBytes) {}

  /** What has come and is not read. */
  get left(): Uint8Array<ArrayBuffer> {
    return this.#left;
  }

  /** Without its end. */
  async line(): Promise<string> {
    for (let from = 0;;) {
      const end = this.#left.indexOf(LF, from);
      if (end >= 0) {
        const text = String.fromCharCode(
          ...this.#left.subarray(0, this.#left[end - 1] === CR ? end - 1 : end),
        );
        this.#left = this.#left.subarray(end + 1);
        return text;
      }
      from = this.#left.length;
      if (from > MAX_LINE_BYTES) throw new RangeError("line too long");
      this.#left = joined([this.#left, await this.#more()]);
    }
  }

  async take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#left.length >= length) {
      const taken = this.#left.subarray(0, length);
      this.#left = this.#left.subarray(length);
      return taken;
    }
    const whole = new Uint8Array(length);
    whole.set(this.#left);
    let at = this.#left.length;
    for (;;) {
      const more = await this.#more();
      const missing = length - at;
      whole.set(more.subarray(0, missing), at);
      at += more.length;
      if (at < length) continue;
      this.#left = more.subarray(missing);
      return whole;
    }
  }

  /** All until the connection closes. */
  async rest(): Promise<Uint8Array<ArrayBuffer>> {
    const parts = [this.#left];
    for (let total = 0;;) {
      const more = await this.next();
      if (more === null) return joined(parts);
      total += more.length;
      if (total > MAX_BODY_BYTES) throw new RangeError("body too long");
      parts.push(more);
    }
  }

  async #more(): Promise<Uint8Array<ArrayBuffer>> {
    const more = await this.next();
    if (more === null) throw new RangeError("answer breaks off");
    return more;
  }
}
