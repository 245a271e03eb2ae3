// Branches that many claim, reset and delete at once on two instances: sqld, which stops answering for ever where it removes
// one database beside a copy of another, keeps serving all of them, and what nobody uses any more goes.
import { assert, assertEquals } from "@std/assert";
import { print } from "../testing/print.ts";
import { type Answer, type Instances, withInstances } from "./instances_world.ts";
import { pause } from "../../lib/core/pause.ts";

const ROUNDS = 7;
const CLAIM = "/v1/db/acme/main/claim_branch";
const BRANCHES = "/v1/db/acme/main/branches";
const INSERT = "INSERT INTO t VALUES (1)";
const GONE_WITHIN_MS = 60_000;

const claim = (ref: string) => ({ purpose: "a storm", ref });

/** Waits until that many locations are left; resolves with the milliseconds that it took. */
async function untilLeft({ locations }: Instances, wanted: number): Promise<number> {
  for (const startMs = performance.now();; await pause(50)) {
    const tookMs = performance.now() - startMs;
    if (locations().length === wanted) return tookMs;
    assert(tookMs < GONE_WITHIN_MS, `${locations().length} instead of ${wanted} locations`);
  }
}

Deno.test("claims and resets of one branch on two instances at once leave every database in service, and their copies go", async () => {
  await withInstances(async (world) => {
    const { ask, query } = world;
    const before = world.locations().length;
    const answers: Answer[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      let storming = true;
      const writers = [0, 1].map(async (at) => {
        while (storming) assertEquals((await query(at, "other", INSERT)).status, 200);
      });
      const storm = Promise.all([
        ...[0, 1, 2, 3].map((at) => ask(at, "POST", CLAIM, claim("one"))),
        ...[0, 1, 2, 3].map((at) => ask(at, "POST", `${BRANCHES}/one/reset`, {})),
        ...[0, 1].map((at) => ask(at, "POST", CLAIM, claim("two"))),
      ]);
      answers.push(...await storm);
      storming = false;
      await Promise.all(writers);
      answers.push(await ask(round, "DELETE", `${BRANCHES}/two`));
      for (const at of [0, 1]) assertEquals((await query(at, "main", INSERT)).status, 200);
    }
    // Of a round, those that came before the branch was there.
    const wrong = answers.filter(({ status, code }) =>
      status > 201 && code !== "branch_not_found" || status === 0
    );
    assertEquals(wrong, []);
    const most = world.locations().length;
    // A branch, and the state in which it began.
    const tookMs = await untilLeft(world, before + 2);
    const ms = answers.map((answer) => answer.ms).sort((a, b) => a - b);
    const half = ms[ms.length >> 1]?.toFixed(0);
    print(
      `${answers.length} calls, half of them within ${half} ms; ${most} locations, ${before + 2} after ${
        tookMs.toFixed(0)
      } ms`,
    );
  });
});

Deno.test("an instance that is killed while it removes keeps others from copying for seconds, and they remove what it has left", async () => {
  await withInstances(async (world) => {
    const { ask, admin, services } = world;
    const before = world.locations().length;
    assertEquals((await ask(0, "POST", CLAIM, claim("one"))).status, 201);
    const removes = Promise.withResolvers<void>();
    admin.between = async ({ route }, go) => {
      if (!route.startsWith("DELETE ")) return await go();
      removes.resolve();
      await services[0]?.exited;
      return null;
    };
    assertEquals((await ask(0, "DELETE", `${BRANCHES}/one`)).status, 200);
    await removes.promise;
    await services[0]?.kill();
    admin.between = null;
    // A copy that has waited for ten seconds is refused.
    assertEquals((await ask(1, "POST", CLAIM, claim("two"))).status, 201);
    const owned = await world.catalog(
      "SELECT place FROM tenant UNION ALL SELECT place FROM ancestor UNION ALL SELECT place FROM snapshot",
    );
    const there = world.locations();
    assertEquals([owned.length, owned.filter((one) => !there.includes(one))], [before + 2, []]);
    assertEquals((await ask(1, "DELETE", `${BRANCHES}/two`)).status, 200);
    await untilLeft(world, before);
  });
});

Deno.test("a copy that takes long is waited for and not hung up on", async () => {
  await withInstances(async (world) => {
    const { ask, admin } = world;
    let copies = 0;
    admin.between = async ({ route }, go) => {
      if (route.includes("/fork/")) {
        copies++;
        await pause(2500);
      }
      return await go();
    };
    assertEquals((await ask(0, "POST", CLAIM, claim("one"))).status, 201);
    assertEquals(copies, 2);
  });
});
