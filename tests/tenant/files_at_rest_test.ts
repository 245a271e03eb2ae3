// Databases that have not been written for a while are at rest, without a write-ahead log: nobody who reads one keeps a writer
// out, and whatever happens to one comes back as it was.
import { assert, assertEquals } from "@std/assert";
import { mergeOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";
import { AppError } from "../../lib/core/errors.ts";
import { pause } from "../../lib/core/pause.ts";
import { rounds } from "../testing/rounds.ts";
import { killChildren } from "../testing/engine_children.ts";
import { openLocalStore, withLocalStore } from "../testing/local_store.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const REST_MS = 61_000;
const BY_KEY = "SELECT v FROM t WHERE id = ?";
/** A read of every row, some of which take long. */
const LONG_READ = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 6000000) " +
  "SELECT (SELECT sum(v) FROM t), count(*) FROM c";

/** Whether there is a file where the log would be: this process opens no file of a database but by the engine. */
async function hasLog(folder: string, { id }: Tenant): Promise<boolean> {
  try {
    await Deno.stat(`${databasePath(`${folder}/tenants`, id)}-wal`);
    return true;
  } catch {
    return false;
  }
}

interface World {
  readonly folder: string;
  readonly store: LocalStore;
  readonly tenant: Tenant;
  /** Waits until the database, or another one, is at rest. */
  readonly rest: (other?: Tenant) => Promise<void>;
}

/** A database with ten rows, at rest. */
async function withResting(
  work: (world: World) => Promise<void>,
  more: Parameters<typeof openLocalStore>[1] = {},
): Promise<void> {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const tenant = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)"]);
    for (let id = 1; id <= 10; id++) await write(tenant, `INSERT INTO t VALUES (${id}, ${id})`);
    const rest = async (one = tenant) => {
      // Turned forward, the clock says that nobody has called for long: rows of its log would be written, and wake the file.
      await store.flushLog(store.lanes({ databaseId: one.id, namespaceId: "ns_1" }));
      for (let waited = 0; waited === 0 || await hasLog(folder, one); waited++) {
        assert(waited < 2000, "the database does not come to rest");
        // Rows of its log may come as late as this, and other children may have it open still.
        if (waited % 50 === 0) clock.turn(REST_MS);
        await pause(20);
      }
    };
    await rest();
    await work({ folder, store, tenant, rest });
  }, { clock, ...more });
}

async function write(tenant: Tenant, sql: string): Promise<void> {
  const outcome = await tenant.run("write", [[sql]]);
  assertEquals(outcome.ok, true, JSON.stringify(outcome));
}

/** Looks up until the engine knows that the read ends by itself: only then does it leave a database at rest. */
async function learn(tenant: Tenant): Promise<void> {
  for (let at = 0; at < 3; at++) assertEquals(await tenant.rows(BY_KEY, [3]), [[3]]);
}

/** The database comes to rest, and the service itself looks something up there, by which it holds the file for seconds. */
async function lookUpAtRest({ tenant, folder, rest }: World): Promise<void> {
  await learn(tenant);
  await rest();
  await learn(tenant);
  assert(!await hasLog(folder, tenant));
}

Deno.test("look-ups by key leave a database at rest, any other read gives it a log, and it comes to rest again", async () => {
  await withResting(async ({ tenant, folder, rest }) => {
    await learn(tenant);
    await write(tenant, "UPDATE t SET v = 40 WHERE id = 4");
    assert(await hasLog(folder, tenant));
    await rest();
    for (let at = 0; at < 50; at++) assertEquals(await tenant.rows(BY_KEY, [4]), [[40]]);
    assert(!await hasLog(folder, tenant));
    assertEquals(await tenant.rows("SELECT count(*) FROM t"), [[10]]);
    assert(await hasLog(folder, tenant));
  });
});

for (const lookupBytes of [undefined, 0]) {
  const where = lookupBytes === 0 ? " (in copies of the file)" : "";
  Deno.test(`a write is seen by the look-ups behind it, whoever read the database at rest before${where}`, async () => {
    await withResting(async ({ store, tenant, rest }) => {
      for (let round = 1; round <= 5; round++) {
        await learn(tenant);
        await rest();
        const before = store.lookups?.answered;
        for (let again = 0; store.lookups?.answered === before; again++) {
          assert(again < 100, "children answer");
          await learn(tenant);
          // On a busy machine rows of the log may have given it a log again.
          await rest();
        }
        const beside = Promise.all(
          Array.from({ length: 200 }, async () => {
            const [[v] = []] = await tenant.rows(BY_KEY, [5]);
            assert(v === 5 + round - 1 || v === 5 + round, `${v} in round ${round}`);
          }),
        );
        await write(tenant, "UPDATE t SET v = v + 1 WHERE id = 5");
        assertEquals(await tenant.rows(BY_KEY, [5]), [[5 + round]]);
        await beside;
      }
    }, lookupBytes === undefined ? {} : { lookupBytes });
  });
}

