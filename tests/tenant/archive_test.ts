// The archive of embedded databases in a folder: what was answered can be brought back as it was at any moment, and what
// cannot be brought back is told.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { findMoment } from "../../lib/tenant/archive/find_epoch.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { logReaches } from "../../lib/tenant/log_length.ts";
import { LocalArchive } from "../../lib/tenant/local/local_archive.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { pause } from "../../lib/core/pause.ts";
import { Tenant } from "../contracts/tenant_store.ts";
import { openRelay } from "../testing/relay.ts";
import { S3_KEYS, startS3 } from "../testing/s3_server.ts";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";
import { ifThere } from "../../lib/store/if_there.ts";
import { openLocalStore } from "../testing/local_store.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { bucketOf, codeOf, countAt, openArchived, until } from "./archive_world.ts";

const SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)";

interface World {
  readonly folder: string;
  readonly objects: string;
  store: LocalStore;
}

function open(folder: string, objects = `${folder}/objects`): Promise<LocalStore> {
  return openArchived(`${folder}/data`, { kind: "folder", folder: objects });
}

async function withArchive(work: (world: World) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const world = { folder, objects: `${folder}/objects`, store: await open(folder) };
  try {
    await work(world);
  } finally {
    await world.store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function reopen(world: World): Promise<void> {
  await world.store.close();
  world.store = await open(world.folder);
}

Deno.test("a database comes back as it was at any moment: all that was answered by then, nothing later", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    const answered: number[] = [];
    for (let row = 0; row < 40; row++) {
      await tenant.run("write", [["INSERT INTO t (a) VALUES (?)", "x".repeat(row * 50)]]);
      answered.push(systemClock.now());
      await pause(5);
      if (row === 15) await world.store.archive?.status(tenant.id);
    }
    for (const at of [0, 7, 16, 30, 39]) {
      assertEquals(await countAt(world.store, tenant.id, (answered[at] ?? 0) + 1, `at-${at}`), at + 1);
    }
    const atOnce = ["a", "b"].map((label) =>
      codeOf(
        world.store.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label }) ?? Promise.resolve(),
      )
    );
    assertEquals((await Promise.all(atOnce)).sort(), ["database_busy", "done"]);
    // In place, with an undo.
    await tenant.database.restore("at-7", { undoLabel: "undo" });
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[8]]);
    await tenant.database.restore("undo", { undoLabel: "undo-2" });
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[40]]);
    // Moments before the restore are still there after it.
    assertEquals(await countAt(world.store, tenant.id, (answered[16] ?? 0) + 1, "after"), 17);
  });
});

Deno.test("a log that was folded in and a restart leave no gap", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    const answered: number[] = [];
    const fill = async (store: LocalStore, rows: number) => {
      for (let row = 0; row < rows; row++) {
        await Tenant.at(store, tenant.id).run("write", [[
          "INSERT INTO t (a) VALUES (?)",
          "x".repeat(600_000),
        ]]);
        answered.push(systemClock.now());
        await pause(3);
      }
    };
    await fill(world.store, 12);
    await folded(world, tenant.id);
    await fill(world.store, 3);
    await reopen(world);
    await fill(world.store, 12);
    await folded(world, tenant.id);
    await fill(world.store, 2);
    for (const at of [2, 11, 13, 14, 20, 28]) {
      assertEquals(await countAt(world.store, tenant.id, (answered[at] ?? 0) + 1, `at-${at}`), at + 1);
    }
    assertEquals(epochsOf(world, tenant.id).length, 1);
  });
});

Deno.test("a database that was at rest when its archive began has no gap where it is written again", async () => {
  const folder = await Deno.makeTempDir();
  const clock = new TurnableClock();
  const earlier = await openLocalStore(`${folder}/data`, { clock });
  const tenant = await Tenant.create(earlier, [SCHEMA]);
  await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
  const isAtRest = async () =>
    await ifThere(Deno.stat(`${databasePath(`${folder}/data/tenants`, tenant.id)}-wal`)) === null;
  while (!await isAtRest()) {
    clock.turn(61_000);
    await pause(200);
  }
  await earlier.close();
  const world = { folder, objects: `${folder}/objects`, store: await open(folder) };
  try {
    // Its base.
    await until(async () => await ifThere(Deno.stat(`${world.objects}/db/${tenant.id}`)) !== null);
    for (let row = 0; row < 3; row++) {
      await Tenant.at(world.store, tenant.id).run("write", [["INSERT INTO t (a) VALUES ('y')"]]);
      await pause(5);
    }
    assertEquals(await countAt(world.store, tenant.id, systemClock.now(), "now"), 4);
    assertEquals(epochsOf(world, tenant.id).length, 1);
  } finally {
    await world.store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a log that is folded in while somebody goes on writing keeps its file's length, and leaves no gap", async () => {
  await withArchive(async ({ folder, store }) => {
    const tenant = await Tenant.create(store, [
      SCHEMA,
      "CREATE TABLE b (a BLOB)",
      "INSERT INTO b VALUES (1)",
    ]);
    const answered: number[] = [];
    const write = async () => {
      await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"], [
        "UPDATE b SET a = randomblob(100000)",
      ]]);
      answered.push(systemClock.now());
      await pause(2);
    };
    const log = logOf(folder, tenant.id);
    const isKept = () => !logReaches(log, Deno.statSync(log).size - 1_000_000) && isLong();
    const isLong = () => Deno.statSync(log).size > 16_000_000;
    while (!isKept()) await write();
    const folded = answered.length;
    for (let more = 0; more < 30; more++) await write();
    await store.archive?.status(tenant.id);
    for (const at of [0, folded - 20, folded - 2, folded + 10, folded + 29]) {
      assertEquals(await countAt(store, tenant.id, (answered[at] ?? 0) + 1, `at-${at}`), at + 1);
    }
  });
});

