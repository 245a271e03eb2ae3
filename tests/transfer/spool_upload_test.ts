// Uploads leave room on the disk for everybody else.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { importLimits } from "../../lib/core/limits_of_transfers.ts";
import { spoolUpload } from "../../lib/services/transfer/spool_upload.ts";

const PIECE = new Uint8Array(1024 ** 2);
/** Pieces behind which the test would have failed. */
const MOST = 200;

/** Pieces almost without end; `given` counts them. */
function endless(given: { count: number }): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull: (controller) => {
      if (given.count++ === MOST) controller.close();
      else controller.enqueue(PIECE);
    },
  });
}

Deno.test("an upload ends where it would take the room of others, or of what is built of it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const given = { count: 0 };
    // The disk has room for 40 pieces and as much again.
    const free = () => Promise.resolve(importLimits.leftBytes + (80 - given.count) * PIECE.length);
    const refused = await spoolUpload(endless(given), { path: `${folder}/upload`, clock: systemClock, free })
      .then(() => "taken", (error) => error.code);
    assertEquals(refused, "storage_full");
    assert(given.count > 1 && given.count < 80, String(given.count));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an upload that goes on for more than an hour ends, however much it brings", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const given = { count: 0 };
    // A minute for each piece: far above the least that an upload has to bring.
    const clock = { ...systemClock, monotonicMs: () => given.count * 60_000 };
    const free = () => Promise.resolve(Infinity);
    const refused = await spoolUpload(endless(given), { path: `${folder}/upload`, clock, free })
      .then(() => "taken", (error) => error.code);
    assertEquals(refused, "request_timeout");
    assert(given.count >= 60 && given.count < 70, String(given.count));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("an upload is nobody else's to read, takes no file that is there, and ends with whoever has gone", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/upload`;
  const spool = { path, clock: systemClock, free: () => Promise.resolve(Infinity) };
  const gone = AbortSignal.abort(new AppError("shutting_down"));
  try {
    const given = { count: MOST - 1 };
    await spoolUpload(endless(given), spool);
    const { mode, size } = await Deno.stat(path);
    assertEquals([(mode ?? 0) & 0o777, size], [0o600, PIECE.length]);
    const again = await spoolUpload(endless(given), spool).then(() => "written", ({ name }) => name);
    assertEquals(again, "AlreadyExists");
    await Deno.remove(path);
    let cancelled = false;
    const silent = new ReadableStream<Uint8Array<ArrayBuffer>>({ cancel: () => void (cancelled = true) });
    const refused = await spoolUpload(silent, { ...spool, signal: gone }).then(
      () => "taken",
      ({ code }) => code,
    );
    assertEquals([refused, cancelled], ["shutting_down", true]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
