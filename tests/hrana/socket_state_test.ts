// What sockets hold: texts, cursors, and all of it together, by whose it is.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import * as limits from "../../lib/core/limits_hrana.ts";
import { UnfinishedMessages } from "../../lib/services/hrana/end_unfinished.ts";
import { type OpenSocket, OpenSockets } from "../../lib/services/hrana/open_sockets.ts";
import { SocketCursors } from "../../lib/services/hrana/socket_cursors.ts";
import { StoredTexts } from "../../lib/services/hrana/stored_texts.ts";

/** The code with which it is refused; null: it is not. */
function refusal(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

Deno.test("a thousand texts are stored, four million characters, and a closed one leaves its room", () => {
  const texts = new StoredTexts();
  for (let id = 0; id < limits.MAX_STORED_TEXTS; id++) texts.store(id, "x");
  assertEquals(refusal(() => texts.store(-1, "")), "validation_failed");
  texts.remove(0);
  // One that is not there leaves none.
  texts.remove(0);
  const left = limits.MAX_STORED_CHARACTERS - limits.MAX_STORED_TEXTS + 1;
  assertEquals(texts.characters, limits.MAX_STORED_TEXTS - 1);
  assertEquals(refusal(() => texts.store(0, "x".repeat(left + 1))), "validation_failed");
  assertEquals(refusal(() => texts.store(0, "x".repeat(left))), null);
  assertEquals(refusal(() => texts.store(1, "x")), "validation_failed");
});

interface Told extends OpenSocket {
  held: number;
  heard: number;
  readonly ended: string[];
}

function socketOf(tokenId: string | null, held = 0): Told {
  const ended: string[] = [];
  const owner = tokenId === null ? null : { namespaceId: "ns_1", tokenId };
  return { owner, held, heard: 0, ended, end: (reason) => void ended.push(reason) };
}

Deno.test("a token has so many sockets, and the process so many more", () => {
  const sockets = new OpenSockets();
  const add = (tokenId: string, count: number) => {
    for (let at = 0; at < count; at++) sockets.add(socketOf(tokenId));
  };
  add("a", limits.MAX_SOCKETS_OF_TOKEN - 1);
  assertEquals(refusal(() => sockets.requireRoomOf("a")), null);
  const last = socketOf("a");
  sockets.add(last);
  assertEquals(refusal(() => sockets.requireRoomOf("a")), "too_many_requests");
  assertEquals(refusal(() => sockets.requireRoomOf("b")), null);
  add("b", limits.MAX_SOCKETS - limits.MAX_SOCKETS_OF_TOKEN - 1);
  assertEquals(refusal(() => sockets.requireRoom()), null);
  add("c", 1);
  assertEquals(refusal(() => sockets.requireRoom()), "too_many_requests");
  sockets.remove(last);
  assertEquals([refusal(() => sockets.requireRoom()), refusal(() => sockets.requireRoomOf("a"))], [
    null,
    null,
  ]);
});

Deno.test("of too many strangers the first is ended", () => {
  const sockets = new OpenSockets();
  const strangers = Array.from({ length: limits.MAX_UNKNOWN_SOCKETS }, () => socketOf(null));
  for (const one of strangers) sockets.add(one);
  assertEquals(strangers[0]?.ended, []);
  sockets.add(socketOf("a"));
  assertEquals(strangers.map(({ ended }) => ended.length), [1, ...Array(strangers.length - 1).fill(0)]);
});

Deno.test("what is held is bounded for strangers, for a token and for all, and a little is not counted", () => {
  const { MAX_HELD, MAX_HELD_OF_TOKEN, MAX_HELD_OF_UNKNOWN, UNCOUNTED_HELD } = limits;
  for (const [tokenId, most] of [[null, MAX_HELD_OF_UNKNOWN], ["a", MAX_HELD_OF_TOKEN]] as const) {
    const sockets = new OpenSockets();
    const [own, other] = [socketOf(tokenId, most / 2), socketOf(tokenId, most / 2)];
    for (const one of [own, other]) sockets.add(one);
    assertEquals([sockets.mayHold(own, 0), sockets.mayHold(own, 1)], [true, false], `${tokenId}`);
    own.held = 0;
    assertEquals([sockets.mayHold(own, most / 2), sockets.mayHold(own, most / 2 + 1)], [true, false]);
    other.held = most;
    assertEquals([sockets.mayHold(own, UNCOUNTED_HELD), sockets.mayHold(own, UNCOUNTED_HELD + 1)], [
      true,
      false,
    ]);
  }
  const sockets = new OpenSockets();
  for (const tokenId of ["b", "c", "d", "e"]) sockets.add(socketOf(tokenId, MAX_HELD / 4 - UNCOUNTED_HELD));
  const own = socketOf("a");
  sockets.add(own);
  const left = 4 * UNCOUNTED_HELD;
  assertEquals([sockets.mayHold(own, left), sockets.mayHold(own, left + 1)], [true, false]);
});

Deno.test("a cursor has its number until it is closed or its batch has failed, and its room until it is read", () => {
  let most = 100;
  const cursors = new SocketCursors((characters) => characters <= most);
  const first = cursors.reserve(1);
  assertEquals(refusal(() => cursors.reserve(1)), "validation_failed");
  assertEquals(refusal(() => cursors.fetch(1, 1)), "validation_failed");
  first.fill(["12345", "67890"], "none");
  assertEquals(cursors.characters, 10);
  assertEquals(cursors.fetch(1, 1), '{"type":"fetch_cursor","entries":[12345],"done":false}');
  assertEquals(cursors.characters, 10);
  assertEquals(cursors.fetch(1, 1), '{"type":"fetch_cursor","entries":[67890],"done":true}');
  assertEquals([cursors.characters, cursors.fetch(1, 1).includes('"done":true')], [0, true]);
  cursors.close(1);
  most = 9;
  const second = cursors.reserve(1);
  second.fill(["12345", "67890"], "none");
  assertEquals(cursors.fetch(1, 9), '{"type":"fetch_cursor","entries":[none],"done":true}');
  cursors.close(1);
  // Of what was closed meanwhile neither its end nor its failure touches the next one of that number.
  most = 100;
  const former = cursors.reserve(1);
  cursors.close(1);
  const next = cursors.reserve(1);
  former.fill(["former"], "none");
  former.release();
  assertEquals(cursors.characters, 0);
  next.fill(["next"], "none");
  assertEquals(cursors.fetch(1, 1), '{"type":"fetch_cursor","entries":[next],"done":true}');
  cursors.close(1);
  const open = Array.from({ length: limits.MAX_SOCKET_CURSORS }, (_, id) => cursors.reserve(id));
  assertEquals(refusal(() => cursors.reserve(99)), "validation_failed");
  open[0]?.release();
  cursors.reserve(99).fill(["held"], "none");
  cursors.close(99);
  assertEquals(cursors.characters, 0);
});

Deno.test("where memory grows with sockets those are ended from which nothing comes meanwhile, once for what they take", () => {
  const most = limits.MAX_UNFINISHED_BYTES;
  const sockets = new OpenSockets();
  let bytes = 1000;
  const unfinished = new UnfinishedMessages({ sockets, nativeBytes: () => bytes });
  const [asks, silent, late] = [socketOf("a"), socketOf("a"), socketOf(null)];
  for (const one of [asks, silent]) sockets.add(one);
  const look = () => {
    asks.heard++;
    return [unfinished.look(), asks.ended.length, silent.ended.length, late.ended.length];
  };
  assertEquals(look(), [0, 0, 0, 0]);
  bytes += most;
  assertEquals(look(), [0, 0, 0, 0]);
  bytes++;
  assertEquals(look(), [1, 0, 1, 0]);
  sockets.remove(silent);
  // What it did not free was not its own: only what comes to it counts.
  sockets.add(late);
  assertEquals(look(), [0, 0, 1, 0]);
  bytes += most + 1;
  assertEquals(look(), [1, 0, 1, 1]);
  // Of a socket that was not there a second ago nobody knows whether it is silent.
  bytes += most + 1;
  const young = socketOf("b");
  for (const one of [late, asks]) sockets.remove(one);
  sockets.add(young);
  assertEquals([unfinished.look(), unfinished.look(), young.ended.length], [0, 0, 0]);
  bytes += most + 1;
  assertEquals([unfinished.look(), young.ended.length], [1, 1]);
  // Without sockets it begins anew.
  sockets.remove(young);
  assertEquals(unfinished.look(), 0);
  bytes += 2 * most;
  sockets.add(silent);
  assertEquals([unfinished.look(), unfinished.look()], [0, 0]);
});
