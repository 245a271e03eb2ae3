// Records of webhooks that their owners and deliverers change at the same moment.
import { assertEquals } from "@std/assert";
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
  const held = await webhooks.hold(id, { holder: "a", nowMs: world.clock.now(), alone: false });
  assertEquals(await webhooks.remove(databaseId, id), true);
  assertEquals(await webhooks.remove(databaseId, id), false);
  const changed = await webhooks.change(databaseId, id, (now) => ({ ...now, url: "b" }), { givesUp: true });
  assertEquals([changed, await webhooks.find(databaseId, id), await webhooks.state(id)], [null, null, null]);
  assertEquals(held !== null && await webhooks.note(held, FRESH), false);
  assertEquals(await webhooks.list(databaseId), []);
});
