// Which databases are put to rest in a round, and how many: without a child, which has nothing to decide here.
import type { DatabaseIds } from "../../lib/core/database_ids.ts";
import type { DatabaseRequest } from "../../lib/tenant/local/child/protocol.ts";
import { assertEquals } from "@std/assert";
import { newId } from "../../lib/core/ids.ts";
import { RestingDatabases } from "../../lib/tenant/local/resting_databases.ts";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";

const REST_MS = 60_000;
const LATE_MS = 240_000;

interface Rounds {
  readonly resting: RestingDatabases;
  /** The folder of the files. */
  readonly tenants: string;
  /** Databases that have work. */
  readonly working: Set<string>;
  /** The databases that were asked to rest, in order. */
  readonly asked: string[];
  readonly scheduler: { stopping: boolean; waiting: Set<string> };
  /** Whether a database rests when it is asked to, and what happens meanwhile. */
  answer: (databaseId: string) => boolean | Promise<boolean>;
  pass(ms: number): void;
}

/** Over a folder without a store; the clock stands still. */
async function withRounds(
  body: (rounds: Rounds) => Promise<void>,
  archive: unknown = null,
): Promise<void> {
  const tenants = await Deno.makeTempDir();
  let nowMs = 1_000_000;
  const working = new Set<string>();
  const asked: string[] = [];
  const closed: string[] = [];
  const closeEverywhere = (databaseId: string) => {
    closed.push(databaseId);
    return Promise.resolve();
  };
  const writes = { givesWay: true };
  const scheduler = { slots: [], waiting: new Set<string>(), stopping: false, closeEverywhere };
  const host = {
    ...{ lookups: null, archive, transactions: { closeEverywhere } },
    lanes: ({ databaseId }: DatabaseIds) => ({ mayEnd: !working.has(databaseId), writes }),
    task: async ({ db: databaseId }: Pick<DatabaseRequest, "db">) => {
      // Whoever reads there next may go on between turns again, unless somebody gives the file a log after this.
      assertEquals(writes.givesWay, false);
      writes.givesWay = true;
      // In no child and in no transaction.
      assertEquals(closed.splice(0), [databaseId, databaseId]);
      asked.push(databaseId);
      return { reply: { t: "rested", rests: await rounds.answer(databaseId) } as const, text: "" };
    },
  };
  const clock = { now: () => nowMs, monotonicMs: () => nowMs };
  const rounds: Rounds = {
    ...{ tenants, working, asked, scheduler },
    resting: new RestingDatabases({ host, scheduler, tenants, clock }),
    answer: () => true,
    pass: (ms) => {
      nowMs += ms;
    },
  };
  await body(rounds);
  await rounds.resting.close();
  await Deno.remove(tenants, { recursive: true });
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => newId("db", at + 1));

Deno.test("a round takes some milliseconds and ends, and the next goes on with the longest unwritten", async () => {
  await withRounds(async (rounds) => {
    const { resting, asked, pass } = rounds;
    const databases = ids(5);
    for (const id of databases) resting.note(id);
    pass(REST_MS - 1);
    await resting.restSome();
    assertEquals(asked, []);
    pass(1);
    rounds.answer = () => {
      pass(10);
      return true;
    };
    await resting.restSome();
    assertEquals(asked, databases.slice(0, 3));
    await resting.restSome();
    assertEquals(asked, databases);
  });
});

Deno.test("one round is under way at a time, and where there is an archive none is", async () => {
  await withRounds(async (rounds) => {
    const { resting, asked, pass } = rounds;
    const databases = ids(2);
    for (const id of databases) resting.note(id);
    pass(REST_MS);
    const [begun, rests] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
    rounds.answer = () => {
      begun.resolve();
      return rests.promise;
    };
    const round = resting.restSome();
    await begun.promise;
    await resting.restSome();
    assertEquals(asked, databases.slice(0, 1));
    rests.resolve(true);
    await round;
    assertEquals(asked, databases);
  });
  await withRounds(async ({ resting, asked, pass }) => {
    for (const id of ids(1)) resting.note(id);
    pass(REST_MS);
    await resting.restSome();
    assertEquals(asked, []);
  }, {});
});

Deno.test("while children have work one database a round rests, and only where it is minutes late", async () => {
  await withRounds(async ({ resting, asked, scheduler, pass }) => {
    const databases = ids(3);
    for (const id of databases) resting.note(id);
    scheduler.waiting.add("work");
    pass(REST_MS + LATE_MS - 1);
    await resting.restSome();
    assertEquals(asked, []);
    pass(1);
    await resting.restSome();
    assertEquals(asked, databases.slice(0, 1));
    await resting.restSome();
    assertEquals(asked, databases.slice(0, 2));
  });
});

Deno.test("a database that has work, or does not come to rest, is asked a minute later, and the others now", async () => {
  await withRounds(async (rounds) => {
    const { resting, working, asked, pass } = rounds;
    const [busy = "", reads = "", other = ""] = ids(3);
    for (const id of [busy, reads, other]) resting.note(id);
    working.add(busy);
    rounds.answer = (id) => {
      // To put it to rest is no write.
      resting.note(id);
      return id !== reads;
    };
    pass(REST_MS);
    await resting.restSome();
    assertEquals(asked, [reads, other]);
    working.delete(busy);
    await resting.restSome();
    assertEquals(asked, [reads, other]);
    pass(REST_MS);
    await resting.restSome();
    assertEquals(asked, [reads, other, busy, reads]);
  });
});

Deno.test("of more than 100,000 databases that were written the longest unwritten is forgotten", async () => {
  await withRounds(async (rounds) => {
    const { resting, asked, scheduler, pass } = rounds;
    const databases = Array.from({ length: 100_001 }, (_, at) => `db_${at}`);
    for (const id of databases) resting.note(id);
    rounds.answer = () => scheduler.stopping = true;
    pass(REST_MS);
    await resting.restSome();
    assertEquals(asked, databases.slice(1, 2));
  });
});

Deno.test("of the files of an earlier process only logs of databases count, and none once the store stops", async () => {
  await withRounds(async ({ resting, tenants, asked, scheduler, pass }) => {
    const [left = ""] = ids(1);
    const path = databasePath(tenants, left);
    const folder = path.slice(0, path.lastIndexOf("/"));
    await Deno.mkdir(folder, { recursive: true });
    for (const name of [`${left}.db-wal`, "notes.db-wal", `${left}.db-journal`]) {
      await Deno.writeTextFile(`${folder}/${name}`, "");
    }
    pass(REST_MS);
    await resting.restSome();
    assertEquals(asked, [left]);
    scheduler.stopping = true;
    resting.note(left);
    pass(REST_MS);
    await resting.restSome();
    assertEquals(asked, [left]);
  });
});
