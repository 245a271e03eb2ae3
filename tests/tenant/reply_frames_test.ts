// Frames from a child arrive whole, however the pipe cuts them, and long ones as the bytes that they came in.
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { HEAD_END, LONG_FRAME } from "../../lib/tenant/local/child/protocol.ts";
import { type WireOutcome, withLengths } from "../../lib/tenant/local/child/wire_call.ts";
import { FrameReader, type ReplyFrame } from "../../lib/tenant/local/frames/reply_frames.ts";
import { readOutcome } from "../../lib/tenant/local/frames/wire.ts";

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

/** All of them behind each other, cut as the pipe cuts them: `cuts` in turns. */
function* chunksOf(frames: readonly Uint8Array[], cuts: readonly number[]): Iterable<Uint8Array> {
  const sent = new Uint8Array(frames.reduce((sum, frame) => sum + frame.length, 0));
  frames.reduce((at, frame) => (sent.set(frame, at), at + frame.length), 0);
  // The pipe's buffer is used again.
  const pipe = new Uint8Array(100_000);
  for (let at = 0, turn = 0; at < sent.length; turn++) {
    const length = Math.min(cuts[turn % cuts.length] ?? 1, sent.length - at, pipe.length);
    pipe.set(sent.subarray(at, at += length));
    yield pipe.subarray(0, length);
  }
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

const groups = fc.array(group, { minLength: 1, maxLength: 4 });
const cuts = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 });

Deno.test("frames of any length, cut anywhere, give the texts that were sent", () => {
  let long = 0;
  fc.assert(
    fc.property(
      groups,
      cuts,
      (groups, cuts) => {
        const reader = new FrameReader();
        const frames = Array.from(chunksOf(groups.map(frameOf), cuts), (chunk) => reader.push(chunk)).flat();
        long += frames.filter((frame) => frame.bytes !== undefined).length;
        assertEquals(frames.map(groupOf), groups);
      },
    ),
    { numRuns: 150 },
  );
  assert(long > 30, String(long));
});

Deno.test("memory that is given back is used for later frames, and for no frame that is not read yet", () => {
  let again = 0;
  fc.assert(
    fc.property(groups, cuts, fc.array(fc.boolean(), { minLength: 1 }), (groups, cuts, gives) => {
      const reader = new FrameReader();
      const seen = new Set<ArrayBuffer>();
      const kept: ReplyFrame[] = [];
      const texts: Group[] = [];
      for (const chunk of chunksOf(groups.map(frameOf), cuts)) {
        for (const frame of reader.push(chunk)) {
          if (frame.bytes && seen.has(frame.bytes.buffer)) again++;
          if (frame.bytes) seen.add(frame.bytes.buffer);
          const isGiven = gives[(texts.length + kept.length) % gives.length];
          if (!isGiven) kept.push(frame);
          else {
            texts.push(groupOf(frame));
            frame.giveBack?.();
          }
        }
      }
      assertEquals(
        [...texts, ...kept.map(groupOf)].map((one) => JSON.stringify(one)).sort(),
        groups.map((one) => JSON.stringify(one)).sort(),
      );
    }),
    { numRuns: 150 },
  );
  assert(again > 0, String(again));
});

Deno.test("memory is given back once: a second time changes nothing for the frame that has it now", () => {
  const reader = new FrameReader();
  const next = (letter: string) => {
    const frames = Array.from(
      chunksOf([frameOf([[letter.repeat(LONG_FRAME)]])], [60_000]),
      (c) => reader.push(c),
    );
    const [frame] = frames.flat();
    assert(frame?.giveBack);
    return frame;
  };
  const first = next("a");
  first.giveBack?.();
  const second = next("b");
  assert(second.bytes?.buffer === first.bytes?.buffer);
  first.giveBack?.();
  next("c");
  assertEquals(groupOf(second), [["b".repeat(LONG_FRAME)]]);
});

Deno.test("two long frames that came in one piece share its memory, so neither gives it back", () => {
  const frames = ["a", "b"].map((letter) => frameOf([[letter.repeat(LONG_FRAME)]]));
  const both = new Uint8Array(frames.flatMap((frame) => Array.from(frame)));
  assertEquals(new FrameReader().push(both).map(({ giveBack }) => giveBack), [undefined, undefined]);
});

Deno.test("a result whose memory was given back is read by nobody", () => {
  const [frame] = new FrameReader().push(frameOf([["x".repeat(LONG_FRAME)]]));
  assert(frame?.reply.t === "outcomes" && frame.reply.o[0]);
  const { outcome } = readOutcome(frame.reply.o[0], frame, 0);
  assert(outcome.ok === true && outcome.results[0]?.giveBack);
  outcome.results[0].giveBack();
  assertThrows(() => outcome.ok === true && outcome.results[0]?.json, /given back/);
});
