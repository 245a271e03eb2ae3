// A machine whose clock is months ahead removes nothing from the archive that can still be restored.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { DAY_MS, HOUR_MS, systemClock } from "../../lib/core/clock.ts";
import { startS3 } from "../testing/s3_server.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { bucketOf, openArchived } from "./archive_world.ts";

Deno.test("epochs are removed by the bucket's time, not by a clock that is months ahead of it", async () => {
  const s3 = startS3();
  const folder = await Deno.makeTempDir();
  const clock = new TurnableClock();
  const store = await openArchived(folder, bucketOf(s3), { clock });
  const { archive } = store;
  assert(archive !== null);
  try {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    const prefix = `shop/cubby/db/${tenant.id}/`;
    const epochs = () =>
      new Set([...s3.objects.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.split("/")[4]));
    const add = () => tenant.run("write", [["INSERT INTO t VALUES (1)"]]);
    const write = async (label: string) => {
      await add();
      await archive.toSnapshot(tenant.id, { atMs: clock.now(), label });
    };
    // Half of an epoch goes whatever the time is, and after all the others that go.
    const half = `${prefix}00000000-00000000/base-00000000-${"0".repeat(64)}`;
    const pruned = async () => {
      s3.objects.set(half, new Uint8Array(1));
      for (;;) {
        // No moment is asked for meanwhile: it may need what is just removed.
        await add();
        for (let look = 0; look < 300 && s3.objects.has(half); look++) await pause(10);
        if (!s3.objects.has(half)) return;
        // Today's removal began before the half was there; the next one is a day later.
        clock.turn(DAY_MS + HOUR_MS);
      }
    };
    await write("first");
    const first = [...epochs()];
    assertEquals(first.length, 1);
    clock.turn(90 * DAY_MS);
    await write("ahead");
    // By this clock nobody can go back to the first epoch any more; by the bucket's the second began today.
    clock.turn(40 * DAY_MS);
    await pruned();
    assertEquals(first.filter((epoch) => epochs().has(epoch)), first);
    // The bucket's clock comes along: the first look may know of it not yet, the one of the next days does.
    s3.now = () => systemClock.now() + 130 * DAY_MS;
    clock.turn(2 * DAY_MS);
    await pruned();
    clock.turn(2 * DAY_MS);
    await pruned();
    assertEquals(first.filter((epoch) => epochs().has(epoch)), []);
  } finally {
    await store.close();
    await s3.close();
    await Deno.remove(folder, { recursive: true });
  }
});
