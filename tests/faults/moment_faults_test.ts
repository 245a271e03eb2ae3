// A moment that is being built out of the archive while something else goes wrong: the archive is whole, and what fails
// does not say that it is damaged.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { configFromEnvironment } from "../../lib/config.ts";
import { AppError } from "../../lib/core/errors.ts";
import { pause } from "../../lib/core/pause.ts";
import { buildMoment } from "../../lib/tenant/archive/build_moment.ts";
import { cutDatabase } from "../../lib/tenant/archive/cut_database.ts";
import { DatabaseArchive } from "../../lib/tenant/archive/database_archive.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { removeIfThere } from "../../lib/store/if_there.ts";
import { killChildren } from "../testing/engine_children.ts";
import { print } from "../testing/print.ts";
import { smallDisks } from "../testing/small_disk.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const ID = "db_archived";
const ROWS = 20;
/** Bytes that are left on a disk from one try to the next: some fail before the process starts, some in it. */
const STEP = 128 * 1024;
const MOST = 4 * 1024 * 1024;

/** `build` makes the newest moment in a folder; what it answers is `built` or the code of its error. */
async function withMoment(
  work: (build: (folder: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "cubby_moment_" });
  const database = new DatabaseSync(`${root}/t.db`);
  try {
    database.exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t (a)");
    const clock = new TurnableClock();
    const store = new FolderObjects(`${root}/objects`);
    const archive = new DatabaseArchive({
      ...{ databaseId: ID, path: `${root}/t.db`, folder: `${root}/archive`, store, clock, pack: cutDatabase },
      ...{ checked: new Set(), openedMs: clock.now(), log: () => {} },
    });
    await archive.cut();
    for (let row = 0; row < ROWS; row++) database.exec("INSERT INTO t VALUES (randomblob(30000))");
    await archive.cut();
    await archive.send((send) => send());
    const end = await archive.state();
    const environment = configFromEnvironment().engineEnvironment;
    await work(async (folder) => {
      const wanted = { store, databaseId: ID, atMs: clock.now(), end, folder, environment };
      try {
        using built = new DatabaseSync(await buildMoment(wanted));
        assertEquals(built.prepare("SELECT count(*) AS rows FROM t").get()?.["rows"], ROWS);
        return "built";
      } catch (error) {
        if (error instanceof AppError) return error.code;
        throw error;
      }
    });
  } finally {
    database.close();
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test({
  name: "a moment whose process somebody ends is to be tried again, and no archive is called damaged",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withMoment(async (build) => {
      const folder = await Deno.makeTempDir({ prefix: "cubby_built_" });
      try {
        const building = build(folder);
        while (await killChildren(folder) === 0) await pause(1);
        assertEquals(await building, "archive_unavailable");
        await Deno.remove(`${folder}/built.db`);
        assertEquals(await build(folder), "built");
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
});

Deno.test("a moment for which the disk has too little room is storage_full, and no archive is called damaged", async () => {
  const disks = await smallDisks();
  try {
    const disk = disks.find(({ leave }) => leave !== undefined);
    if (disk?.leave === undefined) return print("nothing was tried: this machine cannot mount as root");
    const { leave } = disk;
    await withMoment(async (build) => {
      await disk.fill(Deno.pid);
      const told: string[] = [];
      for (let free = 0; told.at(-1) !== "built"; free += STEP) {
        assert(free < MOST, told.join());
        told.push(await build(disk.folder));
        await removeIfThere(disk.folder);
        await leave(STEP);
      }
      assertEquals([...new Set(told)], ["storage_full", "built"]);
    });
  } finally {
    for (const disk of disks) await disk.remove();
  }
});
