// Each minute in which the control plane has changed sends a backup, and no other minute does.
import { assertEquals } from "@std/assert";
import { backUpEveryMinute, everyMinute } from "../../routes/http/upkeep.ts";
import type { ObjectStore } from "../../lib/tenant/object_store.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { listBackups } from "../../lib/services/backup/archived_backups.ts";
import { backupWorld, scheduledBackups } from "./backup_world.ts";

const HALF_A_MINUTE_MS = 30_000;

/** It stands until it is turned: how long a backup takes on this machine decides nothing. */
class StandingClock {
  #ms = 1_800_000_000_000;

  now(): number {
    return this.#ms;
  }

  monotonicMs(): number {
    return this.#ms;
  }

  turn(ms: number): void {
    this.#ms += ms;
  }
}

Deno.test("each minute sends a backup of the control plane when something has changed, and never two in a minute", async () => {
  await using world = await backupWorld();
  await using app = await world.start();
  const acme = await app.namespace();
  const clock = new StandingClock();
  const store: ObjectStore = new FolderObjects(`${world.folder}/store`);
  let isAway = false;
  const withObjects = async (work: (store: ObjectStore) => Promise<void>) => {
    if (isAway) throw new Error("away");
    await work(store);
  };
  const backups = scheduledBackups(app, { clock, archive: { withObjects } });
  const count = async () => (await listBackups(store)).filter(({ isWhole }) => isWhole).length;
  const minute = async (ms: number) => {
    clock.turn(ms);
    await backUpEveryMinute({ deps: app.deps, backups });
    return await count();
  };
  assertEquals(await minute(0), 1, "the first, of all that is there");
  assertEquals(await minute(2 * HALF_A_MINUTE_MS), 1, "nothing has changed");
  await acme.mint("read");
  assertEquals(await minute(2 * HALF_A_MINUTE_MS), 2, "something has");
  await acme.mint("read");
  assertEquals(await minute(HALF_A_MINUTE_MS), 2, "too soon after the last");
  assertEquals(await minute(HALF_A_MINUTE_MS), 3, "what has waited goes");
  await acme.mint("read");
  isAway = true;
  assertEquals(await minute(2 * HALF_A_MINUTE_MS), 3, "nobody takes it");
  assertEquals(app.logLines.filter((line) => line.includes("backup_not_archived")).length, 1);
  isAway = false;
  assertEquals(
    await minute(2 * HALF_A_MINUTE_MS),
    4,
    "it goes in the next minute, though nothing was written since",
  );
});

Deno.test("what else is done each minute goes on while a backup takes long", async () => {
  await using world = await backupWorld();
  await using app = await world.start();
  await app.namespace();
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const withObjects = async () => {
    begun.resolve();
    await end.promise;
  };
  const backups = scheduledBackups(app, { archive: { withObjects } });
  const upkept = { deps: app.deps, backups };
  const backup = backUpEveryMinute(upkept);
  await begun.promise;
  for (let minute = 0; minute < 2; minute++) await everyMinute(upkept);
  end.resolve();
  await backup;
  assertEquals(app.logLines.filter((line) => line.includes("backup_not_archived")), []);
});
