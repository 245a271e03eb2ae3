// The event loop goes round only for a caller who comes back at once, only for a moment, and only where nobody else computes.
import { assert, assertEquals } from "@std/assert";
import { StayAwake } from "../../lib/core/stay_awake.ts";

const ignore = navigator.hardwareConcurrency < 2;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const asleep = async (awake: StayAwake) => {
  while (awake.isAwake) await turn();
};

Deno.test({
  name: "a caller who is back at once finds the event loop awake, which waits again when nobody comes",
  ignore,
  fn: async () => {
    let nowMs = 0;
    const awake = new StayAwake({ now: () => 0, monotonicMs: () => nowMs += 0.01 });
    const answer = () => awake.noteAnswer(nowMs, nowMs);
    answer();
    assert(!awake.isAwake, "nobody has come back yet");
    answer();
    assert(awake.isAwake);
    await asleep(awake);
  },
});

Deno.test({
  name: "it waits again also where the clock stands still, and when its owner closes",
  ignore,
  fn: async () => {
    const awake = new StayAwake({ now: () => 0, monotonicMs: () => 0 });
    const answer = () => awake.noteAnswer(0, 0);
    answer();
    answer();
    await asleep(awake);
    answer();
    awake.end();
    await turn();
    await turn();
    assert(!awake.isAwake);
  },
});

Deno.test({
  name: "callers who take their time, and a machine that others use, leave it waiting",
  ignore,
  fn: async () => {
    let nowMs = 0;
    const awake = new StayAwake({ now: () => 0, monotonicMs: () => nowMs });
    const comes = (laterMs: number) => {
      nowMs += laterMs;
      awake.noteAnswer(nowMs, nowMs);
      return awake.isAwake;
    };
    assertEquals([comes(1), comes(1), comes(0.3)], [false, false, false]);
    assert(comes(0.1));
    nowMs += 3; // A turn in which nothing was done takes that long where the processor is somebody else's meanwhile.
    await asleep(awake);
    assertEquals([comes(0.1), comes(0.1), comes(1900), comes(0.1)], [false, false, false, false]);
    comes(300);
    assert(comes(0.1));
    await asleep(awake);
  },
});
