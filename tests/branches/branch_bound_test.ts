// How many branches a database may have at a time: each may be a whole copy of it.
import { assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { MAX_BRANCHES } from "../../lib/core/limits.ts";
import { countOutcomes } from "../testing/count_outcomes.ts";
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

Deno.test("of branches that are claimed at once no more are made than a database may have", async () => {
  await withBranches(async ({ app, shop, call, databases }) => {
    const { control, tenants } = app.deps;
    const { database: { id: trunkId }, slug } = shop;
    const namespace = await control.namespaces.bySlug(slug);
    const namespaceId = namespace?.id ?? "";
    const now = Date.now();
    const times = { createdAt: now, copiedAt: now, expiresAt: now + 3_600_000 };
    for (let at = 0; at < MAX_BRANCHES - 2; at++) {
      const [id, ref] = [newId("db", now), `pr-${at}`];
      await control.databases.announce(id);
      const address = { namespaceId, trunkId, ref };
      const record = { ...address, id, purpose: "a test", role: "read", tokenId: null, ...times } as const;
      assertEquals((await control.branches.put(() => record, { ...address, databaseId: id })).ok, true);
    }
    const before = await databases();
    const atOnce = 40;
    // Each has its copy before any of them becomes a branch.
    const make = tenants.branches.make.bind(tenants.branches);
    const all = Promise.withResolvers<void>();
    let copies = 0;
    const makeAndWait = async (...asked: Parameters<typeof make>) => {
      await make(...asked);
      if (++copies === atOnce) all.resolve();
      await all.promise;
    };
    Object.assign(tenants.branches, { make: makeAndWait });
    const answers = await Promise.all(
      Array.from({ length: atOnce }, () => call("POST", "claim_branch", { purpose: "at once" })),
    );
    assertEquals(countOutcomes(answers), { "201": 2, "409 too_many_branches": 38 });
    assertEquals(await databases(), before + 2, "no refused copy is left behind");
  });
});
