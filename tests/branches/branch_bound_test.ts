// How many branches a database may have at a time: each may be a whole copy of it.
import { assertEquals } from "@std/assert";
import { MAX_BRANCHES } from "../../lib/core/limits.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { withBranches } from "./branch_world.ts";

Deno.test("a database has so many branches and no more, until one is deleted or its time is over", async () => {
  const clock = new TurnableClock();
  await withBranches(async ({ call, claim, databases }) => {
    for (let at = 0; at < MAX_BRANCHES; at++) await claim({ ref: `pr-${at}`, ttlSec: at === 7 ? 600 : 3600 });
    const full = async () => {
      const answer = await call("POST", "claim_branch", { purpose: "one too many" });
      assertEquals([answer.status, answer.body.code], [409, "too_many_branches"], answer.text);
    };
    const before = await databases();
    await full();
    assertEquals(await databases(), before, "the refused copy is not left behind");
    assertEquals((await claim({ ref: "pr-3" })).outcome, "reset", "one that is there is made anew");
    assertEquals((await call("POST", "branches/pr-4/reset")).status, 200);
    assertEquals((await call("DELETE", "branches/pr-5")).status, 200);
    assertEquals((await claim({ ref: "in-its-place" })).outcome, "created");
    await full();
    clock.turn(601_000);
    assertEquals((await claim({ ref: "after-its-time" })).outcome, "created");
    await full();
  }, { clock });
});
