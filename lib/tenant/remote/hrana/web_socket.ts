// A client's WebSocket to a server without TLS, on a connection of its own. A library's client passes each message through the
// streams of Node.js, which cost a sixth of the service's processor time for a statement; the platform's own client sends a message
// of more than a kilobyte in two pieces, the second of which waits 40 ms for the first to be noted.
import { createHash, randomBytes } from "node:crypto";
import { readUpgrade } from "./http_answer.ts";
import { headerLines } from "./poster.ts";
import { pongFrame, ServerFrames, textFrame } from "./socket_frames.ts";

/** What a socket tells. Nothing comes after `ended`, which is told once. */
export interface SocketListener {
  text(text: string): void;
  ended(): void;
}

/** What a socket is opened with. */
export interface SocketOpening {
  /** Of the request that opens it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: string;
  /** Bytes of a message of the server. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const BUFFER_BYTES = 65_536;
/** RFC 6455, section 1.3. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const encoder = new TextEncoder();

/** An open socket. */
export class WebSocketConnection {
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #written: Promise<void> = Promise.resolve();
  #isClosed = false;
  #listener: SocketListener | null = null;

  private constructor(private readonly connection: Deno.TcpConn) {}

  /** Throws where the server opens none. Nothing but the request has been sent then. */
  static async open(
    url: string,
    opening: SocketOpening,
    listener: SocketListener,
  ): Promise<WebSocketConnection> {
    const { hostname, port, host, pathname, search } = new URL(url);
    const { headers, protocol, maxBytes, signal } = opening;
    const to = { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
    const connection = await Deno.connect({ ...to, signal });
    const socket = new WebSocketConnection(connection);
    const stop = () => socket.close();
    signal.addEventListener("abort", stop);
    try {
      signal.throwIfAborted();
      connection.setNoDelay();
      const key = randomBytes(16).toString("base64");
      const own = {
        host,
        upgrade: "websocket",
        connection: "Upgrade",
        "sec-websocket-key": key,
        "sec-websocket-version": "13",
        "sec-websocket-protocol": protocol,
      };
      await socket.#write(
        encoder.encode(`GET ${pathname}${search} HTTP/1.1\r\n${headerLines({ ...headers, ...own })}\r\n`),
      );
      const answer = await readUpgrade(() => socket.#read());
      const accept = createHash("sha1").update(key + ACCEPT_SUFFIX).digest("base64");
      const { status, headers: told, rest } = answer;
      if (
        status !== 101 || told.get("sec-websocket-accept") !== accept ||
        told.get("sec-websocket-protocol") !== protocol || told.has("sec-websocket-extensions")
      ) throw new RangeError("no socket");
      socket.#listener = listener;
      void socket.#hear(new ServerFrames(maxBytes), rest);
      return socket;
    } catch (error) {
      socket.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Sends a message behind those before it. */
  send(text: string): void {
    this.#send(textFrame(text));
  }

  /** Ends the connection without a farewell. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.connection.close();
    this.#listener?.ended();
  }

  #send(frame: Uint8Array): void {
    this.#written = this.#written.then(() => this.#write(frame)).catch(() => this.close());
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.connection.write(bytes.subarray(sent));
  }

  /** In memory that the next call uses again. */
  async #read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const count = await this.connection.read(this.#buffer);
    return count === null ? null : this.#buffer.subarray(0, count);
  }

  async #hear(frames: ServerFrames, first: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      for (let bytes: Uint8Array | null = first; bytes !== null; bytes = await this.#read()) {
        for (const said of frames.push(bytes)) {
          if (this.#isClosed || said.kind === "close") return;
          if (said.kind === "ping") this.#send(pongFrame(said.payload));
          else this.#listener?.text(said.text);
        }
      }
    } catch {
      // What no server may send, or the connection has broken off.
    } finally {
      this.close();
    }
  }
}
