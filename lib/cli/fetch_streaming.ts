// `fetch` for long bodies: the runtime's own hands on 64 KB at a time and waits for whoever takes them, and so carries a
// stream at a tenth of what the connection could.
import { type IncomingMessage, request as plainRequest } from "node:http";
import { Readable } from "node:stream";

/** Bytes of one write; two of them are in memory at most. */
const PIECE = 1024 * 1024;

/**
 * As `fetch`; a body that is a stream is sent once, and without TLS in large pieces, as fast as the other side takes them. With
 * TLS the runtime sends it: `node:https` needs permissions that this command has not, and knows no `DENO_CERT`.
 */
export function fetchStreaming(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const body = init?.body;
  if (!(body instanceof ReadableStream)) return fetch(input, init);
  const request = new Request(input, { ...init, body: null });
  return request.url.startsWith("http:") ? send(request, body) : fetch(input, init);
}

function send({ url, method, headers }: Request, body: ReadableStream<Uint8Array>): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const outgoing = plainRequest(url, { method, headers: Object.fromEntries(headers), agent: false });
  const stopped = new AbortController();
  outgoing.on("response", (answer) => {
    // Behind an answer nothing more is sent, whatever is left of the body.
    stopped.abort();
    answer.on("end", () => outgoing.destroy());
    try {
      resolve(responseOf(answer));
    } catch (error) {
      // A status that no answer with a body has. Thrown here, it would end the process.
      outgoing.destroy();
      reject(error);
    }
  });
  outgoing.on("error", (error) => {
    reject(error);
    stopped.abort();
  });
  void write(body, outgoing, stopped.signal).catch((error) => outgoing.destroy(error));
  return promise;
}

async function write(
  body: ReadableStream<Uint8Array>,
  outgoing: ReturnType<typeof plainRequest>,
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of pieces(body, signal)) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settle = () => resolve();
    signal.addEventListener("abort", settle, { once: true });
    outgoing.write(piece, settle);
    await promise;
    signal.removeEventListener("abort", settle);
    if (signal.aborted) return;
  }
  outgoing.end();
}

/** The same bytes in pieces of one size, as long as they are wanted. */
async function* pieces(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(PIECE);
  let filled = 0;
  for await (const part of body) {
    if (signal.aborted) return;
    for (let at = 0; at < part.length;) {
      const taken = part.subarray(at, at + PIECE - filled);
      piece.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < PIECE) continue;
      yield piece;
      piece = new Uint8Array(PIECE);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  // Guarantee: an answer's stream has bytes.
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(body, { status: answer.statusCode ?? 502, headers });
}
