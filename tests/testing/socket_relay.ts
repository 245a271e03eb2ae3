// A relay before a server, on the bytes themselves, that knows what goes over WebSockets: it can refuse them, leave them
// without an answer, and cut one before a message reaches the server or when its answer is there.
import { hangUp, writeAll } from "./http_wire.ts";

/** What becomes of a socket with a message. */
export type Fate = "goes on" | "cut before" | "cut behind" | "comes late";

export interface SocketRelay extends AsyncDisposable {
  readonly url: string;
  /** Sockets that were asked for. */
  readonly asked: number;
  /** Open ones. */
  readonly open: number;
  /** Resolves when no socket is open. */
  readonly ended: Promise<unknown>;
  /** Texts of the messages that clients have sent. */
  readonly messages: readonly string[];
  upgrades: "go on" | "are refused" | "get no answer";
  fate: (message: string) => Fate;
  /** Until when a message that comes late is held back; its client is cut off at once. */
  late: Promise<unknown>;
  /** Resolves when the server has answered it. */
  readonly arrived: Promise<void>;
}

export function openSocketRelay(target: string): SocketRelay {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.Conn>();
  const work = new Set<Promise<void>>();
  const messages: string[] = [];
  const sockets = new Set<Promise<void>>();
  const arrived = Promise.withResolvers<void>();
  let asked = 0;
  const relay: SocketRelay = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    get asked() {
      return asked;
    },
    get open() {
      return sockets.size;
    },
    get ended() {
      return Promise.all(sockets);
    },
    messages,
    upgrades: "go on",
    fate: () => "goes on",
    late: Promise.resolve(),
    arrived: arrived.promise,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      for (const connection of connections) hangUp(connection);
      await accepting;
      while (work.size > 0) await Promise.all(work);
    },
  };
  const during = (task: Promise<void>) => {
    const ended = task.catch(() => {}).finally(() => work.delete(ended));
    work.add(ended);
  };
  const accepting = (async () => {
    for await (const client of listener) during(serve(client));
  })();
  return relay;

  async function serve(client: Deno.Conn): Promise<void> {
    const { hostname, port } = new URL(target);
    const server = await Deno.connect({ hostname, port: Number(port) }).catch(() => null);
    if (server === null) return hangUp(client); // the server has been killed
    for (const one of [client, server]) connections.add(one);
    const ended = Promise.withResolvers<void>();
    const frames = new FrameReader();
    let isSocket = false;
    let endsBehind = false;
    const end = () => [client, server].forEach(hangUp);
    const back = pipe(server, async (bytes) => {
      if (endsBehind) return end();
      await writeAll(client, bytes);
    }).finally(end);
    const forth = pipe(client, async (bytes) => {
      if (!isSocket) {
        if (/^upgrade: websocket/im.test(new TextDecoder().decode(bytes))) {
          asked++;
          if (relay.upgrades === "are refused") return end();
          if (relay.upgrades === "get no answer") return;
          isSocket = true;
          sockets.add(ended.promise);
        }
        return await writeAll(server, bytes);
      }
      for (const { message, whole } of frames.add(bytes)) {
        messages.push(message);
        const fate = relay.fate(message);
        if (fate === "cut before") return end();
        endsBehind = fate !== "goes on";
        if (fate === "comes late") {
          hangUp(client);
          await relay.late;
        }
        await writeAll(server, whole);
        if (fate === "comes late") await back.then(arrived.resolve);
      }
    }).finally(end);
    // Who has hung up takes no more: a write to it fails.
    await Promise.allSettled([forth, back]);
    for (const one of [client, server]) connections.delete(one);
    sockets.delete(ended.promise);
    ended.resolve();
  }
}

async function pipe(from: Deno.Conn, take: (bytes: Uint8Array<ArrayBuffer>) => Promise<void> | void) {
  const buffer = new Uint8Array(65_536);
  for (let count = await read(); count !== null; count = await read()) await take(buffer.slice(0, count));

  function read(): Promise<number | null> {
    return from.read(buffer).catch(() => null);
  }
}

/** Frames of a client (RFC 6455, 5.2), which masks what it sends. */
class FrameReader {
  #left = new Uint8Array(0);

  /** The frames that are whole with these bytes. */
  *add(bytes: Uint8Array): Generator<{ readonly message: string; readonly whole: Uint8Array }> {
    const all = new Uint8Array(this.#left.length + bytes.length);
    all.set(this.#left);
    all.set(bytes, this.#left.length);
    this.#left = all;
    for (;;) {
      const form = (this.#left[1] ?? 0) & 127;
      const head = form === 126 ? 4 : form === 127 ? 10 : 2;
      if (this.#left.length < head) return;
      const view = new DataView(this.#left.buffer, this.#left.byteOffset);
      const length = form === 126 ? view.getUint16(2) : form === 127 ? Number(view.getBigUint64(2)) : form;
      const end = head + 4 + length;
      if (this.#left.length < end) return;
      const [mask, masked] = [this.#left.subarray(head, head + 4), this.#left.subarray(head + 4, end)];
      const whole = this.#left.subarray(0, end);
      this.#left = this.#left.subarray(end);
      const text = masked.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
      yield { message: new TextDecoder().decode(text), whole };
    }
  }
}
