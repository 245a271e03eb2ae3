// A relay before a server, on the connections themselves: it can close a kept-alive connection without an answer, before
// or after the server has worked, and send a request late, twice or behind a later one. Who hangs up hangs up on the
// server too, unless the request is to go on by itself.
import { hangUp, messageBytes, type WireMessage, WireReader, writeAll } from "./http_wire.ts";

export interface RelayRequest {
  /** Method and path. */
  readonly route: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/**
 * Sends the request to the server, once more each time; `alone`: also when its caller has gone. Throws where the server
 * does not answer.
 */
export type Go = (how?: "alone") => Promise<WireMessage>;

/** What the caller gets: an answer, half of one, or none and a closed connection, which `cut` closes at once. */
export type Between = (request: RelayRequest, go: Go, cut: () => void) => Promise<RelayAnswer>;

export type RelayAnswer = WireMessage | Half | null;

/** The first half of an answer, behind which the connection is closed. */
export interface Half {
  readonly half: WireMessage;
}

export interface Relay extends AsyncDisposable {
  readonly url: string;
  /** Null: everything is handed on. */
  between: Between | null;
}

/** `headers`: lines that each request gets in place of its own ones of those names. */
export function openRelay(target: string, headers: readonly string[] = []): Relay {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const work = new Set<Promise<void>>();
  const relay: Relay = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    between: null,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      for (const connection of open) hangUp(connection);
      await accepting;
      while (work.size > 0) await Promise.all(work);
    },
  };
  const during = (task: Promise<void>) => {
    const ended = task.catch(() => {}).finally(() => work.delete(ended));
    work.add(ended);
  };
  const accepting = (async () => {
    for await (const client of listener) {
      during(serve(client, (message, gone) => {
        const go: Go = (how) => {
          const sent = send(target, withHeaders(message, headers), open, how === "alone" ? null : gone);
          during(sent.then(() => {}));
          return sent;
        };
        const cut = () => hangUp(client);
        return relay.between === null ? go() : relay.between(requestOf(message), go, cut);
      }, open));
    }
  })();
  return relay;
}

type Handle = (message: WireMessage, gone: Promise<void>) => Promise<RelayAnswer>;

/** One request after the other, until either end has enough. */
async function serve(client: Deno.Conn, handle: Handle, open: Set<Deno.Conn>): Promise<void> {
  open.add(client);
  const reader = new WireReader(client);
  try {
    for (;;) {
      const message = await reader.next();
      if (message === null) return;
      // Nobody sends the next request before the answer: what comes now is the end.
      const gone = reader.more().then(() => {}, () => {});
      const answer = await handle(message, gone);
      if (answer === null) return;
      if ("half" in answer) {
        const bytes = messageBytes(answer.half);
        return await writeAll(client, bytes.subarray(0, bytes.length >> 1));
      }
      await writeAll(client, messageBytes(answer));
    }
  } finally {
    hangUp(client);
    open.delete(client);
  }
}

/** On a connection of its own. */
async function send(
  target: string,
  message: WireMessage,
  open: Set<Deno.Conn>,
  gone: Promise<void> | null,
): Promise<WireMessage> {
  const { hostname, port } = new URL(target);
  const server = await Deno.connect({ hostname, port: Number(port) });
  open.add(server);
  void gone?.then(() => hangUp(server));
  try {
    await writeAll(server, messageBytes(withHeaders(message, ["connection: close"])));
    const answer = await new WireReader(server).next();
    if (answer === null) throw new Error("no answer");
    return { ...answer, headers: answer.headers.filter((line) => !/^connection:/i.test(line)) };
  } finally {
    hangUp(server);
    open.delete(server);
  }
}

function withHeaders(message: WireMessage, lines: readonly string[]): WireMessage {
  const names = lines.map((line) => line.slice(0, line.indexOf(":") + 1).toLowerCase());
  const kept = message.headers.filter((line) => !names.some((name) => line.toLowerCase().startsWith(name)));
  return { ...message, headers: [...kept, ...lines] };
}

function requestOf({ first, headers, body }: WireMessage): RelayRequest {
  return { route: first.replace(/ HTTP\/1\.1$/, ""), headers, body: new TextDecoder().decode(body) };
}