Deno.test("a long read that has found a database at rest keeps no writer out", async () => {
  await withResting(async (world) => {
    const { tenant } = world;
    await lookUpAtRest(world);
    const ended: string[] = [];
    const reading = tenant.rows(LONG_READ).then((rows) => {
      ended.push("read");
      return rows;
    });
    await pause(300);
    for (let at = 0; at < 3; at++) await write(tenant, "UPDATE t SET v = 100 WHERE id = 1");
    ended.push("writes");
    assertEquals(await reading, [[55, 6_000_000]]);
    assertEquals(ended, ["writes", "read"]);
  });
});

Deno.test("a transaction that reads a database at rest keeps no writer out, and sees what it saw at first", async () => {
  await withResting(async (world) => {
    const { tenant } = world;
    await lookUpAtRest(world);
    const { schemaVersion } = await tenant.database.inspect([]);
    const transaction = tenant.database.begin({ mode: "readonly", tokenId: "tok_1" });
    const sum = async () => {
      const outcome = await transaction.run(tenantCall(schemaVersion, "read", [["SELECT sum(v) FROM t"]]));
      assert(outcome.ok === true, JSON.stringify(outcome));
      return outcome.results[0]?.json;
    };
    const before = await sum();
    await write(tenant, "UPDATE t SET v = 100 WHERE id = 1");
    assertEquals(await sum(), before);
    assertEquals(await transaction.commit(), null);
    assertEquals(await tenant.rows("SELECT sum(v) FROM t"), [[154]]);
  });
});