Deno.test("a transaction longer than an object of the archive is in a moment as a whole, or not at all", async () => {
  await withArchive(async ({ store }) => {
    const tenant = await Tenant.create(store, [SCHEMA]);
    await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
    await pause(3);
    const before = systemClock.now();
    await pause(3);
    const six = "(VALUES (1), (2), (3), (4), (5), (6))";
    await tenant.run("write", [[`INSERT INTO t (a) SELECT randomblob(1000000) FROM ${six}`]]);
    await tenant.run("write", [["DELETE FROM t WHERE id = 2"]]);
    assertEquals(await countAt(store, tenant.id, before, "before"), 1);
    assertEquals(await countAt(store, tenant.id, systemClock.now(), "after"), 6);
  });
});

Deno.test("an object that is lost or altered is never a part of what is brought back", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    const moments: number[] = [];
    for (let row = 0; row < 4; row++) {
      await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
      await world.store.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label: `s${row}` });
      moments.push(systemClock.now());
    }
    const archive = world.store.archive;
    assert(archive !== null);
    const to = (at: number, label: string) =>
      codeOf(archive.toSnapshot(tenant.id, { atMs: moments[at] ?? 0, label }));
    const before = await tenant.database.snapshots();
    const objects = new FolderObjects(world.objects);
    const files = filesOf(world, tenant.id);
    const lastPart = files.filter((path) => /wal-/.test(path)).sort().at(-1);
    for (const path of files) {
      const bytes = Deno.readFileSync(path);
      const altered = bytes.slice();
      altered[bytes.length >> 1] = (altered[bytes.length >> 1] ?? 0) ^ 1;
      for (const damage of [altered, bytes.subarray(0, bytes.length - 1), null]) {
        if (damage === null) Deno.removeSync(path);
        else Deno.writeFileSync(path, damage);
        const code = await to(3, "damaged");
        // Nobody can tell that the last one was ever there: this machine knows it.
        assert(
          code === "archive_damaged" ||
            (damage === null && /begin-/.test(path) && code === "archive_too_early"),
          `${path} ${code}`,
        );
        // A machine that knows nothing of it tells all but the last part, which may never have been there.
        if (damage !== null || /begin-/.test(path) || path === lastPart) continue;
        const seen = await codeOf(findMoment(objects, tenant.id, { atMs: moments[3] ?? 0, end: null }));
        assertEquals(seen, "archive_damaged", path);
      }
      Deno.writeFileSync(path, bytes);
    }
    assertEquals(await tenant.database.snapshots(), before);
    assertEquals(await to(3, "whole"), "done");
    assertEquals(
      await codeOf(archive.toSnapshot(tenant.id, { atMs: 1000, label: "early" })),
      "archive_too_early",
    );
  });
});

Deno.test("a restore that begins while a log is folded in waits for that, and both come to their end", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    await tenant.database.takeSnapshot("before");
    const { archive } = world.store;
    assert(archive instanceof LocalArchive);
    const [taken, restores] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const folding = archive.holding(tenant.id, async (fold) => {
      taken.resolve();
      await restores.promise;
      await fold({ keeps: false });
    });
    await taken.promise;
    await tenant.run("read", [["SELECT 1"]]);
    const restored = tenant.database.restore("before", { undoLabel: "undo" });
    await pause(50);
    restores.resolve();
    await Promise.all([folding, restored]);
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[0]]);
  });
});

