// Frames of a client's WebSocket beside a library's, and sockets to the platform's own server.
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "fast-check";
// @ts-types="./ws.d.ts"
import { Receiver, Sender } from "ws";
import {
  type Heard,
  pongFrame,
  ServerFrames,
  textFrame,
} from "../../lib/tenant/remote/hrana/socket_frames.ts";
import { pause } from "../../lib/core/pause.ts";
import { type SocketOpening, WebSocketConnection } from "../../lib/tenant/remote/hrana/web_socket.ts";

const MAX_BYTES = 1_000_000;
const encoder = new TextEncoder();
const concat = (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

/** A frame of a server, as the library makes it. */
function serverFrame(opcode: number, payload: Uint8Array, fin = true): Uint8Array {
  return concat(Sender.frame(payload, { fin, opcode, mask: false, readOnly: true, rsv1: false }));
}

/** Texts around the bounds of the three forms of a length. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.tuple(fc.constantFrom("x", "ü", "🙂"), fc.constantFrom(0, 30, 125, 126, 16_383, 16_384, 65_535, 65_536))
    .map(([letter, times]) => letter.repeat(times)),
);

/** A message in as many frames as there are cuts and one, with a ping and a pong before each. */
function messageFrames(text: string, cuts: readonly number[], ping: string): Uint8Array[] {
  const bytes = encoder.encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.flatMap((end, at) => [
    serverFrame(9, encoder.encode(ping)),
    serverFrame(10, encoder.encode(ping)),
    serverFrame(at === 0 ? 1 : 0, bytes.subarray(ends[at - 1] ?? 0, end), at === ends.length - 1),
  ]);
}

Deno.test("messages in any frames and any pieces are heard as they were sent, with the pings between", () => {
  const message = fc.record({
    text,
    cuts: fc.array(fc.nat(), { maxLength: 3 }),
    ping: fc.string({ maxLength: 20 }),
  });
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 80_000 }), { minLength: 1, maxLength: 4 }),
      (messages, pieces) => {
        const sent = concat(messages.flatMap(({ text, cuts, ping }) => messageFrames(text, cuts, ping)));
        const frames = new ServerFrames(MAX_BYTES);
        const heard: Heard[] = [];
        for (let at = 0, turn = 0; at < sent.length; turn++) {
          const end = at + (pieces[turn % pieces.length] ?? 1);
          heard.push(...frames.push(sent.slice(at, end)));
          at = end;
        }
        const expected = messages.flatMap(({ text, cuts, ping }): Heard[] => [
          ...Array.from([0, ...cuts], () => ({ kind: "ping", payload: encoder.encode(ping) }) as const),
          { kind: "text", text },
        ]);
        assertEquals(heard, expected);
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("the library hears what is sent, each time with another mask", () => {
  fc.assert(
    fc.property(text, fc.uint8Array({ maxLength: 125 }), (text, payload) => {
      const heard: unknown[] = [];
      const receiver = new Receiver({ isServer: true });
      receiver.on("message", (data, isBinary) => heard.push([new TextDecoder().decode(data), isBinary]));
      receiver.on("pong", (data) => heard.push(new Uint8Array(data)));
      receiver.write(Buffer.from(textFrame(text)));
      receiver.write(Buffer.from(pongFrame(payload)));
      assertEquals(heard, [[text, false], new Uint8Array(payload)]);
    }),
    { numRuns: 100 },
  );
  const masks = Array.from({ length: 3000 }, () => textFrame("").slice(2, 6).join());
  assert(new Set(masks).size > 2990, "masks repeat");
});

Deno.test("what no server may send is refused", () => {
  const long = encoder.encode("x".repeat(126));
  const [short, part] = [encoder.encode("x"), serverFrame(1, encoder.encode("x"), false)];
  const wrong = {
    // Without its mask it would be two messages.
    "a mask": new Uint8Array([0x81, 0x84, 1, 1, 1, 1, 0x81, 2, 65, 65]),
    "a compressed message": serverFrame(0x41, short),
    "a message of bytes": serverFrame(2, short),
    "an unknown frame": serverFrame(3, short),
    "the middle of no message": serverFrame(0, short),
    "a message within another": concat([part, serverFrame(1, short)]),
    "a ping in pieces": serverFrame(9, short, false),
    "a long ping": serverFrame(9, long),
    "no UTF-8": serverFrame(1, new Uint8Array([0xff])),
    "a long message": serverFrame(1, new Uint8Array(MAX_BYTES + 1)).slice(0, 20),
    "a long message in pieces": concat([
      serverFrame(1, new Uint8Array(MAX_BYTES), false),
      serverFrame(0, short),
    ]),
  };
  for (const [what, bytes] of Object.entries(wrong)) {
    let failed = false;
    try {
      new ServerFrames(MAX_BYTES).push(bytes);
    } catch {
      failed = true;
    }
    assert(failed, what);
  }
  const said = new ServerFrames(MAX_BYTES).push(serverFrame(8, encoder.encode("\x03\xe8")));
  assertEquals(said.map(({ kind }) => kind), ["close"]);
  const frames = new ServerFrames(4);
  for (let count = 0; count < 3; count++) {
    assertEquals(frames.push(concat([part, serverFrame(0, encoder.encode("yz"))])), [{
      kind: "text",
      text: "xyz",
    }]);
  }
  assertThrows(() => new ServerFrames(1).push(serverFrame(1, encoder.encode("xx"))), /too long/);
});

const opening = { headers: { "x-own": "1" }, protocol: "hrana3", maxBytes: 10_000_000 };
const notStopped = () => new AbortController().signal;

/** A server whose sockets say each message again, and end at `end`. */
function echoes(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    if (request.headers.get("x-own") !== "1") return new Response("no", { status: 403 });
    const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "hrana3" });
    socket.addEventListener("message", ({ data }) => data === "end" ? socket.close() : socket.send(data));
    return response;
  });
}

