// The archive of one database file, where its process or its machine ends between two steps.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { DAY_MS } from "../../lib/core/clock.ts";
import { pause } from "../../lib/core/pause.ts";
import { AppError } from "../../lib/core/errors.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { epochName } from "../../lib/tenant/archive/archive_names.ts";
import { buildMoment } from "../../lib/tenant/archive/build_moment.ts";
import { cutDatabase } from "../../lib/tenant/archive/cut_database.ts";
import { DatabaseArchive } from "../../lib/tenant/archive/database_archive.ts";
import { digestOf } from "../../lib/tenant/archive/digest.ts";
import { findFirstMs, findMoment, readBegin, readObject } from "../../lib/tenant/archive/find_epoch.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import type { ReadObjects } from "../../lib/tenant/object_store.ts";
import { pruneArchive } from "../../lib/tenant/archive/prune_archive.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const ID = "db_archived";
const ask = (work: () => Promise<void>) => work();

interface World {
  readonly path: string;
  readonly folder: string;
  readonly store: FolderObjects;
  readonly clock: TurnableClock;
  readonly database: DatabaseSync;
  /** The archive as a process finds it that has just started. */
  start(idleUntilMs?: number): DatabaseArchive;
}

async function withFile(work: (world: World) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  const path = `${root}/t.db`;
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t (a)");
    database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    const store = new FolderObjects(`${root}/objects`);
    const clock = new TurnableClock();
    const folder = `${root}/archive`;
    const start = (idleUntilMs = 0) =>
      new DatabaseArchive({
        ...{ databaseId: ID, path, folder, store, clock, idleUntilMs, pack: cutDatabase },
        ...{ checked: new Set(), openedMs: clock.now(), log: () => {} },
      });
    await work({ path, folder, store, clock, database, start });
  } finally {
    database.close();
    await Deno.remove(root, { recursive: true });
  }
}

/** Three moments, each with a row more, of which the first is forty days old in the end and the second thirty-eight. */
async function archivedMoments(
  archive: DatabaseArchive,
  { clock, database }: Pick<World, "clock" | "database">,
): Promise<number[]> {
  const moments: number[] = [];
  for (const days of [0, 2, 38]) {
    clock.turn(days * DAY_MS);
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    clock.turn(1000);
    moments.push(clock.now());
  }
  await archive.send(ask);
  return moments;
}

/** What the newest epoch of the archive begins with. */
async function beginOf(archive: DatabaseArchive, store: FolderObjects) {
  const { epoch } = await endOf(archive);
  const keys = await Array.fromAsync(store.keys(`db/${ID}/${epoch}/begin-`));
  assertEquals(keys.length, 1);
  const key = keys[0] ?? "";
  const sha256 = key.slice(key.lastIndexOf("-") + 1);
  return await readBegin(store, { key, name: { epoch, kind: "begin", number: 0, readMs: 0, sha256 } });
}

async function endOf(archive: DatabaseArchive) {
  const state = await archive.state();
  assert(state !== null);
  return { epoch: state.epoch, segments: state.segments };
}

Deno.test("an epoch whose beginning was spooled but not noted is no part of the archive", async () => {
  await withFile(async ({ folder, store, clock, database, start }) => {
    const first = start();
    await first.cut();
    await first.send(ask);
    database.exec("INSERT INTO t VALUES (1)");
    await first.cut();
    const noted = await Deno.readTextFile(`${folder}/state.json`);
    clock.turn(2 * DAY_MS);
    await first.cut();
    assert((await first.state())?.epoch !== JSON.parse(noted).epoch);
    // Its process ends before it notes the new epoch.
    await Deno.writeTextFile(`${folder}/state.json`, noted);
    clock.turn(-2 * DAY_MS);
    const second = start();
    database.exec("INSERT INTO t VALUES (2)");
    await second.cut();
    await second.send(ask);
    const moment = await findMoment(store, ID, { atMs: clock.now(), end: await endOf(second) });
    assertEquals([moment.pieces.length, moment.whole.length], [1, 2]);
  });
});

Deno.test("who asks for the state takes nothing away that is being spooled", async () => {
  await withFile(async ({ folder, database, start }) => {
    const archive = start();
    await archive.cut();
    await archive.send(ask);
    const noted = await Deno.readTextFile(`${folder}/state.json`);
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    await Deno.writeTextFile(`${folder}/state.json`, noted);
    const waiting = await archive.spoolBytes();
    assert(waiting > 0);
    await start().state();
    assertEquals(await archive.spoolBytes(), waiting);
  });
});

