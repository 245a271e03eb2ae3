// Transactions of look-ups in files at rest are ended after some seconds, a few in a round.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { HeldReads } from "../../lib/tenant/local/lookups/held_reads.ts";

/** Those that have been ended, in order. */
function heldReads(count: number) {
  const clock = { ms: 0, monotonicMs: () => clock.ms };
  const held = new HeldReads(clock);
  const ended: number[] = [];
  for (let at = 0; at < count; at++) held.add({ letGo: () => ended.push(at) }, clock.ms);
  return { clock, held, ended };
}

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited++) {
    assert(waited < 500, "it does not become so");
    await pause(10);
  }
}

Deno.test("a transaction in a file at rest is ended after five seconds, and no sooner", async () => {
  const { clock, held, ended } = heldReads(1);
  clock.ms = 4_000;
  held.add({ letGo: () => ended.push(1) }, clock.ms);
  await pause(250);
  assertEquals(ended, []);
  clock.ms = 5_000;
  await until(() => ended.length > 0);
  await pause(250);
  assertEquals(ended, [0]);
  clock.ms = 9_000;
  await until(() => ended.length > 1);
  assertEquals(ended, [0, 1]);
});

Deno.test("a reader that has begun anew is ended five seconds after that, and once", async () => {
  const { clock, held, ended } = heldReads(0);
  const reader = { letGo: () => ended.push(clock.ms) };
  for (clock.ms of [0, 3_000, 4_000]) held.add(reader, clock.ms);
  clock.ms = 8_500;
  await pause(250);
  assertEquals(ended, []);
  clock.ms = 9_000;
  await until(() => ended.length > 0);
  clock.ms = 20_000;
  await pause(250);
  assertEquals(ended, [9_000]);
});

Deno.test("of many that are due no round ends all, so that calls have their turn between", async () => {
  const { clock, ended } = heldReads(200);
  clock.ms = 5_000;
  await until(() => ended.length > 0);
  assert(ended.length < 200, `${ended.length} at once`);
  await until(() => ended.length === 200);
  assertEquals(ended, Array.from({ length: 200 }, (_, at) => at));
});

Deno.test("nothing is ended, and no round begins, once all have been stopped", async () => {
  const { clock, held, ended } = heldReads(3);
  held.stop();
  clock.ms = 60_000;
  await pause(250);
  assertEquals(ended, []);
});
