// What a socket takes while answers wait, and nothing once the service stops.
import { assertEquals } from "@std/assert";
import { FREE_SOCKET_WAITING, MAX_SOCKET_WAITING, WAITING_CHARACTERS } from "../../lib/core/limits_hrana.ts";
import type { DoorContext } from "../../lib/services/hrana/hrana_types.ts";
import { AppError } from "../../lib/core/errors.ts";
import { SocketSession } from "../../lib/services/hrana/socket_session.ts";
import type { SocketParts } from "../../lib/services/hrana/socket_types.ts";

/** A session whose token nobody has looked at yet, so that every request waits. `taken`: as its socket has it. */
function waitingSession(taken: SocketParts["taken"] = () => null) {
  const told = { sent: [] as string[], ended: [] as string[], asked: [] as number[] };
  const session = new SocketSession({
    enter: () => new Promise<DoorContext>(() => {}),
    end: (_code, reason) => void told.ended.push(reason),
    send: (text) => void told.sent.push(text),
    taken,
    unexpected: () => new AppError("internal"),
    mayHold: (characters) => {
      told.asked.push(characters);
      return true;
    },
  });
  session.receive({ type: "hello", jwt: "token" }, 1);
  const ask = (id: number) =>
    session.receive({ type: "request", request_id: id, request: { type: "open_stream", stream_id: 1 } }, 10);
  return { session, told, ask };
}

Deno.test("a thousand requests wait as they are, further ones count more, and ten thousand end the socket", () => {
  const { told, ask, session } = waitingSession();
  for (let at = 1; at < FREE_SOCKET_WAITING; at++) ask(at);
  assertEquals([told.asked.at(-1), session.held], [10, 1 + 10 * (FREE_SOCKET_WAITING - 1)]);
  ask(FREE_SOCKET_WAITING);
  assertEquals(told.asked.at(-1), 10 + WAITING_CHARACTERS);
  for (let at = FREE_SOCKET_WAITING + 1; at < MAX_SOCKET_WAITING; at++) ask(at);
  assertEquals(told.ended, []);
  ask(MAX_SOCKET_WAITING);
  assertEquals(told.ended, ["Wait for answers; too much is under way"]);
});

Deno.test("what comes once the service stops is not taken, and what waits is waited for", () => {
  const { told, ask, session } = waitingSession();
  ask(1);
  let isIdle = false;
  session.stop(() => isIdle = true);
  const { length } = told.asked;
  ask(2);
  assertEquals([told.asked.length, told.ended, isIdle], [length, [], false]);
});

Deno.test("that a request is wrong is told once its client has read, until then it waits and counts as any other", async () => {
  const read = Promise.withResolvers<void>();
  const { told, session } = waitingSession(() => read.promise);
  const wrong = (id: number) =>
    session.receive({ type: "refused", request_id: id, error: new AppError("validation_failed") }, 10);
  for (let at = 1; at < MAX_SOCKET_WAITING; at++) wrong(at);
  assertEquals([told.sent.length, told.ended, told.asked.at(-1)], [0, [], 10 + WAITING_CHARACTERS]);
  wrong(MAX_SOCKET_WAITING);
  assertEquals(told.ended, ["Wait for answers; too much is under way"]);
  read.resolve();
  await read.promise;
  assertEquals(told.sent.length, MAX_SOCKET_WAITING - 1);
});
