// Reads a request body, as text or as bytes, with a bound on its size while it arrives and on its time.
import { joined } from "../core/joined.ts";
import { AppError } from "../core/errors.ts";
import type { ArrivingBody, BodyWatch } from "./body_watch.ts";

/** The bounds of one body. */
export interface BodyBounds {
  readonly maxBytes: number;
  readonly watch: BodyWatch;
  /** Called once a body is there that has taken long. May throw: whoever was let in before it may be nobody any more. */
  readonly late?: () => unknown;
  /** Who sends it, where a body that keeps coming may take longer. */
  readonly address?: string;
}

/**
 * Up to this length the runtime reads a body at once. It takes memory for all that a client declares before any of it comes,
 * so a few thousand connections that declare megabytes and send nothing would take gigabytes.
 */
const AT_ONCE_BYTES = 16 * 1024;

/** Replaces what is no UTF-8, for which the runtime takes half the time of the strict decoder. */
const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });
const REPLACEMENT = "\ufffd";

/**
 * The whole body. Errors: `payload_too_large` (at once where the length is declared), `validation_failed` (it is declared
 * more than once), `request_timeout`, `invalid_json` (not UTF-8: a replaced character would change a value silently), those of `late`.
 */
export function readBody(request: Request, bounds: BodyBounds): Promise<string> {
  return readWhole(request, bounds, (bytes) => decode(bytes, request));
}

/** The whole body as it came. Errors: `payload_too_large`, `validation_failed` as above, `request_timeout`. */
export function readBytes(request: Request, bounds: BodyBounds): Promise<Uint8Array> {
  return readWhole(request, bounds, (bytes) => bytes);
}

function readWhole<Made>(
  request: Request,
  bounds: BodyBounds,
  made: (bytes: Uint8Array) => Made,
): Promise<Made> {
  const declared = request.headers.get("content-length");
  // The server below us enforces a declared length; otherwise the bytes are counted here.
  if (declared !== null) {
    // Equal lengths reach us as "5, 5"; the server refuses others, and everything else that is no length.
    if (declared.includes(",")) return Promise.reject(declaredTwice());
    // The server reads past a body that nobody has touched, so a client that goes on sending is not cut off.
    if (Number(declared) > bounds.maxBytes) return Promise.reject(tooLarge(bounds.maxBytes));
    if (Number(declared) <= AT_ONCE_BYTES) return bounds.watch.watch(request.bytes(), made, bounds);
  }
  const arriving = bounds.address === undefined ? null : { receivedBytes: 0, address: bounds.address };
  const reading = request.body === null
    ? Promise.resolve(new Uint8Array())
    : readCounted(request.body, bounds.maxBytes, arriving);
  return bounds.watch.watch(reading, made, { late: bounds.late, arriving });
}

/** A body or a file of more bytes than are taken there. */
export function tooLarge(maxBytes: number): AppError {
  const most = maxBytes.toLocaleString("en");
  return new AppError("payload_too_large", {
    message: `Send a smaller body; at most ${most} bytes are taken here`,
  });
}

function declaredTwice(): AppError {
  const message = "Send Content-Length once";
  return new AppError("validation_failed", { message, issues: [{ path: "Content-Length", message }] });
}

/**
 * Over the limit, as much again is read and dropped before the answer: a client that is cut off while it sends would
 * see a broken connection instead of the 413.
 */
async function readCounted(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  arriving: ArrivingBody | null,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (arriving) arriving.receivedBytes = received;
    if (received <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (received > 2 * maxBytes) break;
  }
  if (received > maxBytes) throw tooLarge(maxBytes);
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : joined(chunks);
}

function decode(bytes: Uint8Array, { headers }: Request): string {
  try {
    const text = utf8.decode(bytes);
    // The body itself may hold this character: the strict decoder tells.
    return text.includes(REPLACEMENT) ? strictUtf8.decode(bytes) : text;
  } catch {
    const isEncoded = (headers.get("content-encoding") ?? "identity") !== "identity";
    throw new AppError("invalid_json", {
      message: isEncoded
        ? "Send the body without Content-Encoding; it is compressed"
        : "Send the body as UTF-8; it holds other bytes",
    });
  }
}
