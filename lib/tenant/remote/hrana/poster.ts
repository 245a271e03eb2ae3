// Sends requests to servers. To those without TLS it keeps connections of its own: `fetch` takes four times the processor time
// for a request, which is most of what a read costs. No request goes out twice on either way.
import type { Clock } from "../../../core/clock.ts";
import { HttpConnection } from "./http_connection.ts";
import type { HttpAnswer } from "./http_answer.ts";

/** The `fetch` that sends requests. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** A request by POST. */
export interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal | null;
}

/** What is read of an answer. */
export type PostAnswer = Pick<HttpAnswer, "status" | "serverMs" | "bytes">;

/** Sends requests. */
export interface Poster {
  /** Throws where there is no answer. */
  post(request: Posted): Promise<PostAnswer>;
  close(): void;
}

/** By `fetch`. */
export function fetchPoster(fetch: Fetch): Poster {
  return {
    async post({ url, headers, body, signal }) {
      const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "error" });
      const serverMs = Date.parse(response.headers.get("date") ?? "");
      return { status: response.status, serverMs, bytes: await response.bytes() };
    },
    close() {},
  };
}

/** Milliseconds that an idle connection is used: what stands between may forget it without a word. */
const IDLE_MS = 30_000;
/** Idle connections to one server. */
const MAX_IDLE = 64;

interface Idle {
  readonly connection: HttpConnection;
  readonly sinceMs: number;
}

/** By connections of its own where there is no TLS, else by `fetch`. */
export class ConnectionPoster implements Poster {
  readonly #byFetch: Poster;
  readonly #idle = new Map<string, Idle[]>();
  readonly #open = new Set<HttpConnection>();
  readonly #closing = new AbortController();

  constructor(fetch: Fetch, private readonly clock: Pick<Clock, "monotonicMs">) {
    this.#byFetch = fetchPoster(fetch);
  }

  async post(request: Posted): Promise<PostAnswer> {
    const url = new URL(request.url);
    // A user and a password in the address become a header there.
    const byFetch = url.protocol !== "http:" || url.username !== "" || url.password !== "";
    if (byFetch) return await this.#byFetch.post(request);
    const { signal } = request;
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    const bytes = requestBytes(url, request);
    const found = this.#take(url.host) ?? await this.#connect(url, signal);
    // Nothing was sent: `fetch` knows further ways, such as a proxy or another address of the same name.
    if (found === null) return await this.#byFetch.post(request);
    const stop = () => found.close();
    signal?.addEventListener("abort", stop);
    try {
      if (signal?.aborted) stop();
      signal?.throwIfAborted();
      const answer = await found.exchange(bytes);
      if (!found.isClosed) this.#give(url.host, found);
      return answer;
    } finally {
      signal?.removeEventListener("abort", stop);
      if (found.isClosed) this.#open.delete(found);
    }
  }

  /** Open connections without a request. */
  get idle(): number {
    return [...this.#idle.values()].flat().filter(({ connection }) => !connection.isClosed).length;
  }

  /** Ends what is under way too. */
  close(): void {
    this.#closing.abort();
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#idle.clear();
  }

  /** Null: there is no way. */
  async #connect({ hostname, port }: URL, signal: AbortSignal | null): Promise<HttpConnection | null> {
    const given = [this.#closing.signal, ...(signal ? [signal] : [])];
    try {
      const to = { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
      const connection = new HttpConnection(await Deno.connect({ ...to, signal: AbortSignal.any(given) }));
      this.#open.add(connection);
      if (this.#closing.signal.aborted) connection.close();
      return connection;
    } catch {
      for (const one of given) one.throwIfAborted();
      return null;
    }
  }

  #take(host: string): HttpConnection | null {
    const idle = this.#idle.get(host) ?? [];
    for (let last = idle.pop(); last; last = idle.pop()) {
      const { connection, sinceMs } = last;
      if (!connection.isClosed && this.clock.monotonicMs() - sinceMs < IDLE_MS) return connection;
      connection.close();
      this.#open.delete(connection);
    }
    return null;
  }

  #give(host: string, connection: HttpConnection): void {
    const idle = this.#idle.get(host) ?? [];
    if (this.#closing.signal.aborted || idle.length >= MAX_IDLE) return connection.close();
    idle.push({ connection, sinceMs: this.clock.monotonicMs() });
    this.#idle.set(host, idle);
  }
}

const utf8 = new TextEncoder();

/** The lines of a head. Throws `TypeError` on a header with a line break. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers)) {
    if (/[\r\n]/.test(name + value)) throw new TypeError("a header with a line break");
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Head and body in one piece, so that they leave in one packet. Throws `TypeError` on a header with a line break. */
function requestBytes({ host, pathname, search }: URL, { headers, body }: Posted): Uint8Array {
  const own = headerLines(headers);
  const content = typeof body === "string" ? utf8.encode(body) : body;
  const head = utf8.encode(
    `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${own}content-length: ${content.length}\r\n\r\n`,
  );
  const bytes = new Uint8Array(head.length + content.length);
  bytes.set(head);
  bytes.set(content, head.length);
  return bytes;
}
