// Reading and writing frames on the child's standard input and output, synchronously: the child has nothing else to do.
import { HEAD_END, LONG_FRAME, type Reply, type Request } from "./protocol.ts";
import { type WireOutcome, withLengths } from "./wire_call.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

let input = new Uint8Array(1 << 16);
let filled = 0;
let output = new Uint8Array(1 << 16);
/** Replies that may be longer get buffers of their own. */
const LARGE_BYTES = 1 << 22;

/** The next request, or null when the service has gone. */
export function readRequest(): Request | null {
  for (;;) {
    if (filled >= 4) {
      const length = new DataView(input.buffer).getUint32(0);
      if (filled >= 4 + length) {
        const request = parseRequest(decoder.decode(input.subarray(4, 4 + length)));
        input.copyWithin(0, 4 + length, filled);
        filled -= 4 + length;
        if (input.length > 1 << 20 && filled === 0) input = new Uint8Array(1 << 16);
        return request;
      }
      if (input.length < 4 + length) {
        const grown = new Uint8Array(4 + length);
        grown.set(input.subarray(0, filled));
        input = grown;
      }
    }
    const count = Deno.stdin.readSync(input.subarray(filled));
    if (count === null) return null;
    filled += count;
  }
}

/** Sends the outcomes of reads. */
export function writeOutcomes(outcomes: readonly WireOutcome[], text: string): void {
  if (text.length < LONG_FRAME) return writeReply({ t: "outcomes", o: outcomes }, text);
  const texts = new Texts(text.length);
  const o = withLengths(outcomes, text, (one) => texts.add(one));
  texts.send({ t: "outcomes", o, utf8: true });
}

/** Sends one reply; `text` is what the lengths in its outcomes point into. */
export function writeReply(reply: Reply, text = ""): void {
  const head = JSON.stringify(reply) + HEAD_END;
  const worstCase = 4 + (head.length + text.length) * 3;
  if (worstCase > LARGE_BYTES) {
    const texts = new Texts(text.length);
    texts.add(text);
    return texts.send(reply);
  }
  if (output.length < worstCase) output = new Uint8Array(worstCase);
  let length = 4 + encoder.encodeInto(head, output.subarray(4)).written;
  length += encoder.encodeInto(text, output.subarray(length)).written;
  new DataView(output.buffer).setUint32(0, length - 4);
  send(output.subarray(0, length));
}

/** Long texts on their way. */
class Texts {
  readonly #parts: Uint8Array[] = [];
  #filled = 0;

  /** `characters`: of all texts. They are encoded into the buffer that is there, unless their worst case would be too large for it. */
  constructor(characters: number) {
    const worstCase = characters * 3;
    if (worstCase <= LARGE_BYTES && output.length < worstCase) output = new Uint8Array(worstCase);
  }

  /** Returns the number of its bytes. */
  add(text: string): number {
    const room = output.subarray(this.#filled);
    const fits = text.length * 3 <= room.length;
    const part = fits ? room.subarray(0, encoder.encodeInto(text, room).written) : encoder.encode(text);
    if (fits) this.#filled += part.length;
    this.#parts.push(part);
    return part.length;
  }

  send(reply: Reply): void {
    // Four characters, in whose place the length comes.
    const head = encoder.encode(`    ${JSON.stringify(reply)}${HEAD_END}`);
    const length = this.#parts.reduce((sum, part) => sum + part.length, head.length - 4);
    new DataView(head.buffer).setUint32(0, length);
    send(head);
    for (const part of this.#parts) send(part);
  }
}

function send(bytes: Uint8Array): void {
  try {
    for (let sent = 0; sent < bytes.length;) sent += Deno.stdout.writeSync(bytes.subarray(sent));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    // The service has gone, and an open transaction ends with this process.
    Deno.exit(0);
  }
}

/** Guarantee: the service is the only writer of this pipe and sends `Request`s. */
function parseRequest(json: string): Request {
  return JSON.parse(json);
}
