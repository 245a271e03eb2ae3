// How much a namespace may keep, whatever the clock does.
import { assertEquals } from "@std/assert";
import { KeptRoom } from "../../lib/control/kept_room.ts";
import { DAY_MS, HOUR_MS } from "../../lib/core/clock.ts";

const BOUNDS = { keptBytes: 1000, smallBytes: 10 };

Deno.test("room that is taken is there again once what was kept is gone", () => {
  let nowMs = 1000 * DAY_MS;
  const room = new KeptRoom({ now: () => nowMs }, DAY_MS, BOUNDS);
  assertEquals([room.take("ns_1", 900), room.take("ns_1", 200), room.take("ns_2", 200)], [true, false, true]);
  nowMs += DAY_MS;
  assertEquals(room.take("ns_1", 200), false);
  nowMs += HOUR_MS;
  assertEquals(room.take("ns_1", 200), true);
});

Deno.test("what was kept while the clock was a month ahead takes no room for as long once it is put back", () => {
  let nowMs = 1000 * DAY_MS;
  const room = new KeptRoom({ now: () => nowMs }, DAY_MS, BOUNDS);
  nowMs += 30 * DAY_MS;
  assertEquals(room.take("ns_1", 900), true);
  nowMs -= HOUR_MS;
  assertEquals(room.take("ns_1", 200), false);
  nowMs -= 30 * DAY_MS - HOUR_MS;
  assertEquals(room.take("ns_1", 200), true);
});
