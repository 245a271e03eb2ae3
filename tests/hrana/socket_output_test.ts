// How a socket ends whose client does not take part, by sockets of the runtime and a client that reads when it is told to.
import { assert, assertEquals } from "@std/assert";
import { MAX_HELD_OF_TOKEN, MAX_HELD_OF_UNKNOWN, MAX_UNKNOWN_SOCKETS } from "../../lib/core/limits_hrana.ts";
import { type OpenSocket, OpenSockets } from "../../lib/services/hrana/open_sockets.ts";
import { SocketOutput } from "../../routes/hrana/socket_output.ts";
import { RawSocket } from "../testing/raw_socket.ts";

const impatient = { readMs: 60, closeMs: 60 };
const LARGE = "x".repeat(16_000_000);

interface World {
  readonly output: SocketOutput;
  readonly client: RawSocket;
  readonly socket: WebSocket;
  readonly closed: Promise<unknown>;
}

async function connected(
  use: (world: World) => Promise<void>,
  times: { readonly readMs: number; readonly closeMs: number } = impatient,
): Promise<void> {
  const opened = Promise.withResolvers<WebSocket>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => opened.resolve(socket);
    return response;
  });
  const client = await RawSocket.connect(server.addr.port, "/");
  const socket = await opened.promise;
  const closed = new Promise((resolve) => socket.onclose = socket.onerror = resolve);
  await use({ output: new SocketOutput(socket, () => true, times), client, socket, closed });
  client[Symbol.dispose]();
  await closed;
  await server.shutdown();
}

Deno.test("a client that never answers the end of its socket loses the connection", async () => {
  await connected(async ({ output, client, closed }) => {
    output.send("the last");
    await output.end(4008, "over");
    assertEquals([await client.next(), await client.next()], ["the last", 4008]);
    await closed;
    assertEquals(await client.next(), null);
  }, { readMs: 60, closeMs: 500 });
});

Deno.test("a socket that is not open yet is given up when it is to end, and is closed if it opens after all", async () => {
  const mayOpen = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<number>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await mayOpen.promise;
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onclose = ({ code }) => closed.resolve(code);
    return response;
  });
  const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}`);
  const output = new SocketOutput(socket, () => true, impatient);
  let told = 0;
  socket.onerror = () => told++;
  await output.end(4008, "over");
  await output.end(4008, "again");
  assertEquals([told, output.isOpen, socket.readyState], [1, false, WebSocket.CONNECTING]);
  mayOpen.resolve();
  assertEquals(await closed.promise, 4008);
  await server.shutdown();
});

Deno.test("a request waits for a client that reads, and the socket of one that does not is ended and still counted", async () => {
  await connected(async ({ output, client }) => {
    output.send(LARGE);
    const taken = output.taken();
    assert(taken !== null && output.unread > 1_000_000);
    assertEquals(String(await client.next()).length, LARGE.length);
    await taken;
    assertEquals([output.isOpen, output.taken()], [true, null]);
  }, { readMs: 60_000, closeMs: 60 });
  await connected(async ({ output, socket }) => {
    output.send(LARGE);
    await output.taken();
    output.send("never sent");
    assertEquals([output.isOpen, socket.readyState], [false, WebSocket.CLOSING]);
    assert(output.unread > 1_000_000, "the runtime has it until the connection ends");
  });
});

Deno.test("sockets of one token hold so much together, and strangers so much all together", () => {
  const sockets = new OpenSockets();
  const ended: OpenSocket[] = [];
  const open = (tokenId: string | null, held: number): OpenSocket => {
    const owner = tokenId === null ? null : { namespaceId: "ns_1", tokenId };
    const socket: OpenSocket = { owner, held, heard: 0, end: () => void ended.push(socket) };
    sockets.add(socket);
    return socket;
  };
  const half = MAX_HELD_OF_TOKEN / 2;
  const [one, two, other] = [open("a", half), open("a", half - 100_000), open("b", 0)];
  assert(sockets.mayHold(two, 100_000) && !sockets.mayHold(two, 100_001));
  assert(!sockets.mayHold(one, 100_001) && sockets.mayHold(other, half));
  const strangers = Array.from({ length: MAX_UNKNOWN_SOCKETS }, () => open(null, 0));
  const [first] = strangers;
  assert(
    first && sockets.mayHold(first, MAX_HELD_OF_UNKNOWN) && !sockets.mayHold(first, MAX_HELD_OF_UNKNOWN + 1),
  );
  assertEquals(ended, []);
  open(null, 0);
  assertEquals(ended, strangers.slice(0, 1));
  const holding = open(null, MAX_HELD_OF_UNKNOWN - 100_000);
  assert(sockets.mayHold(first, 100_000) && !sockets.mayHold(first, 100_001));
  assert(sockets.mayHold(other, half) && !sockets.mayHold(holding, 100_001));
});
