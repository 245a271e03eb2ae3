// Reads a JSON document of a stranger's address. The name is looked up once, every address that it has must be a public
// one, and the connection goes to exactly those: so neither the name nor a second answer for it leads into this network.
// `fetch` cannot be told where to connect, which is why this is `node:https`.
import type { LookupAddress, LookupAllOptions } from "node:dns";
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import ipaddr from "ipaddr.js";

/** Bounds of one document. */
export interface DocumentBounds {
  readonly maxBytes: number;
  /** Until it has come whole. */
  readonly timeoutMs: number;
}

/** What a test puts in the place of the network. */
export interface DocumentNetwork {
  readonly lookup: (host: string) => Promise<readonly LookupAddress[]>;
  readonly isPublic: (address: string) => boolean;
  /** Certificates that count beside those of the system; absent: none. */
  readonly ca?: string;
}

const internet: DocumentNetwork = {
  lookup: (host) => lookup(host, { all: true, verbatim: true }),
  isPublic: isPublicAddress,
};

/**
 * The document, parsed; null whatever goes wrong: an address that is not public, a redirect, another status than 200,
 * another type than JSON, too long, too late. The address has to be https and its host a name.
 */
export async function fetchPublicJson(
  url: URL,
  bounds: DocumentBounds,
  network: DocumentNetwork = internet,
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

/** Whether an address is one of the public network: an IPv4 inside an IPv6 counts as itself. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";
}

function read(
  url: URL,
  { maxBytes, timeoutMs }: DocumentBounds,
  network: DocumentNetwork,
): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  const options: RequestOptions = {
    // One connection for one document, and none that was opened for another look-up.
    agent: false,
    headers: { accept: "application/json", "user-agent": "Cubby" },
    signal: AbortSignal.timeout(timeoutMs),
    lookup: (host, asked, done) =>
      lookUp(host, { all: (asked as LookupAllOptions).all === true, network, done }),
    ...(network.ca === undefined ? {} : { ca: network.ca }),
  };
  const asking = request(url, options, (answer) => {
    collect(answer, maxBytes).then((text) => {
      asking.destroy();
      resolve(text);
    }, reject);
  });
  asking.on("error", reject);
  asking.end();
  return promise;
}

type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

function lookUp(
  host: string,
  { all, network, done }: { readonly all: boolean; readonly network: DocumentNetwork; readonly done: Done },
): void {
  network.lookup(host).then((found) => {
    const [first] = found;
    if (first === undefined || !found.every(({ address }) => network.isPublic(address))) {
      done(new Error("not a public address"), []);
    } else if (all) done(null, [...found]);
    else done(null, first.address, first.family);
  }, (error: Error) => done(error, []));
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
