// Records of webhooks that their owners and deliverers change at the same moment.
import { assert, assertEquals } from "@std/assert";
import { LEASE_MS } from "../../lib/control/webhooks.ts";
import { idFloor } from "../../lib/core/ids.ts";
import type { ChangesTarget } from "../../lib/services/changes/read_changes.ts";
import { passOver } from "../../lib/services/webhooks/from_now_on.ts";
import { toldFloor } from "../../lib/services/webhooks/told_events.ts";
import type { WebhookContext } from "../../lib/services/webhooks/webhook_context.ts";
import { keys } from "../../lib/store/keys.ts";
import type { WebhookRecord, WebhookState } from "../../lib/store/changes_records.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

const PENDING = { id: "msg_a", at: 1, until: null, eventId: "wev_a" };

const FRESH: WebhookState = {
  ...{ place: { seq: 0, epoch: 0 }, eventId: "wev_", told: [], pending: PENDING },
  ...{ tries: 0, nextMs: 0, ended: null, deliveries: [] },
};

async function hook({ control, clock, namespace, database }: ControlWorld): Promise<WebhookRecord> {
  const { id: namespaceId } = await namespace();
  const { id: databaseId } = await database(namespaceId);
  const record: WebhookRecord = {
    ...{ id: "whk_a", namespaceId, databaseId, url: "https://a.example/", events: ["change"] },
    ...{ tables: [], enabled: true, secrets: [], createdAt: clock.now() },
  };
  assertEquals(await control.webhooks.add(record, FRESH), true);
  return record;
}

Deno.test("changes of a webhook at the same moment all count, and none takes back what its deliverer notes meanwhile", async () => {
  using world = await controlWorld();
  const { databaseId, id } = await hook(world);
  const { webhooks } = world.control;
  const numbers = Array.from({ length: 5 }, (_, n) => n);
  const change = (n: number, givesUp: boolean) =>
    webhooks.change(databaseId, id, (now) => ({ ...now, tables: [...now.tables ?? [], `t${n}`] }), {
      givesUp,
    });
  await Promise.all(numbers.map((n) => change(n, false)));
  assertEquals((await webhooks.find(databaseId, id))?.tables?.toSorted(), ["t0", "t1", "t2", "t3", "t4"]);
  assertEquals((await webhooks.state(id))?.pending, PENDING);
  let noted: Promise<unknown> | null = null;
  await webhooks.change(databaseId, id, (now) => {
    // Behind the reading of both records, and before the commit.
    noted ??= world.kv.set(keys.webhookState(id), { ...FRESH, tries: 1 });
    return now;
  }, { givesUp: true });
  await noted;
  const state = await webhooks.state(id);
  assertEquals([state?.tries, state?.pending], [1, null]);
});

Deno.test("a webhook that was deleted is neither changed nor told of, and leaves nothing", async () => {
  using world = await controlWorld();
  const { databaseId, id } = await hook(world);
  const { webhooks } = world.control;
  const held = await hold(world, id, "a", world.clock.now());
  assertEquals(await webhooks.remove(databaseId, id), true);
  assertEquals(await webhooks.remove(databaseId, id), false);
  const changed = await webhooks.change(databaseId, id, (now) => ({ ...now, url: "b" }), { givesUp: true });
  assertEquals([changed, await webhooks.find(databaseId, id), await webhooks.state(id)], [null, null, null]);
  assertEquals(held !== null && await webhooks.note(held, FRESH), false);
  assertEquals(await webhooks.list(databaseId), []);
  await webhooks.removeAll(databaseId);
  for (const key of [keys.webhookLease(id), keys.webhooksAdded(databaseId)]) {
    assertEquals((await world.kv.get(key)).versionstamp, null, key.join());
  }
});

const hold = ({ control }: ControlWorld, id: string, holder: string, nowMs: number) =>
  control.webhooks.hold(id, { holder, nowMs, alone: false });

Deno.test("a process that delivers goes on with its lease, until that is over and another has taken it", async () => {
  using world = await controlWorld();
  const { id } = await hook(world);
  const { webhooks } = world.control;
  await hold(world, id, "a", 0);
  assertEquals(await hold(world, id, "b", LEASE_MS - 1), null);
  const first = await hold(world, id, "a", LEASE_MS - 1);
  assertEquals(await hold(world, id, "b", LEASE_MS), null);
  const second = await hold(world, id, "b", 2 * LEASE_MS);
  assert(first !== null && second !== null);
  assertEquals(await webhooks.note(first, FRESH), false);
  assertEquals(await webhooks.note(second, FRESH), true);
  // What it has read is no longer so.
  assertEquals(await webhooks.note(second, FRESH), false);
});

Deno.test("of two processes that take the lease at the same moment one has it", async () => {
  using world = await controlWorld();
  const { id } = await hook(world);
  const late = world.meanwhile(() => hold(world, id, "a", 0));
  assertEquals(await late.webhooks.hold(id, { holder: "b", nowMs: 0, alone: false }), null);
});

Deno.test("a webhook that is made while its database is deleted is not made", async () => {
  using world = await controlWorld();
  const record = await hook(world);
  const { namespaceId, databaseId } = record;
  const late = world.meanwhile(() => world.kv.delete(keys.database(namespaceId, databaseId)));
  const made = late.webhooks.add({ ...record, id: "whk_b" }, FRESH).then(String, ({ code }) => code);
  assertEquals(await made, "database_not_found");
  assertEquals(await world.control.webhooks.find(databaseId, "whk_b"), null);
});

Deno.test("an owner who adds an event takes back nothing that is delivered meanwhile, and what was before is not told", async () => {
  using world = await controlWorld();
  const { control: { webhooks }, kv, clock } = world;
  const record: WebhookRecord = { ...await hook(world), events: ["approval.decided"] };
  const { databaseId, id } = record;
  const begun = { ...FRESH, eventId: idFloor("wev", clock.now() - 1000) };
  await kv.set(keys.webhookState(id), begun);
  for (const type of ["approval.decided", "approval.requested"] as const) {
    await webhooks.addEvent(databaseId, { type, at: clock.now(), data: {} });
  }
  const [decided] = await Array.fromAsync(webhooks.events(databaseId, begun.eventId));
  assertEquals(decided?.event.type, "approval.decided");
  const meanwhile = [{ told: [decided?.id ?? ""] }, { place: { seq: 7, epoch: 0 } }];
  const read = webhooks.state.bind(webhooks);
  webhooks.state = async (webhookId) => {
    const seen = await read(webhookId);
    const delivered = meanwhile.shift();
    if (seen && delivered) await kv.set(keys.webhookState(id), { ...seen, ...delivered });
    return seen;
  };
  const ctx = { control: world.control } as WebhookContext;
  await passOver(ctx, { databaseId } as ChangesTarget, record, ["approval.decided", "approval.requested"]);
  const state = await read(id);
  assert(state !== null);
  const behind = await Array.fromAsync(webhooks.events(databaseId, toldFloor(state)), (one) => one.id);
  assertEquals([state.place.seq, behind.filter((one) => !state.told.includes(one))], [7, []]);
});