Deno.test("a state that is older than the store, and had given up, begins behind all that the store has", async () => {
  await withFile(async ({ folder, store, clock, database, start }) => {
    const first = start();
    await first.cut();
    await first.send(ask);
    const noted = JSON.parse(await Deno.readTextFile(`${folder}/state.json`));
    for (const days of [1, 2]) {
      clock.turn(days * DAY_MS);
      database.exec("INSERT INTO t VALUES (1)");
      await first.cut();
      await first.send(ask);
    }
    const last = await endOf(first);
    // As a process leaves it that ends once it has found out, and before it has begun anew.
    await Deno.writeTextFile(`${folder}/state.json`, JSON.stringify({ ...noted, phase: "lost" }));
    clock.turn(DAY_MS);
    const second = start();
    await second.cut();
    await second.send(ask);
    const { epoch } = await endOf(second);
    assert(epoch.slice(0, 8) > last.epoch.slice(0, 8), `${epoch} behind ${last.epoch}`);
    const { atMs, gapFromMs } = await beginOf(second, store);
    assert(gapFromMs !== null && gapFromMs < atMs && atMs > clock.now() - DAY_MS);
    const moment = await findMoment(store, ID, { atMs: gapFromMs, end: null });
    assertEquals(moment.whole.at(-1)?.name.epoch, last.epoch);
  });
});

Deno.test("frames that the machine has lost after they were read begin a new epoch", async () => {
  await withFile(async ({ path, store, database, start }) => {
    const archive = start();
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    // Other frames take the place of the last one that was read, as after a loss of power.
    const log = await Deno.readFile(`${path}-wal`);
    const pageBytes = new DataView(log.buffer).getUint32(8);
    const last = log.length - (24 + pageBytes);
    for (let at = 16; at < 24; at++) log[last + at] = (log[last + at] ?? 0) ^ 0xff;
    await Deno.writeFile(`${path}-wal`, log);
    const former = (await archive.state())?.epoch;
    await archive.cut();
    await archive.send(ask);
    assert((await endOf(archive)).epoch !== former);
    const { gapFromMs, before } = await beginOf(archive, store);
    assert(gapFromMs !== null);
    assertEquals(before, null);
  });
});

for (const isRead of [true, false]) {
  Deno.test(`a gap begins where the archive ended, whatever counts as idle behind it (${isRead ? "read" : "unread"})`, async () => {
    await withFile(async ({ store, clock, database, start }) => {
      const first = start();
      database.exec("INSERT INTO t VALUES (1)");
      await first.cut();
      await first.send(ask);
      const { untilMs } = await first.state() ?? {};
      // As a program that knows of no archive leaves it.
      clock.turn(1000);
      database.exec("INSERT INTO t VALUES (2)");
      database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
      clock.turn(1000);
      const archive = start(clock.now());
      if (isRead) await archive.cut();
      await archive.lose();
      await archive.cut();
      await archive.send(ask);
      assertEquals((await beginOf(archive, store)).gapFromMs, untilMs);
    });
  });
}

