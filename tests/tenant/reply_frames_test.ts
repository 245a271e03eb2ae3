// Frames from a child arrive whole, however the pipe cuts them, and long ones as the bytes that they came in.
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { HEAD_END, LONG_FRAME } from "../../lib/tenant/local/child/protocol.ts";
import { type WireOutcome, withLengths } from "../../lib/tenant/local/child/wire_call.ts";
import { FrameReader, type ReplyFrame } from "../../lib/tenant/local/reply_frames.ts";
import { readOutcome } from "../../lib/tenant/local/wire.ts";

const encoder = new TextEncoder();

/** A group of reads: the texts of each, by statement; null: its schema was another one. */
type Group = readonly (readonly string[] | null)[];

/** As a child sends it. */
function frameOf(group: Group): Uint8Array<ArrayBuffer> {
  const outcomes = group.map((texts): WireOutcome =>
    texts === null
      ? { k: "stale", v: 7 }
      : { k: "ok", r: texts.map((text, at) => [text.length, at, 0]), ms: 1 }
  );
  const text = group.flatMap((texts) => texts ?? []).join("");
  const isLong = text.length >= LONG_FRAME;
  const o = isLong ? withLengths(outcomes, text, (one) => encoder.encode(one).length) : outcomes;
  const head = JSON.stringify({ t: "outcomes", o, ...(isLong ? { utf8: true } : {}) });
  const frame = encoder.encode(`    ${head}${HEAD_END}${text}`);
  new DataView(frame.buffer).setUint32(0, frame.length - 4);
  return frame;
}

/** The texts that the service reads out of it. */
function groupOf(frame: ReplyFrame): Group {
  assert(frame.reply.t === "outcomes");
  let start = 0;
  return frame.reply.o.map((wire) => {
    const { outcome, end } = readOutcome(wire, frame, start);
    start = end;
    return outcome.ok === true ? outcome.results.map((result) => result.json) : null;
  });
}

const text = fc.tuple(fc.string({ unit: "grapheme", maxLength: 6 }), fc.constantFrom(0, 1, 900, 30_000))
  .map(([part, times]) => part.repeat(times));
const group = fc.array(fc.option(fc.array(text, { minLength: 1, maxLength: 3 }), { freq: 6 }), {
  minLength: 1,
  maxLength: 4,
});

Deno.test("frames of any length, cut anywhere, give the texts that were sent", () => {
  let long = 0;
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 }),
      (groups, cuts) => {
        const all = groups.map(frameOf);
        const sent = new Uint8Array(all.reduce((sum, frame) => sum + frame.length, 0));
        all.reduce((at, frame) => (sent.set(frame, at), at + frame.length), 0);
        const reader = new FrameReader();
        const frames: ReplyFrame[] = [];
        // The pipe's buffer is used again.
        const pipe = new Uint8Array(100_000);
        for (let at = 0, turn = 0; at < sent.length; turn++) {
          const length = Math.min(cuts[turn % cuts.length] ?? 1, sent.length - at, pipe.length);
          pipe.set(sent.subarray(at, at += length));
          frames.push(...reader.push(pipe.subarray(0, length)));
        }
        long += frames.filter((frame) => frame.bytes !== undefined).length;
        assertEquals(frames.map(groupOf), groups);
      },
    ),
    { numRuns: 150 },
  );
  assert(long > 30, String(long));
});