Deno.test("a restore waits for one object that is on its way to a slow store, and not for those behind it", async () => {
  const s3 = startS3();
  const folder = await Deno.makeTempDir();
  await using relay = openRelay(s3.endpoint);
  const store = await openArchived(folder, bucketOf({ ...s3, endpoint: relay.url }));
  const [sends, goesOn, restored] = [1, 2, 3].map(() => Promise.withResolvers<void>());
  try {
    const tenant = await Tenant.create(store, [SCHEMA]);
    await tenant.database.takeSnapshot("before");
    await store.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "archived" });
    let objects = 0;
    relay.between = async ({ route }, go) => {
      if (/^PUT .*\/wal-/.test(route)) {
        sends?.resolve();
        await (++objects === 1 ? goesOn : restored)?.promise;
      }
      return await go();
    };
    for (let row = 0; row < 3; row++) {
      await tenant.run("write", [["INSERT INTO t (a) VALUES (hex(randomblob(2500000)))"]]);
    }
    await sends?.promise;
    const restoring = tenant.database.restore("before", { undoLabel: "undo" });
    await pause(100);
    goesOn?.resolve();
    await restoring;
    restored?.resolve();
    const atMs = systemClock.now();
    assertEquals(await countAt(store, tenant.id, atMs, "now"), 0);
    assert(objects > 2, `${objects} objects`);
  } finally {
    restored?.resolve();
    await store.close();
    await s3.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("one installation archives at a place: another is refused", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    await world.store.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "s" });
    const other = await Deno.makeTempDir();
    const refused = await open(other, world.objects).then(() => "opened", (error) => error.message);
    assert(refused.startsWith("Give ARCHIVE_URL a prefix of its own"), refused);
    await Deno.remove(other, { recursive: true });
  });
});

Deno.test("a store that is away holds nobody up, and has everything once it is back", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    const archive = world.store.archive;
    assert(archive !== null);
    await archive.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "s" });
    await Deno.rename(world.objects, `${world.objects}.away`);
    await Deno.writeTextFile(world.objects, "not a folder");
    const answered: number[] = [];
    for (let row = 0; row < 5; row++) {
      await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
      answered.push(systemClock.now());
      await pause(3);
    }
    assertEquals(
      await codeOf(archive.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "away" })),
      "archive_unavailable",
    );
    assertEquals(await world.store.ready(), ["archive_away"]);
    await Deno.remove(world.objects);
    await Deno.rename(`${world.objects}.away`, world.objects);
    await reopen(world);
    assertEquals(await countAt(world.store, tenant.id, (answered[2] ?? 0) + 1, "back"), 3);
    assertEquals(await world.store.ready(), []);
  });
});

Deno.test("what was sent before a restart counts as sent, also while the folder is away afterwards", async () => {
  await withArchive(async (world) => {
    const tenant = await Tenant.create(world.store, [SCHEMA]);
    await world.store.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "s" });
    await pause(3);
    await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
    const sent = systemClock.now();
    await pause(3);
    await world.store.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "sent" });
    await reopen(world);
    await Deno.rename(world.objects, `${world.objects}.away`);
    await Deno.writeTextFile(world.objects, "not a folder");
    await Tenant.at(world.store, tenant.id).run("write", [["INSERT INTO t (a) VALUES ('y')"]]);
    const { archivedUntilMs } = await world.store.archive?.status(tenant.id) ?? {};
    assert((archivedUntilMs ?? 0) >= sent, `${archivedUntilMs} is before ${sent}`);
    await Deno.remove(world.objects);
    await Deno.rename(`${world.objects}.away`, world.objects);
  });
});

Deno.test("an archive in a bucket: each request is signed, and what is listed in pages is found", async () => {
  const s3 = startS3();
  const folder = await Deno.makeTempDir();
  const openWith = (secretAccessKey: string) =>
    openArchived(`${folder}/data`, bucketOf(s3), { secretAccessKey });
  try {
    const wrong = await openWith("wrong");
    const tenant = await Tenant.create(wrong, [SCHEMA]);
    await tenant.run("write", [["INSERT INTO t (a) VALUES ('x')"]]);
    const refused = wrong.archive?.toSnapshot(tenant.id, { atMs: systemClock.now(), label: "s" });
    assertEquals(await codeOf(refused ?? Promise.resolve()), "archive_unavailable");
    await wrong.close();
    assertEquals([...new Set(s3.refused)], ["signature"]);
    assertEquals(s3.objects.size, 0);

    const store = await openWith(S3_KEYS.secretAccessKey);
    const moment = systemClock.now();
    await pause(3);
    await Tenant.at(store, tenant.id).run("write", [["INSERT INTO t (a) VALUES ('y')"]]);
    assertEquals(await countAt(store, tenant.id, systemClock.now(), "now"), 2);
    assertEquals(await countAt(store, tenant.id, moment, "before"), 1);
    await store.close();
    assertEquals([...s3.objects.keys()].every((key) => key.startsWith("shop/cubby/")), true);
    assert(s3.objects.size > 4);
  } finally {
    await s3.close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Waits until the log was folded into its file. */
async function folded(world: World, id: string): Promise<void> {
  const log = logOf(world.folder, id);
  while ((await Deno.stat(log)).size > 0) await pause(20);
}

function logOf(folder: string, id: string): string {
  return `${folder}/data/tenants/${id.slice(-2).toLowerCase()}/${id}.db-wal`;
}

function epochsOf(world: World, id: string): string[] {
  return [...Deno.readDirSync(`${world.objects}/db/${id}`)].map(({ name }) => name);
}

function filesOf(world: World, id: string): string[] {
  return epochsOf(world, id).flatMap((epoch) => {
    const folder = `${world.objects}/db/${id}/${epoch}`;
    return [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`);
  });
}
