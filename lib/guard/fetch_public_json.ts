// Reads a JSON document of a stranger's address. The name is looked up once, every address that it has must be a public
// one, and the connection goes to exactly those: so neither the name nor a second answer for it leads into this network.
// `fetch` cannot be told where to connect, which is why this is `node:https`.
import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import ipaddr from "ipaddr.js";
import { boundInterim, internet, pinnedLookup, type PublicNetwork } from "./public_network.ts";

/** Bounds of one document. */
export interface DocumentBounds {
  readonly maxBytes: number;
  /** Until it has come whole. */
  readonly timeoutMs: number;
}

/**
 * The document, parsed; null whatever goes wrong: an address that is not public, a redirect, another status than 200,
 * another type than JSON, too long, too late. The address has to be https and its host a name.
 */
export async function fetchPublicJson(
  url: URL,
  bounds: DocumentBounds,
  network: PublicNetwork = internet,
): Promise<unknown> {
  if (url.protocol !== "https:" || ipaddr.isValid(url.hostname.replace(/^\[|\]$/g, ""))) return null;
  try {
    const text = await read(url, bounds, network);
    return text === null ? null : JSON.parse(text);
  } catch (error) {
    // Whatever a stranger's server, its name or its text does wrong: the document is not there.
    if (error instanceof Error) return null;
    throw error;
  }
}

function read(
  url: URL,
  { maxBytes, timeoutMs }: DocumentBounds,
  network: PublicNetwork,
): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  const options: RequestOptions = {
    // One connection for one document, and none that was opened for another look-up.
    agent: false,
    headers: { accept: "application/json", "user-agent": "Cubby" },
    signal: AbortSignal.timeout(timeoutMs),
    lookup: pinnedLookup(network),
    ...(network.ca === undefined ? {} : { ca: network.ca }),
  };
  const asking = request(url, options, (answer) => {
    collect(answer, maxBytes).then((text) => {
      asking.destroy();
      resolve(text);
    }, reject);
  });
  asking.on("error", reject);
  boundInterim(asking, reject);
  asking.end();
  return promise;
}

/** Null for an answer that is no document. */
async function collect(answer: IncomingMessage, maxBytes: number): Promise<string | null> {
  const type = answer.headers["content-type"] ?? "";
  if (answer.statusCode !== 200 || !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) return null;
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of answer) {
    const bytes: Uint8Array = chunk;
    received += bytes.byteLength;
    if (received > maxBytes) return null;
    chunks.push(bytes);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
}
