// Answers whose clients do not take them: what they hold, who is ended for others, and that a slow client gets it all.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { type AnswerLimits, AnswerRoom } from "../../lib/guard/answer_room.ts";
import { HttpListener } from "../../lib/guard/http_listener.ts";
import { findServeConnection } from "../../lib/guard/serve_connection.ts";
import { RawClient } from "../testing/raw_client.ts";

const MB = 1_000_000;
/** More than a connection of this machine takes for a client that reads nothing. */
const LARGE = 16 * MB;
const wide: AnswerLimits = {
  ...{ freeBytes: 0, wholeBytes: 2 * MB, memoryBytes: 20 * MB, diskBytes: 100 * MB, diskFiles: 100 },
  stallMs: 60_000,
};

interface World extends AsyncDisposable {
  readonly room: AnswerRoom;
  readonly folder: string;
  readonly log: string[];
  /** A client who has asked for so many characters; as bytes, whose memory is used again, where the owner is `bytes`. */
  ask(bytes: number, owner?: string): Promise<RawClient>;
}

/** `folderFails`: where files should be made is a file. */
async function answering(limits: Partial<AnswerLimits>, folderFails = false): Promise<World> {
  const serve = findServeConnection();
  assert(serve !== null);
  const parent = await Deno.makeTempDir();
  const folder = `${parent}/answers`;
  if (folderFails) await Deno.writeTextFile(folder, "");
  const [log, clients]: [string[], RawClient[]] = [[], []];
  const note = (level: string, event: string) => void log.push(`${level} ${event}`);
  const room = new AnswerRoom({ limits: { ...wide, ...limits }, folder, clock: systemClock, log: note });
  const times = { headMs: 60_000, idleMs: 60_000, takenBytesPerSec: 1000, maxConnections: 100, sweepMs: 20 };
  const listener = new HttpListener({
    ...{ hostname: "127.0.0.1", port: 0, limits: times, serve, answers: room, log: note },
  }, (request, connection) => {
    const [, owner = "", bytes = ""] = new URL(request.url).pathname.split("/");
    const answer = owner === "bytes" ? new Uint8Array(Number(bytes)).fill(120) : "x".repeat(Number(bytes));
    const held = connection.holdAnswer(answer, owner, true);
    const whole = held === null ? new Response(answer) : null;
    // Its memory is used for other answers from here on.
    if (answer instanceof Uint8Array) answer.fill(0);
    if (held === null) return whole ?? new Response();
    return new Response(held.body, { headers: { "content-length": String(held.sizeBytes) } });
  });
  return {
    ...{ room, folder, log },
    ask: async (bytes, owner = "one") => {
      const client = await RawClient.connect(listener.addr.port);
      clients.push(client);
      await client.send(`GET /${owner}/${bytes} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.close();
      await listener.shutdown();
      await Deno.remove(parent, { recursive: true });
    },
  };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!await holds()) await pause(5);
}

/** Waits until an answer has begun, and so has room; returns how many bytes of it were taken. */
async function begun(client: RawClient | undefined): Promise<number> {
  return (await client?.bytes(1))?.length ?? 0;
}

/** How many of the clients get less than so many bytes. */
async function brokenOff(clients: readonly RawClient[], bytes: number): Promise<number> {
  const taken = await Promise.all(clients.map((client) => client.take(bytes)));
  return taken.filter((count) => count < bytes).length;
}

Deno.test("beyond the memory answers wait in files without a name, and slow clients get them whole", async () => {
  await using world = await answering({});
  const clients: RawClient[] = [];
  for (let at = 0; at < 4; at++) {
    clients.push(await world.ask(LARGE));
    await until(() => world.room.used.memory + world.room.used.disk === (at + 1) * LARGE);
  }
  assertEquals(world.room.used, { memory: LARGE, disk: 3 * LARGE });
  for (const client of clients) assert(await client.take(LARGE) >= LARGE);
  await until(() => world.room.used.memory + world.room.used.disk === 0);
  assertEquals([...Deno.readDirSync(world.folder)], []);
  assertEquals(world.log, []);
});

Deno.test("where there is no room, a client is ended, of one owner first", async () => {
  await using world = await answering({ memoryBytes: 0, diskBytes: 5 * LARGE });
  const other = await world.ask(LARGE, "other");
  await until(() => world.room.used.disk === LARGE);
  const greedy: RawClient[] = [];
  for (let at = 0; at < 5; at++) {
    greedy.push(await world.ask(LARGE));
    await until(() => world.room.used.disk === Math.min(at + 2, 5) * LARGE);
  }
  const began = await begun(greedy.at(-1));
  assert(await other.take(LARGE) >= LARGE);
  assertEquals(await brokenOff(greedy, LARGE - began), 1);
});

Deno.test("a client who takes nothing is ended, and what it holds is free", async () => {
  await using world = await answering({ stallMs: 200 });
  const silent = [await world.ask(LARGE), await world.ask(LARGE)];
  await until(() => world.room.used.disk === LARGE);
  await until(() => world.room.used.memory + world.room.used.disk === 0);
  for (const client of silent) assert(await client.take(Infinity) < LARGE);
});

Deno.test("where no file can be made, answers stay within the memory", async () => {
  await using world = await answering({ memoryBytes: 2 * LARGE }, true);
  const clients: RawClient[] = [];
  for (let at = 0; at < 3; at++) {
    clients.push(await world.ask(LARGE));
    await until(() => world.room.used.memory === Math.min(at + 1, 2) * LARGE && world.room.used.disk === 0);
  }
  await until(() => world.log.length > 0);
  assertEquals(await brokenOff(clients, LARGE), 1);
  assertEquals(world.log, ["warn answer_not_spooled"]);
});

Deno.test("what goes out whole is counted until the next request on its connection, or its end", async () => {
  await using world = await answering({});
  const client = await world.ask(MB);
  assertEquals((await client.answer()).body.length, MB);
  assertEquals(world.room.used.memory, MB);
  await client.send("GET /one/10 HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.answer();
  assertEquals(world.room.used.memory, 10);
  client.close();
  await until(() => world.room.used.memory === 0);
});

Deno.test("an answer of bytes reaches its client as it was when it was made, whole or in pieces", async () => {
  for (const memoryBytes of [20 * MB, 0]) {
    await using world = await answering({ memoryBytes });
    const client = await world.ask(MB, "bytes");
    assert((await client.answer()).body === "x".repeat(MB));
  }
});

/** A room without a connection: what it ends goes on reading. */
function roomIn(
  folder: string,
  limits: Partial<AnswerLimits>,
): { room: AnswerRoom; later(ms?: number): void } {
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs };
  const room = new AnswerRoom({ limits: { ...wide, ...limits }, folder, clock, log: () => {} });
  return { room, later: (ms = wide.stallMs + 1) => void (nowMs += ms) };
}

Deno.test("an ended answer breaks off, and its file is closed though nobody cancels it", async () => {
  const folder = await Deno.makeTempDir();
  for (const memoryBytes of [0, 20 * MB]) {
    const { room, later } = roomIn(folder, { memoryBytes });
    const reader = room.pieces(new Uint8Array(MB), { owner: "one", end: () => {} }).getReader();
    assertEquals((await reader.read()).done, false);
    later();
    room.sweep();
    assertEquals(room.used, { memory: 0, disk: 0 });
    await assertRejects(() => reader.read());
    // Nobody reads or cancels this one: the sanitizer of resources sees whether its file stays open.
    const stream = room.pieces(new Uint8Array(MB), { owner: "one", end: () => {} });
    await room.settled();
    later();
    room.sweep();
    assert(!stream.locked);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("answers that go out whole have the memory and no more, are counted once, and no sweep ends them", () => {
  const { room, later } = roomIn("", { memoryBytes: 3 * MB });
  let ended = 0;
  const hold = (bytes: number) => room.holdWhole(bytes, { owner: "one", end: () => void ended++ });
  const [first, second] = [hold(2 * MB), hold(MB)];
  assertEquals([first, second, hold(1)].map((held) => held !== null), [true, true, false]);
  later();
  room.sweep();
  assertEquals([ended, room.used.memory], [0, 3 * MB]);
  first?.leave();
  first?.leave();
  assertEquals(room.used.memory, MB);
  assertEquals(hold(2 * MB + 1), null);
  assert(hold(2 * MB) !== null);
});

Deno.test("a client who takes a piece within the time that it has is never ended, however long all of it takes", async () => {
  const { room, later } = roomIn("", { memoryBytes: 20 * MB });
  let ended = 0;
  const stream = room.pieces(new Uint8Array(MB), { owner: "one", end: () => void ended++ });
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    later(wide.stallMs);
    room.sweep();
  }
  assertEquals([bytes, ended, room.used.memory], [MB, 0, 0]);
});

Deno.test("an answer that was ended before the disk refused it is counted nowhere", async () => {
  const file = await Deno.makeTempFile();
  const { room } = roomIn(file, { memoryBytes: 0 });
  const stream = room.pieces(new Uint8Array(MB), { owner: "one", end: () => {} });
  await stream.cancel();
  await room.settled();
  assertEquals(room.used, { memory: 0, disk: 0 });
  await Deno.remove(file);
});

Deno.test("one owner's many small answers take half of the files from the others, and no more", async () => {
  const folder = await Deno.makeTempDir();
  const { room, later } = roomIn(folder, { memoryBytes: 0, diskFiles: 4 });
  const ended: string[] = [];
  const streams: ReadableStream[] = [];
  for (const name of ["other 1", "other 2", "one 1", "one 2", "one 3", "one 4", "one 5"]) {
    const [owner = ""] = name.split(" ");
    streams.push(room.pieces(new Uint8Array(10), { owner, end: () => void ended.push(name) }));
    later(1);
  }
  // Those first that have taken nothing for longest.
  assertEquals(ended, ["one 1", "one 2", "one 3"]);
  for (const stream of streams) await stream.cancel().catch(() => {});
  await room.settled();
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  await Deno.remove(folder, { recursive: true });
});