Deno.test("a log that begins again once nobody reads it any more, all of it folded in, leaves no gap", async () => {
  await withFile(async ({ path, store, clock, database, start }) => {
    const archive = start();
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    const { epoch } = await endOf(archive);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT * FROM t").all();
    await archive.cut("folding");
    assertEquals(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"], 1);
    await archive.folded(0);
    reader.close();
    database.exec("INSERT INTO t VALUES (2)");
    await archive.cut();
    await archive.send(ask);
    assertEquals(await endOf(archive), { epoch, segments: 2 });
    const moment = await findMoment(store, ID, { atMs: clock.now(), end: await endOf(archive) });
    assertEquals(moment.whole.length, 2);
  });
});

Deno.test("a log whose file keeps its length when it is folded in leaves no gap, and its next epoch has nothing twice", async () => {
  await withFile(async ({ path, folder, store, clock, database, start }) => {
    const archive = start();
    const add = () => database.exec("INSERT INTO t VALUES (randomblob(3000))");
    const all = () => database.prepare("SELECT hex(a) FROM t ORDER BY rowid").all();
    const fold = async () => {
      await archive.cut("folding");
      const { checkpointed } = database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
      await archive.folded(Number(checkpointed));
    };
    const built = async (number: number) => {
      await archive.send(ask);
      return await buildMoment({
        store,
        databaseId: ID,
        atMs: clock.now(),
        end: await endOf(archive),
        folder: `${folder}-built-${number}`,
        environment: configFromEnvironment().engineEnvironment,
      });
    };
    await archive.cut();
    const { epoch } = await endOf(archive);
    for (let at = 0; at < 8; at++) add();
    await fold();
    const long = (await Deno.stat(`${path}-wal`)).size;
    add();
    await archive.cut();
    assertEquals(await endOf(archive), { epoch, segments: 2 });
    assertEquals((await Deno.stat(`${path}-wal`)).size, long);
    {
      using copy = new DatabaseSync(await built(1));
      assertEquals(copy.prepare("SELECT hex(a) FROM t ORDER BY rowid").all(), all());
    }

    // The next epoch begins with a file that has the first of the log's frames, because somebody reads the others.
    using reader = new DatabaseSync(path, { readOnly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT * FROM t").all();
    for (let at = 0; at < 3; at++) add();
    await fold();
    const state = await archive.state();
    assert(state?.inFile !== undefined && state.inFile > 0 && state.inFile < state.frames);
    clock.turn(2 * DAY_MS);
    await archive.cut();
    const begun = await archive.state();
    assert(begun?.epoch !== epoch);
    assertEquals([begun?.segments, begun?.frames], [1, state.frames]);
    using copy = new DatabaseSync(await built(2));
    const { whole: [segment] } = await findMoment(store, ID, {
      atMs: clock.now(),
      end: await endOf(archive),
    });
    assert(segment);
    const [head] = new TextDecoder("latin1").decode(await readObject(store, segment)).split("\n");
    assertEquals(JSON.parse(head ?? "").firstFrame, state.inFile);
    assertEquals(copy.prepare("SELECT hex(a) FROM t ORDER BY rowid").all(), all());
  });
});

Deno.test("a base that the length of the log asks for waits until the log is folded in, and has none of it again", async () => {
  await withFile(async ({ database, start }) => {
    const archive = start();
    // Of a value of the same length only the pages that differ would be written.
    const write = (at: number) => database.exec(`UPDATE t SET a = zeroblob(${30_000_000 + at * 5000})`);
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    const { epoch } = await endOf(archive);
    for (let at = 0; at < 10; at++) write(at);
    await archive.cut();
    assertEquals([await archive.needsBase(), (await endOf(archive)).epoch], [false, epoch]);
    await archive.cut("folding");
    const { checkpointed } = database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
    await archive.folded(Number(checkpointed));
    assert(await archive.needsBase());
    await archive.cut();
    const state = await archive.state();
    assert(state?.epoch !== epoch);
    assertEquals([state?.segments, state?.walBytes, await archive.needsBase()], [0, 0, false]);
  });
});

Deno.test("a clock that is turned forth and back loses nothing: where it has run twice, the later time counts", async () => {
  await withFile(async ({ store, clock, database, start }) => {
    const archive = start();
    await archive.cut();
    for (const hours of [1, -2, 1]) {
      clock.turn(hours * DAY_MS / 24);
      database.exec("INSERT INTO t VALUES (1)");
      await archive.cut();
    }
    await archive.send(ask);
    for (const hours of [0, 1]) {
      const atMs = clock.now() + hours * DAY_MS / 24;
      const { whole } = await findMoment(store, ID, { atMs, end: await endOf(archive) });
      assertEquals(whole.length, 3);
    }
  });
});

Deno.test("a log of many pieces that was read at once is in a moment as a whole", async () => {
  await withFile(async ({ store, clock, database, start }) => {
    const archive = start();
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    for (let at = 0; at < 18; at++) database.exec("INSERT INTO t VALUES (randomblob(1000000))");
    const atMs = clock.now();
    await pause(5);
    await archive.cut();
    await archive.send(ask);
    const { whole, parts } = await findMoment(store, ID, { atMs, end: await endOf(archive) });
    assertEquals(whole.length + parts.flat().length, (await endOf(archive))?.segments);
  });
});

Deno.test("a log that is longer than what stays in memory comes back whole, and so does the next one", async () => {
  await withFile(async ({ path, folder, store, clock, database, start }) => {
    const archive = start();
    database.exec("INSERT INTO t VALUES (1)");
    await archive.cut();
    for (let at = 0; at < 7; at++) database.exec("INSERT INTO t VALUES (zeroblob(4000000))");
    database.exec("UPDATE t SET a = randomblob(3000) WHERE a = 1");
    await archive.cut();
    database.exec("INSERT INTO t VALUES (randomblob(3000))");
    await archive.cut();
    await archive.send(ask);
    const environment = configFromEnvironment().engineEnvironment;
    const what = { store, databaseId: ID, atMs: clock.now(), end: await endOf(archive) };
    const built = await buildMoment({ ...what, folder: `${folder}-built`, environment });
    assertEquals((await Deno.stat(`${path}-wal`)).size > 28_000_000, true);
    using copy = new DatabaseSync(built);
    const all = "SELECT rowid, length(a), CASE WHEN length(a) < 4000 THEN hex(a) END FROM t ORDER BY rowid";
    assertEquals(copy.prepare(all).all(), database.prepare(all).all());
  });
});

Deno.test("what no moment needs is removed after its days, and halves of epochs; the rest can be brought back", async () => {
  await withFile(async ({ store, clock, database, start }) => {
    const archive = start();
    const moments = await archivedMoments(archive, { clock, database });
    const sha256 = "0".repeat(64);
    const halves = [
      `db/${ID}/00000001-00000000/base-00000000-${sha256}`,
      `db/db_gone/00000000-00000000/wal-00000000-000000000000001-${sha256}`,
    ];
    for (const key of halves) await store.put(key, new Uint8Array(1));
    await pruneArchive(store, clock.now() - 30 * DAY_MS, (id) => Promise.resolve(id === ID));
    const keys = await Array.fromAsync(store.keys("db/"));
    assertEquals(keys.filter((key) => halves.includes(key)), []);
    assertEquals([...new Set(keys.map((key) => key.split("/")[2]?.slice(0, 8)))].sort(), [
      "00000001",
      "00000002",
    ]);
    const end = await endOf(archive);
    for (const atMs of moments.slice(1)) await findMoment(store, ID, { atMs, end });
    const early = findMoment(store, ID, { atMs: moments[0] ?? 0, end });
    assertEquals(await early.then(() => "found", ({ code }) => code), "archive_too_early");
  });
});

Deno.test("a moment that is looked for while others are removed is found, or is too early, and never damaged", async () => {
  await withFile(async ({ folder, store, clock, database, start }) => {
    const archive = start();
    const moments = await archivedMoments(archive, { clock, database });
    const end = await endOf(archive);
    const [first = 0, ...others] = moments;
    const listed = await Array.fromAsync(store.keys(`db/${ID}/`));
    const keys: ReadObjects["keys"] = async function* () {
      yield* listed;
    };
    /** The removal comes when the object at this place has been asked for. */
    const removing = (kind: string): ReadObjects => ({
      keys,
      get: async (key) => {
        if (key.includes(kind)) {
          await pruneArchive(store, clock.now() - 30 * DAY_MS, () => Promise.resolve(true));
        }
        return await store.get(key);
      },
    });
    const environment = configFromEnvironment().engineEnvironment;
    const wanted = { databaseId: ID, atMs: first, end, folder: `${folder}-built`, environment };
    const built = buildMoment({ ...wanted, store: removing("/base-") });
    assertEquals(await built.then(() => "built", codeOf), "archive_too_early");
    const stale = removing("/begin");
    for (const atMs of others) assert((await findMoment(stale, ID, { atMs, end })).pieces.length > 0);
    const early = findMoment(stale, ID, { atMs: first, end });
    assertEquals(await early.then(() => "found", codeOf), "archive_too_early");
    assertEquals(await findFirstMs(stale, ID), await findFirstMs(store, ID));
  });
});

Deno.test("an object that was packed in another way is told as damaged, and ends nothing else", async () => {
  await withFile(async ({ store }) => {
    const bytes = new Uint8Array(gzipSync(new Uint8Array(100)));
    const name = {
      epoch: epochName(0),
      kind: "base",
      number: 0,
      readMs: 0,
      sha256: digestOf(bytes),
    } as const;
    await store.put("another", bytes);
    const told = await readObject(store, { key: "another", name }).then(() => "read", codeOf);
    assertEquals(told, "archive_damaged");
  });
});

function codeOf(error: unknown): string {
  return error instanceof AppError ? error.code : String(error);
}
