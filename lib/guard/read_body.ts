// Reads a request body as text, bounded in size while it arrives and in time.
import { AppError } from "../core/errors.ts";
import type { BodyWatch } from "./body_watch.ts";

export interface BodyBounds {
  readonly maxBytes: number;
  readonly watch: BodyWatch;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The whole body. Errors: `payload_too_large`, `request_timeout`, `invalid_json` (not UTF-8: a replaced character
 * would change a value silently).
 */
export async function readBody(request: Request, bounds: BodyBounds): Promise<string> {
  const declared = request.headers.get("content-length");
  // A declared length is enforced by the server below us; anything else is counted here.
  if (declared !== null && Number(declared) <= bounds.maxBytes) {
    return decode(await bounds.watch.watch(request.bytes()));
  }
  // The client waits for permission before it sends: then it has not sent anything that would be cut off.
  if (declared !== null && request.headers.has("expect")) throw new AppError("payload_too_large");
  if (request.body === null) return "";
  return decode(await bounds.watch.watch(readCounted(request.body, bounds.maxBytes)));
}

/**
 * Over the limit, what still comes is thrown away up to as much again before the answer: a client that is cut off
 * while it sends would see a broken connection instead of the 413.
 */
async function readCounted(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (received <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (received > 2 * maxBytes) break;
  }
  if (received > maxBytes) throw new AppError("payload_too_large");
  return joined(chunks, received);
}

function joined(chunks: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(sizeBytes);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

function decode(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new AppError("invalid_json", { message: "Send the body as UTF-8; it holds other bytes" });
  }
}
