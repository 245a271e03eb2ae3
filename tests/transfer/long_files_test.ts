// Imports of what has no end, and exports whose client takes nothing: bounded in time and memory, and nobody's place is lost.
import { assert, assertEquals } from "@std/assert";
import { exportLimits, importLimits } from "../../lib/core/limits_of_transfers.ts";
import { uploadPieces } from "../../lib/services/transfer/spool_upload.ts";
import { clientStream } from "../../lib/services/transfer/client_stream.ts";
import { startApp } from "../testing/start_app.ts";
import { transferWorld } from "./transfer_world.ts";

Deno.test("an upload that trickles ends, and one beyond the bound of a file", async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const taken = async (piece: Uint8Array<ArrayBuffer>, ms: number) => {
    nowMs = 0;
    let bytes = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        nowMs += ms;
        controller.enqueue(piece);
      },
    }, { highWaterMark: 0 });
    try {
      for await (const { length } of uploadPieces(body, clock)) bytes += length;
    } catch (error) {
      return [Reflect.get(Object(error), "code"), bytes];
    }
    return ["taken", bytes];
  };
  // A byte a second: it has a minute.
  assertEquals(await taken(new Uint8Array(1), 1000), ["request_timeout", importLimits.silentMs / 1000]);
  const piece = new Uint8Array(64 * 1024 ** 2);
  assertEquals(await taken(piece, 0), ["payload_too_large", importLimits.fileBytes]);
});

Deno.test("a statement without end is refused by its line, in bounded memory", async () => {
  await using app = await startApp();
  const world = await transferWorld(app, "acme");
  const piece = new TextEncoder().encode("x".repeat(1024 ** 2));
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (sent === 0) {
        controller.enqueue(new TextEncoder().encode("CREATE TABLE t (v);\nINSERT INTO t VALUES ('"));
      } else if (sent < 70) controller.enqueue(piece);
      else controller.close();
      sent++;
    },
  });
  const answer = await world.import("format=sql&mode=create", body);
  assertEquals([answer.status, answer.body.code, answer.body.issues?.[0]?.path], [
    400,
    "import_refused",
    "line 2",
  ], answer.text.slice(0, 500));
  assert(/longer than 67108864 characters/.test(answer.text));
});

Deno.test("a client that takes nothing for two minutes loses its export, and the place is free again", async () => {
  // Only these timers are counted, and run when the test says so.
  const { setTimeout: real } = globalThis;
  const late: (() => void)[] = [];
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    if (ms === exportLimits.stalledMs) late.push(run);
    return real(() => {}, 0);
  }) as typeof setTimeout;
  const kept = { readers: 0, sentBytes: 0, breakOff: null };
  const closed: (string | null)[] = [];
  try {
    const stream = clientStream({
      kept,
      read: (into) => Promise.resolve(into.length),
      done: () => Promise.resolve(null),
      close: (errorKind) => void closed.push(errorKind),
    });
    const reader = stream.getReader();
    assertEquals((await reader.read()).value?.length, kept.sentBytes);
    assertEquals([kept.readers, closed], [1, []]);
    late.at(-1)?.();
    await reader.read().then(
      () => assert(false),
      (error) => assertEquals(error.message, "the client takes nothing"),
    );
  } finally {
    globalThis.setTimeout = real;
  }
  assertEquals([kept.readers, closed], [0, ["client_stalled"]]);
});
