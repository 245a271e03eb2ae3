// HTTP/1.1 on a connection itself, as far as the tests' own servers between others need it: one message after the other.

/** A message as it travelled. */
export interface WireMessage {
  /** The request or status line. */
  readonly first: string;
  /** Lines `name: value`. */
  readonly headers: readonly string[];
  /** Without the framing of chunks. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Reads messages off a connection, whatever pieces they come in. */
export class WireReader {
  #rest = new Uint8Array();
  readonly #chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>;
  #coming: Promise<boolean> | null = null;

  constructor(connection: Deno.Conn) {
    this.#chunks = chunksOf(connection);
  }

  /** Null: the other end has closed before another message began. Throws where it breaks off in one. */
  async next(): Promise<WireMessage | null> {
    let end = this.#headEnd();
    while (end < 0) {
      if (!await this.more()) {
        if (this.#rest.length === 0) return null;
        throw new Error("a message breaks off");
      }
      end = this.#headEnd();
    }
    const [first = "", ...headers] = this.#text().slice(0, end).split("\r\n");
    this.#rest = this.#rest.slice(end + 4);
    return { first, headers, body: await this.#body(headers, first) };
  }

  /** Waits for further bytes, which stay for the next message. False: the other end has closed. */
  more(): Promise<boolean> {
    this.#coming ??= this.#chunks.next().then(({ done, value }) => {
      this.#coming = null;
      if (done) return false;
      this.#rest = joined(this.#rest, value);
      return true;
    });
    return this.#coming;
  }

  async #body(headers: readonly string[], first: string): Promise<Uint8Array<ArrayBuffer>> {
    if (headerOf(headers, "transfer-encoding") === "chunked") return await this.#chunked();
    const length = headerOf(headers, "content-length");
    if (length !== null) return await this.#take(Number(length));
    if (!first.startsWith("HTTP/") || / (204|304) /.test(first)) return new Uint8Array();
    while (await this.more());
    return await this.#take(this.#rest.length);
  }

  async #chunked(): Promise<Uint8Array<ArrayBuffer>> {
    let body = new Uint8Array();
    for (;;) {
      const line = await this.#line();
      const chunk = await this.#take(parseInt(line, 16));
      await this.#line();
      if (chunk.length === 0) return body;
      body = joined(body, chunk);
    }
  }

  async #line(): Promise<string> {
    while (!this.#text().includes("\r\n")) await this.#need();
    const text = this.#text();
    const end = text.indexOf("\r\n");
    this.#rest = this.#rest.slice(end + 2);
    return text.slice(0, end);
  }

  async #take(length: number): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#rest.length < length) await this.#need();
    const taken = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return taken;
  }

  async #need(): Promise<void> {
    if (!await this.more()) throw new Error("a message breaks off");
  }

  #headEnd(): number {
    return this.#text().indexOf("\r\n\r\n");
  }

  #text(): string {
    return new TextDecoder("latin1").decode(this.#rest);
  }
}

/** Null: it is not there. */
export function headerOf(headers: readonly string[], name: string): string | null {
  const line = headers.find((one) => one.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? null : line.slice(name.length + 1).trim();
}

/** With the headers given, and with the length of its body. */
export function messageBytes({ first, headers, body }: WireMessage): Uint8Array<ArrayBuffer> {
  const own = headers.filter((line) => !/^(content-length|transfer-encoding):/i.test(line));
  const head = [first, ...own, `content-length: ${body.length}`];
  return joined(new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n`), body);
}

export async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

export function hangUp(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // it is closed
  }
}

async function* chunksOf(connection: Deno.Conn): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(65_536);
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    yield buffer.slice(0, count);
  }
}

function joined(one: Uint8Array, two: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}
