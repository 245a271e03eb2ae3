// Who of many databases is served when.
import { assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { ServingQueue } from "../../lib/tenant/archive/serving_queue.ts";

const turn = () => pause(0);

Deno.test("of many that wait the one that waits longest is next, however often others come back", async () => {
  const served: string[] = [];
  const ends: (() => void)[] = [];
  const queue = new ServingQueue<{ name: string; sinceMs: number }>(2, ({ name }) => {
    served.push(name);
    return new Promise((resolve) => ends.push(resolve));
  });
  const busy = [{ name: "busy-1", sinceMs: 8 }, { name: "busy-2", sinceMs: 9 }];
  const quiet = [{ name: "quiet-1", sinceMs: 1 }, { name: "quiet-2", sinceMs: 2 }, {
    name: "quiet-3",
    sinceMs: 3,
  }];
  queue.set([...busy, ...quiet]);
  assertEquals(served, ["quiet-1", "quiet-2"]);
  // Looked at again meanwhile: who is being served is not served twice.
  queue.set([...busy, ...quiet]);
  assertEquals(served.length, 2);
  while (ends.length > 0) {
    ends.shift()?.();
    await turn();
  }
  assertEquals(served, ["quiet-1", "quiet-2", "quiet-3", "busy-1", "busy-2"]);
});