/** Looks up for as long as the work lasts, so that the service has no time to write rows of its log, which would wake the file. */
async function besideLookUps(tenant: Tenant, work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const beside = (async () => {
    while (!isOver) {
      assertEquals(await tenant.rows(BY_KEY, [3]), [[3]]);
      await pause(5);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await beside;
  }
}

for (const mode of ["readonly", "deferred"] as const) {
  Deno.test(`look-ups that come behind a BEGIN (${mode}) in a database at rest keep nobody out`, async () => {
    await withResting(async ({ tenant, folder, rest }) => {
      await learn(tenant);
      await rest();
      const { schemaVersion } = await tenant.database.inspect([]);
      const transaction = tenant.database.begin({ mode, tokenId: "tok_1" });
      await learn(tenant);
      assert(!await hasLog(folder, tenant));
      await besideLookUps(tenant, async () => {
        const outcome = await transaction.run(tenantCall(schemaVersion, "read", [["SELECT sum(v) FROM t"]]));
        assertEquals(outcome.ok, true, JSON.stringify(outcome));
        await write(tenant, "UPDATE t SET v = 100 WHERE id = 1");
      });
      await transaction.rollback();
    });
  });
}

Deno.test("a merge gives a branch at rest its log while others look up there, so that it keeps nobody out", async () => {
  await withResting(async ({ folder, store, tenant, rest }) => {
    const branch = Tenant.at(store, newId("db", systemClock.now()));
    const handle = { databaseId: branch.id, namespaceId: "ns_1" };
    await store.branches.make(handle, tenant.id);
    await write(branch, "UPDATE t SET v = 40 WHERE id = 4");
    await learn(branch);
    await rest(branch);
    await learn(branch);
    assert(!await hasLog(folder, branch));
    await besideLookUps(branch, async () => {
      const trunk = { databaseId: tenant.id, namespaceId: "ns_1" };
      const { outcome } = await store.branches.merge(trunk, mergeOf(tenant, branch.id));
      assertEquals(outcome, "merged");
      assert(await hasLog(folder, branch));
    });
    assertEquals(await tenant.rows(BY_KEY, [4]), [[40]]);
  });
});

Deno.test("children that are killed while they give databases their logs lose nothing that was answered", async () => {
  await withResting(async ({ folder, tenant, rest }) => {
    let sum = 55;
    for (let round = 0; round < 8; round++) {
      const writing = tenant.run("write", [["UPDATE t SET v = v + 1 WHERE id = 2"]]);
      await pause(Math.random() * 4);
      await killChildren(folder);
      const outcome = await writing.catch(() => null);
      const [[now] = []] = await tenant.rows("SELECT sum(v) FROM t");
      assert(now === sum + 1 || (outcome?.ok !== true && now === sum), `${now} after ${sum}`);
      sum = Number(now);
      assertEquals(await tenant.rows("PRAGMA integrity_check"), [["ok"]]);
      await write(tenant, "UPDATE t SET v = v WHERE id = 2");
      await rest();
    }
  });
});

Deno.test("what is answered while databases come to rest, are woken and lose their children is there once, and nothing else", async () => {
  const clock = new TurnableClock();
  await withLocalStore(async (store, folder) => {
    const schema = [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)",
      "CREATE TABLE done (n INTEGER UNIQUE)",
    ];
    const tenants = await Promise.all(Array.from({ length: 6 }, () => Tenant.create(store, schema)));
    for (const tenant of tenants) await write(tenant, "INSERT INTO t VALUES (1, 0)");
    const answered = tenants.map((): number[] => []);
    const doubted = tenants.map((): number[] => []);
    let next = 0;
    let rested = 0;
    let reads: "by key" | "any" = "any";
    const task = store.task.bind(store);
    store.task = async (...asked) => {
      const frame = await task(...asked);
      if (frame.reply.t === "rested" && frame.reply.rests) rested++;
      return frame;
    };
    const call = async (at: number, tenant: Tenant) => {
      const which = Math.random();
      // Of some rounds all reads are look-ups, which leave a database at rest until it is written.
      if (which < 0.4 || (reads === "by key" && which < 0.7)) {
        const before = answered[at]?.length ?? 0;
        const [[v] = []] = await tenant.rows(BY_KEY, [1]);
        assert(Number(v) >= before, `${v}, and ${before} writes were answered`);
      } else if (which < 0.6) await tenant.rows("SELECT count(*), max(n) FROM done");
      else if (which < 0.7) {
        const { schemaVersion } = await tenant.database.inspect([]);
        const transaction = tenant.database.begin({ mode: "readonly", tokenId: "tok_1" });
        const sums = [["SELECT v FROM t"], ["SELECT count(*) FROM done"]] as const;
        const outcome = await transaction.run(tenantCall(schemaVersion, "read", sums));
        if (outcome.ok === true) {
          const [v, count] = outcome.results.map(({ json }) => /\[\[(\d+)/.exec(json)?.[1]);
          assertEquals(v, count);
        }
        await transaction.rollback().catch(() => {});
      } else {
        const n = next++;
        const statements = [["UPDATE t SET v = v + 1"], ["INSERT INTO done VALUES (?)", n]] as const;
        const outcome = await tenant.run("write", statements).catch(() => null);
        if (outcome?.ok === true) answered[at]?.push(n);
        else doubted[at]?.push(n);
      }
    };
    // A child that is killed fails what it runs.
    const burst = () =>
      tenants.flatMap((tenant, at) =>
        Array.from({ length: 6 }, async () => {
          await pause(Math.random() * 40);
          await call(at, tenant).catch((error) => {
            if (!(error instanceof AppError)) throw error;
          });
        })
      );
    for (let round = 0; round < rounds(12, 150) || rested < 10; round++) {
      assert(round < 500, `${rested} times at rest`);
      reads = round % 2 === 0 ? "by key" : "any";
      const calls = burst();
      if (round % 3 === 2) await pause(Math.random() * 40).then(() => killChildren(folder));
      await Promise.all(calls);
      // Most are open in several children by now, and would not come to rest.
      if (round % 3 === 0) await killChildren(folder);
      clock.turn(REST_MS);
      // Of some rounds all come to rest, of others a few or none.
      const before = rested;
      await pause(Math.random() * 600);
      // A busy machine takes longer to put the first one to rest.
      for (let waited = 0; round % 3 === 0 && rested === before && waited < 500; waited++) await pause(20);
    }
    for (const [at, tenant] of tenants.entries()) {
      const there = new Set((await tenant.rows("SELECT n FROM done")).map(([n]) => Number(n)));
      for (const n of answered[at] ?? []) assert(there.delete(n), `${n} is lost`);
      for (const n of there) assert(doubted[at]?.includes(n), `nobody wrote ${n}`);
      assertEquals(await tenant.rows("SELECT v - (SELECT count(*) FROM done) FROM t"), [[0]]);
      assertEquals(await tenant.rows("PRAGMA integrity_check"), [["ok"]]);
    }
  }, { clock, lookupBytes: 0 });
});
