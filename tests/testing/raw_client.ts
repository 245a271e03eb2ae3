// A client that sends the bytes it is told to, in the pieces it is told to.
import { pause } from "../../lib/core/pause.ts";
import { hangUp, WireReader, writeAll } from "./http_wire.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

export class RawClient implements Disposable {
  readonly #reader: WireReader;

  private constructor(private readonly connection: Deno.TcpConn) {
    this.#reader = new WireReader(connection);
  }

  /** To a port of this machine. */
  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Its own. */
  get port(): number {
    return this.connection.localAddr.port;
  }

  async send(text: string): Promise<void> {
    await writeAll(this.connection, new TextEncoder().encode(text));
  }

  /** Sends one character at a time, until the other end has closed. */
  async trickle(text: string, pauseMs: number): Promise<void> {
    for (const character of text) {
      await pause(pauseMs);
      try {
        await this.send(character);
      } catch (error) {
        if (isBrokenOff(error)) return;
        throw error;
      }
    }
    throw new Error("all of it was taken");
  }

  /** The next answer, whole. Throws when there is none. */
  async answer(): Promise<RawAnswer> {
    const message = await this.#reader.next();
    if (message === null) throw new Error("the connection was closed");
    const { first, headers, body } = message;
    return { status: Number(first.split(" ")[1]), headers, body: new TextDecoder().decode(body) };
  }

  /** That many bytes or more, as they come. Nothing else may be asked for afterwards. */
  async bytes(count: number): Promise<Uint8Array> {
    const buffer = new Uint8Array(65_536);
    let got = 0;
    while (got < count) {
      const more = await this.connection.read(buffer.subarray(got));
      if (more === null) throw new Error("the connection was closed");
      got += more;
    }
    return buffer.subarray(0, got);
  }

  /** Waits until so many bytes have come, or the other end has closed; returns how many came. */
  async take(count: number): Promise<number> {
    const buffer = new Uint8Array(65_536);
    let received = 0;
    try {
      while (received < count) {
        const more = await this.connection.read(buffer);
        if (more === null) break;
        received += more;
      }
    } catch (error) {
      if (!isBrokenOff(error)) throw error;
    }
    return received;
  }

  /** Waits until the other end has closed, whatever still comes. */
  async end(): Promise<void> {
    await this.take(Infinity);
  }

  close(): void {
    hangUp(this.connection);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function isBrokenOff(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionAborted;
}
