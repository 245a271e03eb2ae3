// The listener that accepts by itself: who is ended, who never is, what a stop waits for. Limits are short here.
import { connect as connectSocket } from "node:net";
import { assert, assertEquals } from "@std/assert";
import {
  type ConnectionHandler,
  HttpListener,
  type HttpListenerLimits,
} from "../../lib/guard/http_listener.ts";
import { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { ArrivingBodies } from "../../lib/guard/connection_watch.ts";
import { findServeConnection } from "../../lib/guard/serve_connection.ts";
import { pause } from "../../lib/core/pause.ts";
import { RawClient } from "../testing/raw_client.ts";
import { RawSocket } from "../testing/raw_socket.ts";

const LONG_MS = 60_000;
const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const patient = {
  headMs: LONG_MS,
  idleMs: LONG_MS,
  takenBytesPerSec: 1000,
  maxConnections: 100,
  sweepMs: 20,
};
const ok: ConnectionHandler = () => new Response("ok");
interface World extends AsyncDisposable {
  readonly listener: HttpListener;
  readonly log: string[];
  connect(): Promise<RawClient>;
}

function listening(
  limits: Partial<HttpListenerLimits>,
  handler: ConnectionHandler,
  bodies: ArrivingBodies = new BodyWatch(1),
): World {
  const serve = findServeConnection();
  assert(serve !== null);
  const log: string[] = [];
  const clients: RawClient[] = [];
  const listener = new HttpListener({
    ...{ hostname: "127.0.0.1", port: 0, limits: { ...patient, ...limits }, serve, bodies },
    log: (level, event) => void log.push(`${level} ${event}`),
  }, handler);
  return {
    ...{ listener, log },
    connect: async () => {
      const client = await RawClient.connect(listener.addr.port);
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.close();
      await listener.shutdown();
    },
  };
}

Deno.test("a connection ends that sends nothing, half a head, a head in trickles or half a preface of HTTP/2", async () => {
  await using world = listening({ headMs: 200 }, ok);
  const [nothing, half, trickled, preface] = await Promise.all([1, 2, 3, 4].map(() => world.connect()));
  await half?.send(GET.slice(0, 20));
  await preface?.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
  await Promise.all([
    nothing?.end(),
    half?.end(),
    preface?.end(),
    trickled?.trickle(`GET / HTTP/1.1\r\nX-Long: ${"x".repeat(100_000)}`, 5),
  ]);
});

Deno.test("after an answer a connection ends that stays silent, or sends the next head in trickles", async () => {
  await using world = listening({ idleMs: 200 }, ok);
  const [silent, trickled] = [await world.connect(), await world.connect()];
  for (const client of [silent, trickled]) {
    await client.send(GET);
    assertEquals((await client.answer()).body, "ok");
  }
  await Promise.all([silent.end(), trickled.trickle(`GET /${"x".repeat(100_000)}`, 5)]);
});

Deno.test("a kept connection lives past the time that a first head has, and answers", async () => {
  await using world = listening({ headMs: 100 }, ok);
  const client = await world.connect();
  for (let time = 0; time < 2; time++) {
    await client.send(GET);
    assertEquals((await client.answer()).body, "ok");
    await pause(300);
  }
});

Deno.test("neither a long answer nor a body that is sent slowly is ended", async () => {
  await using world = listening({ headMs: 100, idleMs: 100 }, async (request) => {
    const text = await request.text();
    if (text === "") await pause(500);
    return new Response(`took ${text}`);
  });
  const [long, slow] = [await world.connect(), await world.connect()];
  await Promise.all([long.send(GET), slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")]);
  for (const character of "0123456789") {
    await pause(50);
    await slow.send(character);
  }
  assertEquals([(await long.answer()).body, (await slow.answer()).body], ["took ", "took 0123456789"]);
});

Deno.test("an answer without its request's body, which never comes whole, holds no connection for ever", async () => {
  await using world = listening({ idleMs: 100 }, ok);
  const client = await world.connect();
  await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf of it");
  assertEquals((await client.answer()).body, "ok");
  await client.end();
});

Deno.test("who takes a large answer slowly gets it whole, who takes nothing of it is ended", async () => {
  const large = "x".repeat(20_000_000);
  const aborted = Promise.withResolvers<void>();
  await using world = listening({ idleMs: 100 }, (request, connection) => {
    if (request.url.endsWith("/told")) connection.expectLargeAnswer(large.length);
    else request.signal.addEventListener("abort", () => aborted.resolve());
    return new Response(large);
  });
  const [slow, never] = [await world.connect(), await world.connect()];
  await slow.send("GET /told HTTP/1.1\r\nHost: a\r\n\r\n");
  await never.send(GET);
  await aborted.promise;
  assert(await slow.take(large.length) >= large.length);
  assert(await never.take(large.length) < large.length);
});

Deno.test("a handler knows the address of the client, the same on each of its connection's requests", async () => {
  await using world = listening({}, (_, { remoteAddr }) => Response.json(remoteAddr));
  const client = await world.connect();
  for (let time = 0; time < 2; time++) {
    await client.send(GET);
    const { transport, hostname, port } = JSON.parse((await client.answer()).body);
    assertEquals([transport, hostname, port], ["tcp", "127.0.0.1", client.port]);
  }
});

Deno.test("beyond the bound of connections the ones that ask nothing go first, and none that is being answered", async () => {
  const go = Promise.withResolvers<void>();
  const handler: ConnectionHandler = async (request) => {
    if (request.url.endsWith("/slow")) await go.promise;
    return new Response("ok");
  };
  await using world = listening({ maxConnections: 3 }, handler);
  const kept = await world.connect();
  await kept.send(GET);
  await kept.answer();
  const busy = await world.connect();
  await busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  const strangers: RawClient[] = [];
  for (let stranger = 0; stranger < 50; stranger++) strangers.push(await world.connect());
  await Promise.all(strangers.slice(0, -1).map((stranger) => stranger.end()));
  await kept.send(GET);
  assertEquals((await kept.answer()).status, 200);
  go.resolve();
  assertEquals((await busy.answer()).status, 200);
});

Deno.test("a new connection is refused when requests are being answered on all, and the log says so", async () => {
  const called = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  await using world = listening({ maxConnections: 1 }, async () => {
    called.resolve();
    await go.promise;
    return new Response("ok");
  });
  const busy = await world.connect();
  await busy.send(GET);
  await called.promise;
  await (await world.connect()).end();
  assertEquals(world.log, ["warn connection_refused"]);
  go.resolve();
  assertEquals((await busy.answer()).body, "ok");
});

Deno.test("where all connections wait for bodies, the slowest gives way to each new one, and none that is being answered", async () => {
  const bodies = new BodyWatch(1000);
  const go = Promise.withResolvers<void>();
  const handler: ConnectionHandler = async (request) => {
    if (request.method === "GET") await go.promise;
    else await bodies.watch(request.text(), (text) => text).catch(() => {});
    return new Response("ok", { headers: { connection: "close" } });
  };
  await using world = listening({ maxConnections: 3 }, handler, bodies);
  const busy = await world.connect();
  await busy.send(GET);
  const slow: RawClient[] = [];
  for (let client = 0; client < 10; client++) {
    const one = await world.connect();
    await one.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n1");
    slow.push(one);
    while (bodies.pending < Math.min(2, slow.length)) {
      assertEquals(world.log, []);
      await pause(1);
    }
  }
  const last = slow.pop();
  for (const one of slow.slice(0, -1)) await one.end();
  await last?.send("2345");
  assertEquals((await last?.answer())?.status, 200);
  go.resolve();
  assertEquals((await busy.answer()).status, 200);
  assertEquals(world.log, []);
});

Deno.test("a handler that throws is a 500, and the log says so", async () => {
  await using world = listening({ idleMs: 100 }, () => {
    throw new TypeError("broken");
  });
  const client = await world.connect();
  await client.send(GET);
  assertEquals([(await client.answer()).status, world.log], [500, ["error answer_failed"]]);
  await client.end();
});

Deno.test("a stop ends silent connections, waits for the request that runs, and lets nobody in", async () => {
  const called = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  await using world = listening({}, async (request) => {
    if (request.method === "GET") return new Response("ok");
    called.resolve();
    await go.promise;
    return new Response("done");
  });
  const [idle, half, nothing, busy] = await Promise.all([1, 2, 3, 4].map(() => world.connect()));
  await idle?.send(GET);
  await idle?.answer();
  await half?.send(GET.slice(0, 10));
  await busy?.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  await called.promise;
  const stopped = world.listener.shutdown();
  await Promise.all([idle?.end(), half?.end(), nothing?.end()]);
  const { connect } = world;
  assertEquals(await connect().then(() => "let in", (error) => error.name), "ConnectionRefused");
  go.resolve();
  assertEquals((await busy?.answer())?.body, "done");
  await stopped;
});

Deno.test("clients that hang up before they are let in end nobody else, and nothing is logged", async () => {
  await using world = listening({}, ok);
  const silent = await world.connect();
  for (let client = 0; client < 50; client++) {
    await new Promise<void>((resolve) => {
      const socket = connectSocket(world.listener.addr.port, "127.0.0.1", () => socket.resetAndDestroy());
      socket.on("close", () => resolve());
    });
  }
  await silent.send(GET);
  assertEquals([(await silent.answer()).body, world.log], ["ok", []]);
});

Deno.test("a socket is never ended for being silent, is among the connections, and a stop waits until it has closed", async () => {
  const told = Promise.withResolvers<void>();
  let socket: WebSocket | null = null;
  await using world = listening({ idleMs: 40, maxConnections: 1 }, async (request, connection) => {
    const upgraded = await connection.upgrade(request, {}, () => {
      told.resolve();
      socket?.close(1001, "stops");
    });
    assert(upgraded !== null);
    socket = upgraded.socket;
    return upgraded.response;
  });
  const { port } = world.listener.addr;
  const client = await RawSocket.connect(port, "/");
  // It has been silent for longer than a connection may be, and has the only place.
  for (let sweeps = 0; sweeps < 10; sweeps++) await pause(patient.sweepMs);
  const refused = await world.connect();
  await refused.end();
  assertEquals(world.log, ["warn connection_refused"]);
  const stopped = world.listener.shutdown();
  await told.promise;
  assertEquals(await client.next(), 1001);
  client[Symbol.dispose]();
  await stopped;
});

Deno.test("every one of a burst of sockets stays open", async () => {
  await using world = listening({}, async (request, connection) => {
    // As the service's own handler does: an answer that is made later.
    await pause(Math.random() * 3);
    const upgraded = await connection.upgrade(request, {}, () => {});
    assert(upgraded !== null);
    const { socket, response } = upgraded;
    socket.onmessage = ({ data }) => socket.send(data);
    return response;
  });
  for (let burst = 0; burst < 5; burst++) {
    await Promise.all(Array.from({ length: 100 }, async () => {
      const client = await RawSocket.connect(world.listener.addr.port, "/");
      await client.send(burst);
      assertEquals(await client.next(), String(burst));
      client[Symbol.dispose]();
    }));
  }
});
