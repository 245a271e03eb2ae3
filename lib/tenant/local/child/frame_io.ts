// Reading and writing frames on the child's standard input and output, synchronously: the child has nothing else to do.
import { HEAD_END, type Reply, type Request } from "./protocol.ts";

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

/** Sends one reply; `text` is what the lengths in its outcomes point into. */
export function writeReply(reply: Reply, text = ""): void {
  const head = JSON.stringify(reply) + HEAD_END;
  const worstCase = 4 + (head.length + text.length) * 3;
  if (worstCase > LARGE_BYTES) return sendLarge(head, text);
  if (output.length < worstCase) output = new Uint8Array(worstCase);
  let length = 4 + encoder.encodeInto(head, output.subarray(4)).written;
  length += encoder.encodeInto(text, output.subarray(length)).written;
  new DataView(output.buffer).setUint32(0, length - 4);
  send(output.subarray(0, length));
}

/** A buffer for the worst case would be three times as long as most texts. */
function sendLarge(head: string, text: string): void {
  const parts = [encoder.encode(head), encoder.encode(text)];
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, parts.reduce((sum, part) => sum + part.length, 0));
  send(new Uint8Array(length.buffer));
  for (const part of parts) send(part);
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
