// The runtime's function for one connection does what the listener takes from it. Where a new Deno fails here, look at
// lib/guard/serve_connection.ts first.
import { assert, assertEquals } from "@std/assert";
import { findServeConnection, type ServedConnection } from "../../lib/guard/serve_connection.ts";
import { RawClient } from "../testing/raw_client.ts";

interface World extends AsyncDisposable {
  readonly client: RawClient;
  readonly served: ServedConnection;
}

/** A client and the other end of its connection, on which the handler answers. */
async function connected(handler: (request: Request) => Response | Promise<Response>): Promise<World> {
  const serve = findServeConnection();
  assert(serve !== null, "this Deno has no function to serve one connection, or another one");
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [client, connection] = await Promise.all([RawClient.connect(listener.addr.port), listener.accept()]);
  const served = serve(connection, handler, () => new Response("failed", { status: 500 }));
  return {
    ...{ client, served },
    [Symbol.asyncDispose]: async () => {
      client.close();
      served.end();
      await served.finished;
    },
  };
}

Deno.test("this runtime serves single connections: requests one after the other, then the end by the client", async () => {
  await using world = await connected(async (request) => new Response(await request.text()));
  for (const text of ["one", "two"]) {
    await world.client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n${text}`);
    assertEquals((await world.client.answer()).body, text);
  }
  world.client.close();
  await world.served.finished;
});

Deno.test("this runtime serves single connections: requests sent at once are answered in order", async () => {
  await using world = await connected(({ url }) => new Response(new URL(url).pathname));
  await world.client.send(
    ["/a", "/b", "/c"].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""),
  );
  const bodies = [await world.client.answer(), await world.client.answer(), await world.client.answer()];
  assertEquals(bodies.map(({ body }) => body), ["/a", "/b", "/c"]);
});

Deno.test("this runtime serves single connections: HTTP/2 by prior knowledge too", async () => {
  await using world = await connected(() => new Response("ok"));
  // The preface, then SETTINGS without any; the server's own SETTINGS (type 4) come back.
  await world.client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
  assertEquals((await world.client.bytes(4))[3], 4);
});

/** A request of HTTP/2 whose headers are all spelled out: type 1, and neither body nor more headers follow. */
function requestOfHttp2(stream: number, more: readonly [string, string]): string {
  const short = (text: string) => String.fromCharCode(text.length) + text;
  const headers = [
    [":method", "GET"],
    [":scheme", "http"],
    [":authority", "a"],
    [":path", "/"],
    more,
  ] as const;
  const block = headers.map(([name, value]) => `\0${short(name)}${short(value)}`).join("");
  return `\0\0${String.fromCharCode(block.length)}\x01\x05\0\0\0${String.fromCharCode(stream)}${block}`;
}

Deno.test("this runtime serves single connections: only requests of HTTP/1.1 have the header Connection", async () => {
  const came = Promise.withResolvers<Headers>();
  await using world = await connected(({ headers }) => {
    came.resolve(headers);
    return new Response("ok");
  });
  await world.client.send(
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0" + requestOfHttp2(1, ["connection", "keep-alive"]) +
      requestOfHttp2(3, ["host", "a"]),
  );
  const headers = await came.promise;
  assertEquals([headers.get("connection"), headers.get("host")], [null, "a"]);
  await using second = await connected(({ headers }) => new Response(headers.get("connection")));
  await second.client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  assertEquals((await second.client.answer()).body, "keep-alive");
});

Deno.test("a request's signal aborts when its connection ends, by whomever, and not when it has been answered", async () => {
  for (const who of ["client", "service"] as const) {
    const signals: AbortSignal[] = [];
    const called = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    await using world = await connected(async (request) => {
      signals.push(request.signal);
      if (request.url.endsWith("/quick")) return new Response("ok");
      request.signal.addEventListener("abort", () => aborted.resolve());
      called.resolve();
      await aborted.promise;
      return new Response("too late");
    });
    await world.client.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n");
    await world.client.answer();
    await world.client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await called.promise;
    if (who === "client") world.client.close();
    else world.served.end();
    await aborted.promise;
    await world.served.finished;
    assertEquals(signals.map(({ aborted }) => aborted), [false, true], who);
  }
});

Deno.test("a drained connection answers the request that runs, and a silent one ends; ending either again does nothing", async () => {
  const called = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const handler = async () => {
    called.resolve();
    await go.promise;
    return new Response("whole");
  };
  await using busy = await connected(handler);
  await using silent = await connected(handler);
  await silent.client.send("GET / HTTP/1.1\r\nHo");
  await busy.client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await called.promise;
  const drained = Promise.all([busy.served.drain(), silent.served.drain()]);
  await silent.client.end();
  busy.served.end();
  go.resolve();
  assertEquals((await busy.client.answer()).body, "whole");
  await busy.client.end();
  await drained;
  busy.served.end();
});

Deno.test("this runtime makes a socket of a connection, which lives on when its server has ended", async () => {
  const socket = Promise.withResolvers<WebSocket>();
  let served: ServedConnection | null = null;
  const serve = findServeConnection();
  assert(serve !== null);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [client, connection] = await Promise.all([
    Promise.resolve(new WebSocket(`ws://127.0.0.1:${listener.addr.port}/`)),
    listener.accept(),
  ]);
  served = serve(connection, (request) => {
    const upgraded = served?.upgrade(request, {}) ?? null;
    assert(upgraded !== null, "this Deno has no functions to let a socket go, or other ones");
    socket.resolve(upgraded.socket);
    return upgraded.response;
  }, () => new Response("failed", { status: 500 }));
  const own = await socket.promise;
  await served.finished;
  const heard = Promise.withResolvers<string>();
  client.onmessage = ({ data }) => heard.resolve(data);
  own.onmessage = ({ data }) => own.send(`${data} too`);
  if (client.readyState !== WebSocket.OPEN) await new Promise((open) => client.onopen = open);
  client.send("you");
  assertEquals(await heard.promise, "you too");
  const ends = [own, client].map((one) => new Promise((closed) => one.onclose = closed));
  served.end();
  client.close();
  await Promise.all(ends);
});

Deno.test("bytes that are no HTTP end their connection and nothing else", async () => {
  await using world = await connected(() => new Response("ok"));
  await world.client.send("\x16\x03\x01 this is no HTTP\r\n\r\n");
  await world.client.end();
  await world.served.finished;
});

Deno.test("a runtime without the function, or with another one of its name, is found out", () => {
  const internal = Symbol("internal");
  assertEquals(findServeConnection({}), null);
  assertEquals(findServeConnection({ internal, [internal]: {} }), null);
  assertEquals(findServeConnection({ internal, [internal]: { serveHttpOnConnection: () => {} } }), null);
});
