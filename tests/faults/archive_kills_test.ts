// The archive where its process ends: at each of its steps, and the whole service by SIGKILL under load. What was answered by
// a moment is in what is brought back of it, and nothing that began later.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { DAY_MS } from "../../lib/core/clock.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { buildMoment } from "../../lib/tenant/archive/build_moment.ts";
import { cutDatabase } from "../../lib/tenant/archive/cut_database.ts";
import { DatabaseArchive } from "../../lib/tenant/archive/database_archive.ts";
import { FolderObjects } from "../../lib/tenant/archive/folder_objects.ts";
import { rounds, someOf } from "../testing/rounds.ts";
import { startService } from "../testing/start_service.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { ArchivedWrites } from "./archived_writes.ts";

const ID = "db_archived";
/** More changes of files than there are in `live`. */
const CHANGES = 64;

/** Ends the archive's work at its n-th change of a file: that one is made or not, and none after it. */
class EndAt {
  #left: number;

  constructor(left: number, private readonly isMade: boolean) {
    this.#left = left;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  async change<T>(work: () => Promise<T>): Promise<T> {
    if (this.isOver) throw new Error("it has ended");
    this.#left--;
    if (!this.isOver) return await work();
    if (this.isMade) await work();
    throw new Error("it ends");
  }
}

/** Changes of files pass `end` while `work` runs. */
async function withEnd(end: EndAt, work: () => Promise<void>): Promise<void> {
  const { rename, remove } = Deno;
  Deno.rename = (from, to) => end.change(() => rename(from, to));
  Deno.remove = (path, options) => end.change(() => remove(path, options));
  try {
    await work();
  } catch (error) {
    if (!end.isOver) throw error;
  } finally {
    Object.assign(Deno, { rename, remove });
  }
}

const ask = (work: () => Promise<void>) => work();

/** Everything that the archive does, in its order. */
async function live(archive: DatabaseArchive, database: DatabaseSync, clock: TurnableClock): Promise<void> {
  const add = () => database.exec("INSERT INTO t VALUES (randomblob(3000))");
  await archive.cut();
  await archive.send(ask);
  add();
  await archive.cut();
  add();
  await archive.cut("folding");
  assertEquals(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"], 0);
  await archive.folded(null);
  add();
  await archive.send(ask);
  add();
  await archive.cut("folding");
  const keeping = database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
  await archive.folded(Number(keeping?.["checkpointed"]));
  // The log begins again at the start of its file, which is longer.
  add();
  await archive.cut();
  add();
  await archive.send(ask);
  clock.turn(2 * DAY_MS);
  add();
  await archive.cut();
  await archive.send(ask);
}

async function endsAt(at: number, isMade: boolean): Promise<boolean> {
  const root = await Deno.makeTempDir();
  const path = `${root}/t.db`;
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t (a)");
    const clock = new TurnableClock();
    const store = new FolderObjects(`${root}/objects`);
    const start = () =>
      new DatabaseArchive({
        ...{ databaseId: ID, path, folder: `${root}/archive`, store, clock, pack: cutDatabase },
        ...{ checked: new Set(), openedMs: clock.now(), log: (_, event) => void told.push(event) },
      });
    const told: string[] = [];
    const end = new EndAt(at, isMade);
    await withEnd(end, () => live(start(), database, clock));

    const next = start();
    database.exec("INSERT INTO t VALUES (1)");
    await next.cut();
    await next.send(ask);
    const state = await next.state();
    assert(state);
    const built = await buildMoment({
      store,
      databaseId: ID,
      atMs: clock.now(),
      end: state,
      folder: `${root}/built`,
      environment: configFromEnvironment().engineEnvironment,
    });
    using copy = new DatabaseSync(built);
    const all = "SELECT * FROM t ORDER BY rowid";
    assertEquals(copy.prepare(all).all(), database.prepare(all).all(), `change ${at}, made: ${isMade}`);
    // Whoever ends between two steps is no disk that was taken back.
    assertEquals(told, []);
    return end.isOver;
  } finally {
    database.close();
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("work of the archive that ends at any change of a file goes on without a loss", async () => {
  const cases = Array.from({ length: CHANGES }, (_, at) => at + 1);
  for (const at of someOf(cases, 16)) {
    for (const isMade of [false, true]) await endsAt(at, isMade);
  }
  assertEquals(await endsAt(CHANGES, true), false);
});

Deno.test("a service that is killed again and again loses no answered write from its archive", async () => {
  await killAgainAndAgain(new ArchivedWrites(60_000), {
    rounds: rounds(2, 20),
    answers: rounds(40, 400),
    checks: rounds(3, 30),
  });
});

Deno.test("a service that is killed while it folds logs in again and again loses no answered write from its archive", async () => {
  // Some thirty writes make a log that is folded in.
  const writes = new ArchivedWrites(1000, 500_000);
  await killAgainAndAgain(writes, { rounds: rounds(2, 12), answers: rounds(40, 80), checks: rounds(3, 8) });
});

/** `answers`: up to so many in each round. */
async function killAgainAndAgain(
  writes: ArchivedWrites,
  often: { readonly rounds: number; readonly answers: number; readonly checks: number },
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const settings = { ARCHIVE_URL: `file:${folder}/objects` };
  try {
    for (let round = 0; round < often.rounds; round++) {
      await using service = await startService({ folder: `${folder}/data`, settings });
      writes.on(service);
      const writing = writes.until(service.exited.then(() => {}));
      await writes.answers(20 + Math.floor(Math.random() * often.answers));
      await service.kill();
      await writing;
    }
    await using service = await startService({ folder: `${folder}/data`, settings });
    writes.on(service);
    for (const atMs of writes.randomMoments(often.checks)) await writes.check(atMs);
    await service.stop();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
