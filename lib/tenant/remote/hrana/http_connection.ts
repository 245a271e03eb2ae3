// One connection to a server that speaks HTTP/1.1 without TLS. It carries one request at a time, and each at most once.
import { type HttpAnswer, readHttpAnswer } from "./http_answer.ts";

const BUFFER_BYTES = 65_536;

/** Whoever opens it closes it. */
export class HttpConnection {
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #reading: Promise<number | null>;
  /** Bytes, or the end, have come that nobody has taken. */
  #hasArrived = false;
  #isIdle = true;
  #isClosed = false;

  constructor(private readonly connection: Deno.TcpConn) {
    try {
      connection.setNoDelay();
    } catch {
      // Only a connection that has ended already refuses; its first use tells.
    }
    this.#reading = this.#read();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends the request and reads its answer. Throws where there is none, and then is closed. */
  async exchange(request: Uint8Array): Promise<HttpAnswer> {
    this.#isIdle = false;
    try {
      for (let sent = 0; sent < request.length;) sent += await this.connection.write(request.subarray(sent));
      const answer = await readHttpAnswer(() => this.#next());
      this.#isIdle = true;
      if (!answer.stays || this.#hasArrived) this.close();
      return answer;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.connection.close();
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | null> {
    const count = await this.#reading;
    if (count === null) return null;
    this.#hasArrived = false;
    const bytes = this.#buffer.slice(0, count);
    this.#reading = this.#read();
    return bytes;
  }

  /** Also reads while nothing is asked: so it is known when the server has closed it. */
  #read(): Promise<number | null> {
    const reading = this.connection.read(this.#buffer);
    reading.then(() => {
      this.#hasArrived = true;
      if (this.#isIdle) this.close();
    }, () => this.close());
    return reading;
  }
}
