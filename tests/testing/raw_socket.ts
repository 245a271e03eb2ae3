// A client of WebSockets that reads only when it is told to, and answers no close.
import { writeAll } from "./http_wire.ts";

const TEXT = 0x81;
const CLOSE = 0x88;

export class RawSocket implements Disposable {
  #rest = new Uint8Array();

  private constructor(private readonly connection: Deno.TcpConn) {}

  /** To a port of this machine; the handshake is done. */
  static async connect(port: number, path: string): Promise<RawSocket> {
    const socket = new RawSocket(await Deno.connect({ hostname: "127.0.0.1", port }));
    const head = ["Host: a", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"];
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    const text = [`GET ${path} HTTP/1.1`, ...head, key, "", ""].join("\r\n");
    await writeAll(socket.connection, new TextEncoder().encode(text));
    await socket.#head();
    return socket;
  }

  /** A message, masked with zeros. */
  async send(message: unknown): Promise<void> {
    const text = new TextEncoder().encode(JSON.stringify(message));
    await writeAll(this.connection, headOf(text.length));
    await writeAll(this.connection, text);
  }

  /** The beginning of a message that is said to be so many bytes long. */
  async begin(bytes: number): Promise<void> {
    await writeAll(this.connection, headOf(bytes));
    await writeAll(this.connection, new Uint8Array(1000));
  }

  /** The next message, or the code with which the other end closes; null: it has hung up. */
  async next(): Promise<string | number | null> {
    const head = await this.#take(2);
    if (head === null) return null;
    const [first = 0, second = 0] = head;
    const length = second === 126
      ? (await this.#view(2)).getUint16(0)
      : second === 127
      ? Number((await this.#view(8)).getBigUint64(0))
      : second;
    const body = await this.#take(length) ?? new Uint8Array();
    if (first === CLOSE) return new DataView(body.buffer, body.byteOffset).getUint16(0);
    return first === TEXT ? new TextDecoder().decode(body) : await this.next();
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }

  async #head(): Promise<void> {
    let text = "";
    while (!text.endsWith("\r\n\r\n")) {
      const byte = await this.#take(1);
      if (byte === null) throw new Error(`no handshake: ${text}`);
      text += String.fromCharCode(...byte);
    }
    if (!text.startsWith("HTTP/1.1 101 ")) throw new Error(text);
  }

  async #view(bytes: number): Promise<DataView> {
    const taken = await this.#take(bytes);
    if (taken === null) throw new Error("a message breaks off");
    return new DataView(taken.buffer, taken.byteOffset);
  }

  async #take(bytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < bytes) {
      const part = new Uint8Array(65_536);
      const count = await this.connection.read(part);
      if (count === null) return null;
      parts.push(part.subarray(0, count));
      length += count;
    }
    const all = new Uint8Array(await new Blob(parts).arrayBuffer());
    this.#rest = all.slice(bytes);
    return all.slice(0, bytes);
  }
}

/** Of a text of so many bytes. */
function headOf(bytes: number): Uint8Array {
  const head = new Uint8Array(14);
  const view = new DataView(head.buffer);
  view.setUint8(0, TEXT);
  view.setUint8(1, 0x80 | 127);
  view.setBigUint64(2, BigInt(bytes));
  return head;
}
