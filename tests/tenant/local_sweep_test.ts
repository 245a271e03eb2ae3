// What the sweep of the embedded store takes away, and that one thing which stays keeps nothing else from going.
import { assertEquals, assertRejects } from "@std/assert";
import { HOUR_MS, systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { removeLeftoverCopies } from "../../lib/tenant/local/files/snapshot_files.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { databasePath, snapshotFolder } from "../../lib/tenant/local/files/tenant_paths.ts";

/** Of a label, as old as a snapshot can be. */
const OLD = "000000000000001.old.db";

async function withStore(body: (store: LocalStore, tenants: string) => Promise<void>): Promise<void> {
  const dataDirectory = await Deno.makeTempDir();
  const store = await createLocalStore({
    ...{ dataDirectory, queryTimeoutMs: 1000, logDays: 30, snapshotDays: 7, clock: systemClock },
    ...{ log: silentLog, engineEnvironment: configFromEnvironment().engineEnvironment },
  });
  try {
    await body(store, `${dataDirectory}/tenants`);
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

/** Of a new database's, with a snapshot in it that only a folder's removal takes away, or an old file. */
async function makeFolder(tenants: string, stays: boolean): Promise<string> {
  const folder = snapshotFolder(tenants, newId("db", systemClock.now()));
  await Deno.mkdir(stays ? `${folder}/${OLD}` : folder, { recursive: true });
  await Deno.writeTextFile(stays ? `${folder}/${OLD}/file` : `${folder}/${OLD}`, "");
  return folder;
}

Deno.test("a database whose snapshots cannot be removed keeps no other's from being removed", async () => {
  await withStore(async (store, tenants) => {
    const folders: { stays: boolean; folder: string }[] = [];
    for (let at = 0; at < 16; at++) {
      const stays = at % 2 === 0;
      folders.push({ stays, folder: await makeFolder(tenants, stays) });
    }
    await assertRejects(() => store.sweep());
    for (const { stays, folder } of folders) assertEquals(await namesIn(folder), stays ? [OLD] : []);
  });
});

Deno.test("a copy that is ended while leftovers are looked for keeps none of them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_leftovers_" });
  const { stat } = Deno;
  try {
    for (const name of ["a.part", "b.part", "c.part"]) {
      await Deno.writeTextFile(`${folder}/${name}`, "x");
      await Deno.utime(`${folder}/${name}`, new Date(), new Date(systemClock.now() - 2 * HOUR_MS));
    }
    let ended = false;
    Deno.stat = async (path) => {
      if (!ended) await Deno.remove(path);
      ended = true;
      return await stat(path);
    };
    await removeLeftoverCopies(folder, systemClock.now());
    assertEquals([ended, await namesIn(folder)], [true, []]);
  } finally {
    Deno.stat = stat;
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("copies that nobody is making any more are removed; what may be under way, and what is whole, stays", async () => {
  await withStore(async (store, tenants) => {
    const path = databasePath(tenants, newId("db", systemClock.now()));
    const folder = path.slice(0, path.lastIndexOf("/"));
    const snapshots = `${path.slice(0, -".db".length)}.snapshots`;
    await Deno.mkdir(snapshots, { recursive: true });
    const label = `${String(systemClock.now()).padStart(15, "0")}.full.db`;
    const write = async (file: string, ageMs = 2 * HOUR_MS) => {
      await Deno.writeTextFile(file, "x");
      await Deno.utime(file, new Date(), new Date(systemClock.now() - ageMs));
    };
    const left = [
      ...[".restoring", ".restoring-wal", ".restoring.part", ".part"].map((suffix) => path + suffix),
      ...[`${label}.part`, `${label}-wal`].map((name) => `${snapshots}/${name}`),
    ];
    for (const file of left) await write(file);
    // Its file is lost: the log is what is left of a damaged database.
    await write(`${path}-wal`);
    await write(`${snapshots}/${label.replace("full", "young")}-wal`, 0);
    await write(`${snapshots}/${label.replace("full", "whole")}`);
    await write(`${snapshots}/${label.replace("full", "whole")}-wal`);
    await store.sweep();
    assertEquals(await namesIn(folder), [
      `${path.slice(folder.length + 1)}-wal`,
      snapshots.slice(folder.length + 1),
    ]);
    const names = ["young.db-wal", "whole.db", "whole.db-wal"].map((end) => label.replace("full.db", end));
    assertEquals(await namesIn(snapshots), names.sort());
  });
});
