// Sends a document to a stranger's address: once, to a public address only, in bounded time, without following anybody. Of
// the answer no more is read than its head.
import { request as plainRequest } from "node:http";
import { request, type RequestOptions } from "node:https";
import ipaddr from "ipaddr.js";
import { boundInterim, internet, NotPublic, pinnedLookup, type PublicNetwork } from "./public_network.ts";

/** What to send, and where to. */
export interface PublicPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Until the head of the answer has come. */
  readonly timeoutMs: number;
  /** The address may also be one inside of this network, and may be http. */
  readonly allowPrivate: boolean;
}

/** What became of it. `refused`: it was never sent, because of where it would have gone. */
export type PostOutcome =
  | { readonly status: number; readonly retryAfter: string | null }
  | { readonly status: null; readonly failure: "refused" | "timeout" | "connection" };

/** Never throws. */
export async function postPublic(post: PublicPost, network: PublicNetwork = internet): Promise<PostOutcome> {
  if (refusalOf(post.url, post) !== null) return { status: null, failure: "refused" };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), post.timeoutMs);
  try {
    return await send(post, late.signal, network);
  } catch (error) {
    const failure = late.signal.aborted ? "timeout" : error instanceof NotPublic ? "refused" : "connection";
    return { status: null, failure };
  } finally {
    clearTimeout(timer);
  }
}

/** Why nothing is sent there, whatever its name leads to; null: it may be. Completes "Send the address of a receiver: …". */
export function refusalOf(url: URL, { allowPrivate }: Pick<PublicPost, "allowPrivate">): string | null {
  if (url.username !== "" || url.password !== "") return "it has a user or a password";
  if (url.hash !== "") return "it has a fragment";
  if (allowPrivate) return /^https?:$/.test(url.protocol) ? null : "it is neither https nor http";
  if (url.protocol !== "https:") return "it is not https";
  // The URL's own reading: `127.1` and `2130706433` are 127.0.0.1 here already.
  return ipaddr.isValid(url.hostname.replace(/^\[|\]$/g, "")) ? "its host is a number and no name" : null;
}

function send(
  { url, headers, body, allowPrivate }: PublicPost,
  signal: AbortSignal,
  network: PublicNetwork,
): Promise<PostOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<PostOutcome>();
  const options: RequestOptions = {
    method: "POST",
    // One connection for one document, and none that was opened for another look-up.
    agent: false,
    headers: { ...headers, "content-length": String(new TextEncoder().encode(body).byteLength) },
    signal,
    ...(allowPrivate ? {} : { lookup: pinnedLookup(network) }),
    ...(network.ca === undefined ? {} : { ca: network.ca }),
  };
  const start = url.protocol === "http:" ? plainRequest : request;
  const asking = start(url, options, (answer) => {
    const retryAfter = answer.headers["retry-after"] ?? null;
    answer.on("error", () => {});
    answer.destroy();
    asking.destroy();
    resolve({ status: answer.statusCode ?? 0, retryAfter });
  });
  asking.on("error", reject);
  boundInterim(asking, reject);
  asking.end(body);
  return promise;
}
