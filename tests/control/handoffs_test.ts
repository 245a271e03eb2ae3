// Handoffs that end, or whose givers do, at the moment at which they are redeemed.
import { assertEquals } from "@std/assert";
import { Handoffs } from "../../lib/control/handoffs.ts";
import { madeLimits } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import type { HandoffRecord } from "../../lib/store/records.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

async function handoffWorld(): Promise<ControlWorld & { readonly record: HandoffRecord }> {
  const world = await controlWorld();
  const { id: namespaceId } = await world.namespace();
  const { record: { id: parentId } } = await world.token(namespaceId);
  const pinned = { databaseId: "db_a", branchRef: "main", role: "read" } as const;
  return { ...world, record: { namespaceId, parentId, ...pinned, untilMs: world.clock.now() + 60_000 } };
}

async function redeemed(handoffs: Handoffs, hash: string): Promise<boolean> {
  const make: Parameters<Handoffs["redeem"]>[1] = ({ parentId }, parent) => ({
    ...{ ...parent, id: `tok_${hash}`, hash: `of ${hash}`, parentId },
  });
  return await handoffs.redeem(hash, make) !== null;
}

Deno.test("a handoff ends with the millisecond of its end, to be looked at and to be redeemed", async () => {
  using world = await handoffWorld();
  const at = (nowMs: number) => new Handoffs(world.kv, { now: () => nowMs, monotonicMs: () => nowMs });
  const { untilMs } = world.record;
  await world.control.handoffs.add("one", world.record);
  assertEquals((await at(untilMs - 1).find("one"))?.untilMs, untilMs);
  assertEquals([await at(untilMs).find("one"), await redeemed(at(untilMs), "one")], [null, false]);
  assertEquals(await redeemed(at(untilMs - 1), "one"), true);
});

Deno.test("a handoff whose giver or namespace goes while it is redeemed gives no token", async () => {
  using world = await handoffWorld();
  const { kv, control, record } = world;
  const { namespaceId, parentId } = record;
  await control.handoffs.add("one", record);
  for (const key of [keys.namespace(namespaceId), keys.token(namespaceId, parentId)]) {
    const { value } = await kv.get(key);
    const going = world.meanwhile(() => kv.delete(key));
    assertEquals(await redeemed(going.handoffs, "one"), false);
    assertEquals(await control.tokens.byId(namespaceId, "tok_one"), null);
    await kv.set(key, value);
  }
  assertEquals(await redeemed(control.handoffs, "one"), true);
});

Deno.test("handed off at the same moment, all count for the day", async () => {
  using world = await handoffWorld();
  const { handoffs } = world.control;
  const { inDay } = madeLimits;
  madeLimits.inDay = 3;
  try {
    const minted = await Promise.all(
      ["a", "b", "c", "d", "e"].map((hash) => handoffs.add(hash, world.record)),
    );
    assertEquals(minted.filter(({ ok }) => ok).length, 3);
  } finally {
    madeLimits.inDay = inDay;
  }
});
