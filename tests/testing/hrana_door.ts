// A door of its own for one database of an sqld: requests that come through it are about that namespace. It works on the
// connection itself, so that who hangs up hangs up on sqld too, which is what stops a statement.

export interface HranaDoorOptions {
  readonly sqldUrl: string;
  readonly namespace: string;
  /** Called for each request; an answer instead of sqld's own, null: sqld's own. */
  readonly refuse: (request: { readonly route: string; readonly bearer: string }) => DoorAnswer | null;
}

export interface DoorAnswer {
  readonly status: number;
  readonly body: string;
}

export interface HranaDoor {
  /** Host and port. */
  readonly host: string;
  /** Cuts off whatever is under way. */
  close(): Promise<void>;
}

interface Head {
  /** Method and path. */
  readonly route: string;
  readonly headers: readonly string[];
  readonly length: number;
  /** What of the body has come with the head. */
  readonly rest: Uint8Array<ArrayBuffer>;
}

export function openHranaDoor(options: HranaDoorOptions): HranaDoor {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const requests = new Set<Promise<void>>();
  const accepting = (async () => {
    for await (const client of listener) {
      const request = serve(options, client, open).finally(() => requests.delete(request));
      requests.add(request);
    }
  })();
  return {
    host: `127.0.0.1:${listener.addr.port}`,
    close: async () => {
      listener.close();
      for (const connection of open) hangUp(connection);
      await accepting;
      await Promise.all(requests);
    },
  };
}

/** One request; the connection ends with it. */
async function serve(
  { sqldUrl, namespace, refuse }: HranaDoorOptions,
  client: Deno.Conn,
  open: Set<Deno.Conn>,
): Promise<void> {
  open.add(client);
  let server: Deno.Conn | null = null;
  try {
    const head = await readHead(client);
    const body = await readRest(client, head);
    const bearer = /^authorization: Bearer (.*)$/im.exec(head.headers.join("\n"))?.[1] ?? "";
    const refusal = refuse({ route: head.route, bearer });
    if (refusal) return await writeAll(client, answerBytes(refusal));
    const { hostname, port } = new URL(sqldUrl);
    server = await Deno.connect({ hostname, port: Number(port) });
    open.add(server);
    const headers = head.headers.filter((line) => !/^(connection|x-namespace-bin):/i.test(line));
    const own = ["connection: close", `x-namespace-bin: ${btoa(namespace).replace(/=+$/, "")}`];
    const lines = [`${head.route} HTTP/1.1`, ...headers, ...own];
    await writeAll(server, new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`));
    await writeAll(server, body);
    const upstream = server;
    client.read(new Uint8Array(1)).catch(() => {}).finally(() => hangUp(upstream));
    for await (const chunk of chunksOf(server)) await writeAll(client, chunk);
  } catch (error) {
    if (!(error instanceof Error)) throw error; // either end has hung up
  } finally {
    for (const connection of [client, ...(server ? [server] : [])]) {
      hangUp(connection);
      open.delete(connection);
    }
  }
}

async function readHead(client: Deno.Conn): Promise<Head> {
  let bytes = new Uint8Array();
  for await (const chunk of chunksOf(client)) {
    bytes = joined(bytes, chunk);
    const text = new TextDecoder("latin1").decode(bytes);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const [first = "", ...headers] = text.slice(0, end).split("\r\n");
    const length = Number(/^content-length: (\d+)$/im.exec(headers.join("\n"))?.[1] ?? 0);
    return { route: first.replace(/ HTTP\/1\.1$/, ""), headers, length, rest: bytes.slice(end + 4) };
  }
  throw new Error("no request");
}

async function readRest(client: Deno.Conn, { rest, length }: Head): Promise<Uint8Array<ArrayBuffer>> {
  let body = rest;
  if (body.length >= length) return body;
  for await (const chunk of chunksOf(client)) {
    body = joined(body, chunk);
    if (body.length >= length) break;
  }
  return body;
}

async function* chunksOf(connection: Deno.Conn): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(65_536);
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    yield buffer.slice(0, count);
  }
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function answerBytes({ status, body }: DoorAnswer): Uint8Array {
  const length = new TextEncoder().encode(body).length;
  const head = [`HTTP/1.1 ${status} Refused`, "content-type: application/json", `content-length: ${length}`];
  return new TextEncoder().encode(`${[...head, "connection: close"].join("\r\n")}\r\n\r\n${body}`);
}

function joined(one: Uint8Array, two: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}

function hangUp(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // it is closed
  }
}