Deno.test("a socket to the platform's server carries messages of any length in their order, and tells its end once", async () => {
  await using server = echoes();
  const heard: string[] = [];
  const ended = Promise.withResolvers<void>();
  let ends = 0;
  const socket = await WebSocketConnection.open(
    `http://127.0.0.1:${server.addr.port}/`,
    { ...opening, signal: notStopped() },
    {
      text: (text) => void heard.push(text),
      ended: () => {
        ends++;
        ended.resolve();
      },
    },
  );
  const sent = [
    "",
    "a",
    "ü".repeat(125),
    "b".repeat(65_536),
    "🙂".repeat(2_000_000),
    "d".repeat(9_000_000),
    "c",
  ];
  for (const text of sent) socket.send(text);
  socket.send("end");
  await ended.promise;
  assert(heard.every((text, at) => text === sent[at]));
  assertEquals([heard.length, ends], [sent.length, 1]);
  socket.close();
  socket.send("late");
  await pause(5);
  assertEquals(ends, 1);
});

Deno.test("no socket is opened to what does not answer as a server of that protocol, or is stopped before", async () => {
  await using server = echoes();
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const open = (url: string, more: Partial<SocketOpening>, signal = notStopped()) =>
    WebSocketConnection.open(url, { ...opening, signal, ...more }, { text() {}, ended() {} });
  await assertRejects(() => open(url, { headers: {} }));
  await assertRejects(() => open(url, {}, AbortSignal.abort()));
  const answers = [
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: AAAA\r\nsec-websocket-protocol: hrana3\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n",
    "x".repeat(100_000),
    "",
  ];
  for (const answer of answers) {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const answered = (async () => {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(65_536));
      await connection.write(encoder.encode(answer)).catch(() => {});
    })();
    await assertRejects(() => open(`http://127.0.0.1:${listener.addr.port}/`, {}));
    await answered;
  }
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const opened = open(`http://127.0.0.1:${silent.addr.port}/`, {}, stop.signal);
  using connection = await silent.accept();
  await connection.read(new Uint8Array(65_536));
  stop.abort();
  await assertRejects(() => opened);
});
