// Limits of rates that their owners change while calls come in.
import { assertEquals } from "@std/assert";
import { RateCounters } from "../../lib/control/rate_counters.ts";
import { controlWorld } from "../testing/control_world.ts";

Deno.test("a limit that is changed counts at once, with the calls that were counted so far", async () => {
  using world = await controlWorld();
  const counters = new RateCounters(world.kv, world.clock);
  const subject = { databaseId: "db_a", slug: "list", client: "c" };
  const admitted = async (limit: number) => {
    let count = 0;
    const windows = (nowMs: number) => [{ name: "day", id: "day1", limit, endsAtMs: nowMs + 60_000 }];
    for (let call = 0; call < 20; call++) {
      if ((await counters.take(subject, windows)).admitted) count++;
    }
    return count;
  };
  assertEquals([await admitted(5), await admitted(12), await admitted(3), await admitted(12)], [5, 7, 0, 0]);
});
