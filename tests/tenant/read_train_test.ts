// Reads of several databases that one engine child is sent together: what one of them does to the others.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { silentLog } from "../../lib/core/log.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import type { SqlParameter } from "../../lib/sql/words/sql_value.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { TenantStore } from "../../lib/tenant/tenant_store.ts";
import { engineChildren } from "../testing/engine_children.ts";
import { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import { closeInAll, type LaneFlight, newFlight, newSlot } from "../../lib/tenant/local/pool/child_slot.ts";
import { makesWay } from "../../lib/tenant/local/pool/gives_way.ts";
import type { CallJob } from "../../lib/tenant/local/lanes/jobs.ts";
import type { ChildReport } from "../../lib/tenant/local/pool/progress_files.ts";
import { groupsAtOnce, joinTrain, leaveTrain } from "../../lib/tenant/local/pool/read_train.ts";
import { rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { ENDLESS } from "../testing/endless.ts";

/** More than one train takes. */
const DATABASES = 24;
const LONG_COUNT = 1_000_000;
const LONG = ENDLESS.replace("FROM c)", `FROM c WHERE i < ${LONG_COUNT})`);
/** More than any read here takes on the busiest machine: none ends by it. */
const TIMEOUT_MS = 60_000;
const LOGGED = "SELECT count(*) FROM _service_meta_query_log WHERE sql = 'SELECT ?'";

interface World {
  readonly store: TenantStore;
  readonly tenants: readonly Tenant[];
  /** A call by itself: to look for the version of the schema first would be a call of another kind. */
  ask(tenant: Tenant, sql: string, params?: readonly SqlParameter[]): Promise<unknown>;
  /** A read that ends when its caller leaves, and no sooner. */
  askEndless(tenant: Tenant): EndlessRead;
  children(): Promise<readonly number[]>;
}

interface EndlessRead {
  hasEnded(): boolean;
  /** Resolves when the read has ended for it. */
  leave(): Promise<void>;
}

/** All databases are at home in the same child, because they were first asked one after the other. */
async function withDatabases(work: (world: World) => Promise<void>): Promise<void> {
  const dataDirectory = await Deno.makeTempDir({ prefix: "cubby_train_" });
  const store = await createLocalStore({
    ...{ dataDirectory, queryTimeoutMs: TIMEOUT_MS, logDays: 30, snapshotDays: 7, clock: systemClock },
    ...{ log: silentLog, engineEnvironment: configFromEnvironment().engineEnvironment },
  });
  try {
    const tenants: Tenant[] = [];
    const versions = new Map<Tenant, number>();
    for (let at = 0; at < DATABASES; at++) {
      const tenant = await Tenant.create(store, ["CREATE TABLE t (n INTEGER)"]);
      versions.set(tenant, (await tenant.database.inspect([])).schemaVersion);
      tenants.push(tenant);
    }
    const run = (
      tenant: Tenant,
      sql: string,
      params: readonly SqlParameter[],
      signal: AbortSignal | null,
    ) => {
      const call = tenantCall(versions.get(tenant) ?? 0, "read", [[sql, ...params]]);
      return tenant.database.run({ ...call, log: call.log && { ...call.log, sql }, signal: () => signal });
    };
    const ask: World["ask"] = async (tenant, sql, params = []) => {
      const outcome = await run(tenant, sql, params, null);
      return outcome.ok === true ? rowsOf(outcome) : outcome.ok === false ? outcome.failure.kind : outcome;
    };
    const askEndless: World["askEndless"] = (tenant) => {
      const gone = new AbortController();
      let ended = false;
      const running = run(tenant, ENDLESS, [], gone.signal).finally(() => ended = true);
      running.catch(() => {}); // told to whoever leaves
      const leave = async () => {
        gone.abort();
        const left = await running.catch((error) => error instanceof AppError ? error.code : error);
        assertEquals(left, "store_unavailable");
      };
      return { hasEnded: () => ended, leave };
    };
    await work({ store, tenants, ask, askEndless, children: () => engineChildren(dataDirectory) });
  } finally {
    await store.close();
    await Deno.remove(dataDirectory, { recursive: true });
  }
}

Deno.test("reads that were sent behind one that lasts are answered before it ends, and logged once", async () => {
  await withDatabases(async ({ tenants, ask, askEndless }) => {
    // Each begins one and answers how it ends. The child is ended for the endless one; behind the other it goes on with
    // reads that have been answered meanwhile.
    const endless = (tenant: Tenant) => {
      const read = askEndless(tenant);
      return async () => {
        assert(!read.hasEnded(), "the others waited for the read that never ends");
        await read.leave();
      };
    };
    const long = (tenant: Tenant) => {
      const read = ask(tenant, LONG);
      return async () => assertEquals(await read, [[LONG_COUNT]]);
    };
    const slowOnes = [[3, endless], [0, long]] as const;
    for (const [place, begin] of slowOnes) {
      let end = async () => {};
      const asked = tenants.flatMap((tenant, at) => {
        if (at !== place) return [ask(tenant, "SELECT ?", [at])];
        end = begin(tenant);
        return [];
      });
      assertEquals(
        await Promise.all(asked),
        tenants.keys().toArray().toSpliced(place, 1).map((at) => [[at]]),
      );
      await end();
    }
    for (const [at, tenant] of tenants.entries()) {
      const expected = slowOnes.filter(([place]) => place !== at).length;
      assertEquals(await tenant.rows(LOGGED, [], { readsLog: true }), [[expected]]);
    }
  });
});

Deno.test("reads that are on their way to a child that is killed are answered all the same", async () => {
  await withDatabases(async ({ tenants, ask, children }) => {
    for (let round = 0; round < 6; round++) {
      const pids = await children();
      const expected = [0, 100].flatMap((more) => tenants.map((_, at) => [[at + more]]));
      const asked = expected.map(([row], at) => {
        const tenant = tenants[at % DATABASES];
        assert(tenant && row);
        return ask(tenant, "SELECT ?", row);
      });
      await new Promise((resolve) => setTimeout(resolve, round % 3));
      for (const pid of pids) Deno.kill(pid, "SIGKILL");
      assertEquals(await Promise.all(asked), expected);
    }
  });
});

Deno.test("databases are asked about their schema while a read of another one never ends, and while children are killed", async () => {
  await withDatabases(async ({ tenants, ask, askEndless, children }) => {
    const [slow, ...others] = tenants;
    assert(slow);
    const inspected = () =>
      Promise.all(others.map(async ({ database }) => {
        const { failure, facts } = await database.inspect([{ sql: "SELECT n FROM t", changesSchema: false }]);
        return [failure, facts.length];
      }));
    const expected = others.map(() => [null, 1]);
    const endless = askEndless(slow);
    assertEquals(await inspected(), expected);
    assert(!endless.hasEnded(), "the others waited for the read that never ends");
    await endless.leave();
    for (let round = 0; round < 6; round++) {
      const pids = await children();
      const asked = Promise.all(others.map((tenant, at) => ask(tenant, "SELECT ?", [at])));
      const told = inspected();
      await new Promise((resolve) => setTimeout(resolve, round % 3));
      for (const pid of pids) Deno.kill(pid, "SIGKILL");
      assertEquals(await told, expected);
      assertEquals(await asked, others.keys().map((at) => [[at]]).toArray());
    }
  });
});

Deno.test("databases are read while a statement of another one takes long to compile", async () => {
  await withDatabases(async ({ tenants, ask }) => {
    const [slow, ...others] = tenants;
    assert(slow);
    // Each takes twice as long as the one before.
    const views = Array.from(
      { length: 30 },
      (_, at) =>
        `CREATE VIEW v${at + 1} AS SELECT * FROM ${["t", `v${at}`][Math.sign(at)]} UNION ALL ` +
        `SELECT * FROM ${["t", `v${at}`][Math.sign(at)]}`,
    );
    for (const view of views) await slow.run("schema", [[view]]);
    let hasEnded = false;
    const compiling = slow.database.inspect([{ sql: "SELECT * FROM v30", changesSchema: false }])
      .then(({ failure }) => failure?.kind, (error) => error instanceof AppError ? error.code : error)
      .finally(() => hasEnded = true);
    const asked = await Promise.all(others.map((tenant, at) => ask(tenant, "SELECT ?", [at])));
    assertEquals(asked, others.keys().map((at) => [[at]]).toArray());
    assert(!hasEnded, "the others waited for the statement that is compiled");
    assert(["too_big", "timeout", "database_busy"].includes(await compiling));
  });
});

Deno.test("a write has its turn beside reads of other databases that never pause", async () => {
  await withDatabases(async ({ tenants, ask }) => {
    const [written] = tenants;
    assert(written);
    let writes = 0;
    let reads = 0;
    const reading = tenants.slice(1).map(async (tenant, at) => {
      // Far more reads than a write has to wait for.
      for (; writes < 10 && reads < 100_000; reads++) {
        assertEquals(await ask(tenant, "SELECT ?", [at]), [[at]]);
      }
    });
    for (; writes < 10; writes++) {
      const { ok } = await written.run("write", [["INSERT INTO t VALUES (?)", writes]]);
      assertEquals(ok, true);
      assert(reads < 100_000, "the write waited for all reads");
    }
    await Promise.all(reading);
    assertEquals(await written.rows("SELECT count(*) FROM t"), [[10]]);
  });
});

Deno.test("a database is restored and deleted while reads behind an endless one were taken back from its child", async () => {
  await withDatabases(async ({ store, tenants, ask, askEndless }) => {
    const [slow, restored, deleted] = tenants;
    assert(slow && restored && deleted);
    await restored.run("write", [["INSERT INTO t VALUES (1)"]]);
    await restored.database.takeSnapshot("before");
    await restored.run("write", [["INSERT INTO t VALUES (2)"]]);
    const endless = askEndless(slow);
    const others = [restored, deleted].map((tenant) => ask(tenant, "SELECT count(*) FROM t"));
    assertEquals(await Promise.all(others), [[[2]], [[0]]]);
    await store.drop(deleted.id);
    // Ends when the child that runs the endless one has closed the file.
    const restoring = restored.database.restore("before", { undoLabel: "undo" });
    assert(!endless.hasEnded());
    await endless.leave();
    await restoring;
    assertEquals(await restored.rows("SELECT n FROM t"), [[1]]);
  });
});

Deno.test("of two groups of a database that are under way, each call is answered once, whatever happens to the first one", async () => {
  await withDatabases(async ({ tenants: [tenant], ask, askEndless, children }) => {
    assert(tenant);
    // With more of them, which are so quick, all would travel in one group.
    const numbers = Array.from({ length: 10 }, (_, at) => at);
    const several = () => numbers.map((at) => ask(tenant, "SELECT ?", [at]));
    const expected = numbers.map((at) => [[at]]);
    // By then its child has worked for nobody else for long enough.
    for (const untilMs = Date.now() + 150; Date.now() < untilMs;) await Promise.all(several());
    const endless = askEndless(tenant);
    assertEquals(await Promise.all(several()), expected);
    assert(!endless.hasEnded());
    await endless.leave();
    for (const untilMs = Date.now() + 150; Date.now() < untilMs;) await Promise.all(several());
    const long = ask(tenant, LONG);
    const asked = several();
    for (const pid of await children()) Deno.kill(pid, "SIGKILL");
    assertEquals(await Promise.all(asked), expected);
    assertEquals(await long, [[LONG_COUNT]]);
  });
});

Deno.test("a database is closed in the children that were sent work for it, also as the branch of a merge", () => {
  const sent: unknown[] = [];
  const slots = [1, 2].map((number) =>
    newSlot({ send: (request: unknown) => sent.push({ number, request }) } as never, number, 0)
  );
  const [merging, reading] = slots;
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const flight = (work: Parameters<typeof newFlight>[0]["work"]) =>
    newFlight({ lanes, work, frame: 1, slow: null, startedMs: 0 });
  const job = { request: { op: "merge", db: "db_1", branch: "db_2" } } as never;
  const merge = flight({ kind: "task", job, lane: "write" });
  const read = flight({ kind: "read", jobs: [], logRows: [] });
  if (!merging || !reading) throw new TypeError("two slots were made");
  joinTrain(merging, merge);
  joinTrain(reading, read);
  leaveTrain(merging, merge, 1);
  // While it runs, nobody waits for what it has nothing to do with.
  void closeInAll({ slots, onBusy() {} }, "db_2", 2);
  assertEquals(sent, [{ number: 1, request: { op: "close", db: "db_2" } }]);
  leaveTrain(reading, read, 3);
  void closeInAll({ slots, onBusy() {} }, "db_1", 4);
  assertEquals(sent.slice(1), [{ number: 2, request: { op: "close", db: "db_1" } }]);
  assertEquals(slots.map(({ toClose }) => toClose.map(({ databaseId }) => databaseId)), [["db_2", "db_1"], [
    "db_1",
  ]]);
});

Deno.test("a child that has worked for more databases than are told apart is asked to close any", () => {
  const sent: unknown[] = [];
  const slot = newSlot({ send: (request: unknown) => sent.push(request) } as never, 1, 0);
  const close = () => void closeInAll({ slots: [slot], onBusy() {} }, "db_other", 0);
  const read = { kind: "read", jobs: [], logRows: [] } as const;
  for (let at = 0; at <= 20_000; at++) {
    if (at === 20_000) close();
    const lanes = { databaseId: `db_${at}` } as DatabaseLanes;
    const flight = newFlight({ lanes, work: { ...read, jobs: [] }, frame: 1, slow: null, startedMs: 0 });
    joinTrain(slot, flight);
    leaveTrain(slot, flight, 0);
  }
  assertEquals(sent, []);
  close();
  assertEquals(sent, [{ op: "close", db: "db_other" }]);
});

Deno.test("a statement makes way for whoever waits for a second to replace a file, and not again when it has begun anew", () => {
  const job = {} as CallJob;
  const flight = (work: unknown) => ({ work }) as LaneFlight;
  const report = { progress: { call: 0, statement: 0 } } as ChildReport;
  const toClose = [{ databaseId: "db_1", sinceMs: 5000, closed: () => {} }];
  const reading = flight({ kind: "read", jobs: [job] });
  assert(!makesWay({ toClose: [] }, reading, report, 9000));
  assert(!makesWay({ toClose }, reading, report, 5999));
  assert(!makesWay({ toClose }, reading, null, 6000));
  assert(!makesWay({ toClose }, flight({ kind: "task" }), report, 6000));
  assert(makesWay({ toClose }, reading, report, 6000));
  assert(!makesWay({ toClose }, flight({ kind: "write", jobs: [job] }), report, 9000));
});

Deno.test("two groups of a database are under way at once only where it has its child for itself", () => {
  const slot = newSlot({} as never, 1, 0);
  const [one, other] = [new DatabaseLanes("db_1", "ns_1"), new DatabaseLanes("db_2", "ns_2")];
  const groups = (nowMs: number, waiting: readonly DatabaseLanes[] = [one]) =>
    groupsAtOnce(slot, one, { waiting: new Set(waiting), nowMs });
  const run = (lanes: DatabaseLanes, startedMs: number) => {
    const work = { kind: "read", jobs: [], logRows: [] } as const;
    joinTrain(slot, newFlight({ lanes, work: { ...work, jobs: [] }, frame: 1, slow: null, startedMs }));
  };
  assertEquals([groups(1000), groupsAtOnce(undefined, one, { waiting: new Set(), nowMs: 1000 })], [1, 1]);
  run(one, 1000);
  run(one, 1050);
  assertEquals([groups(1099), groups(1100), groups(1100, []), groups(1100, [one, other])], [1, 2, 2, 1]);
  assertEquals(groups(1100, [other]), 1);
  run(other, 1200);
  assertEquals(groups(1300), 1);
  run(one, 1300);
  assertEquals([groups(1350), groups(1400)], [1, 2]);
});
