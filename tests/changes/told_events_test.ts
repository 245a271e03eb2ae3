// What a webhook was told of one by one, where that is more than a record has room for.
import { assert, assertEquals } from "@std/assert";
import { idFloor, idTime, newId } from "../../lib/core/ids.ts";
import { asTold, LATE_MS, MOST_NOTED, toldFloor } from "../../lib/services/webhooks/told_events.ts";

Deno.test("no event of a minute is told again, however many there were, and one that comes late is told", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const ids = Array.from({ length: MOST_NOTED + 100 }, () => newId("wev", nowMs)).toSorted();
  const few = asTold(ids.at(-1) ?? "", ids.slice(-MOST_NOTED));
  assertEquals(toldFloor(few), idFloor("wev", nowMs - LATE_MS));
  const told = asTold(ids.at(-1) ?? "", ids);
  assertEquals(told.told.length, MOST_NOTED);
  const floor = toldFloor(told);
  assert(ids.every((id) => id <= floor || told.told.includes(id)));
  // A minute later it has all its time again.
  const later = asTold(newId("wev", nowMs + 2 * LATE_MS), told.told, told.toldUntil);
  assertEquals([later.told, idTime(toldFloor(later))], [[], nowMs + LATE_MS]);
});
