// How transactions over several requests end without being asked: their time is up, their database changes, or their caller
// has gone. What was taken away never goes on, and nothing of it is kept.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { transactionLimits } from "../../lib/core/limits_of_transactions.ts";
import { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import { placeFor } from "../../lib/tenant/local/transactions/place_transaction.ts";
import { nextEnd } from "../../lib/tenant/local/transactions/transaction_times.ts";
import { startApp } from "../testing/start_app.ts";
import { codeOf, type TestTransaction, type TransactionWorld, worldIn } from "./transaction_world.ts";
import { ENDLESS } from "../testing/endless.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)";

const steps: Readonly<Record<string, (world: TransactionWorld) => Promise<void>>> = {
  "who has the write slot gives it up when others wait, and never writes alone after that": async (world) => {
    const { tenant, begin, rows } = world;
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    // Waits for the lease of a client that sleeps.
    await tenant.setup("INSERT INTO t VALUES (2, 'y')");
    assert(one.lost?.includes("others waited"), String(one.lost));
    for (const sql of ["INSERT INTO t VALUES (3, 'z')", "SELECT 1"]) {
      assertEquals(await one.code(sql), "transaction_timeout");
    }
    assertEquals(await codeOf(one.commit()), "transaction_timeout");
    assertEquals(await codeOf(one.savepoint("savepoint", "s")), "transaction_timeout");
    assertEquals(one.autocommit, false);
    assertEquals(await rows("SELECT id FROM t"), [[2]]);
    const log = await rows("SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE '%(1, %'");
    assertEquals(log, [[1]]);
  },

  "a transaction that waits for one that sleeps gets the slot": async ({ begin, rows }) => {
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    const two = await begin("immediate");
    await two.exec("INSERT INTO t VALUES (2, 'y')");
    await two.commit();
    assert(one.lost !== null);
    assertEquals(await rows("SELECT id FROM t"), [[2]]);
  },

  "who does nothing is ended": async ({ begin }) => {
    const silent = [await begin("immediate"), await begin("deferred"), await begin("readonly")];
    await silent[1]?.exec("SELECT 1");
    await silent[2]?.exec("SELECT 1");
    await untilLost(silent);
    assert(silent.every(({ lost }) => lost?.includes("idle")));
  },

  "who goes on for ever is ended, with a snapshot too": async ({ begin }) => {
    for (const mode of ["immediate", "readonly"] as const) {
      const one = await begin(mode);
      while (await one.code("SELECT 1") === null);
      assert(one.lost?.includes("it was open for"), String(one.lost));
    }
  },

  "a restore ends it and is not overwritten": async ({ app, tenant, begin, rows }) => {
    const { path } = tenant.database;
    await tenant.setup("INSERT INTO t VALUES (1, 'x')");
    const taken = await app.request("POST", `${path}/snapshots`, {
      token: tenant.token,
      body: { label: "before" },
    });
    assertEquals(taken.status, 201, taken.text);
    await tenant.setup("INSERT INTO t VALUES (2, 'y')");
    const writing = await begin("immediate");
    await writing.exec("INSERT INTO t VALUES (3, 'z')");
    const reading = await begin("readonly");
    await reading.exec("SELECT * FROM t");
    const restored = await app.request("POST", `${path}/restore`, {
      token: tenant.token,
      body: { snapshot: "before" },
    });
    assertEquals(restored.status, 200, restored.text);
    for (const one of [writing, reading]) {
      assert(one.lost !== null);
      assertEquals(await codeOf(one.commit()), "transaction_timeout");
    }
    assertEquals(await rows("SELECT id FROM t"), [[1]]);
  },

  "a merge into its database ends it": async ({ app, tenant, begin, rows }) => {
    const { path } = tenant.database;
    const claimed = await app.request("POST", `${path}/claim_branch`, {
      token: tenant.token,
      body: { purpose: "test", ref: "b" },
    });
    assertEquals(claimed.status, 201, claimed.text);
    const written = await app.request("POST", `${path}@b/query`, {
      token: tenant.token,
      body: { sql: "INSERT INTO t VALUES (5, 'b')" },
    });
    assertEquals(written.status, 200, written.text);
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (6, 'x')");
    const merged = await app.request("POST", `${path}/branches/b/merge`, {
      token: tenant.token,
      body: { mode: "data", onConflict: "abort" },
    });
    assertEquals(merged.status, 200, merged.text);
    assertEquals(await codeOf(one.commit()), "transaction_timeout");
    assertEquals(await rows("SELECT id FROM t"), [[5]]);
  },

  "a deletion of the database ends it": async ({ app, tenant, begin }) => {
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    await app.deps.query.tenants.drop(tenant.database.id);
    assertEquals(await one.code("SELECT 1"), "transaction_timeout");
  },

  "a caller who has gone holds nobody up, and his statement ends": async ({ tenant, begin, rows }) => {
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    one.abandon();
    await tenant.setup("INSERT INTO t VALUES (2, 'y')");
    const leaving = new AbortController();
    const two = await begin("immediate");
    await two.exec("INSERT INTO t VALUES (3, 'z')");
    const running = codeOf(two.exec(ENDLESS, [], { signal: () => leaving.signal }));
    setTimeout(() => leaving.abort(), 20);
    assertEquals(await running, "transaction_timeout");
    await tenant.setup("INSERT INTO t VALUES (4, 'w')");
    assertEquals(await rows("SELECT id FROM t"), [[2], [4]]);
  },

  "a statement of a caller who has gone before it begins does not begin": async ({ tenant, begin, rows }) => {
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    assertEquals(await one.code(ENDLESS, { signal: () => AbortSignal.abort() }), "transaction_timeout");
    await tenant.setup("INSERT INTO t VALUES (2, 'y')");
    assertEquals(await rows("SELECT id FROM t"), [[2]]);
  },

  "who waits for the slot and has gone does not get it": async ({ tenant, begin, rows }) => {
    const one = await begin("immediate");
    await one.exec("INSERT INTO t VALUES (1, 'x')");
    const two = await begin("immediate");
    const waiting = codeOf(two.exec("INSERT INTO t VALUES (2, 'y')"));
    two.abandon();
    assertEquals(await waiting, "transaction_timeout");
    await one.commit();
    await tenant.setup("INSERT INTO t VALUES (3, 'z')");
    assertEquals(await rows("SELECT id FROM t"), [[1], [3]]);
  },

  "a database has so many open, and gets room again": async ({ tenant, begin }) => {
    const open: TestTransaction[] = [];
    for (let n = 0; n < transactionLimits.mostOfDatabase; n++) open.push(await begin("readonly"));
    assertEquals(await codeOf(begin("readonly")), "transaction_limit");
    await open[0]?.rollback();
    open.push(await begin("readonly"));
    assertEquals(await open[1]?.rows("SELECT 1"), [[1]]);
    await open[1]?.commit();
    open.push(await begin("readonly"));
    for (const one of open.slice(2)) one.abandon();
    assertEquals((await tenant.query("SELECT 1")).status, 200);
  },
};

Deno.test("the end of transactions that nobody has ended", async (t) => {
  await using app = await startApp({
    transactions: { leaseMs: 250, idleMs: 500, longestMs: 1000, waitMs: 100 },
  });
  for (const [at, [name, step]] of Object.entries(steps).entries()) {
    const world = await worldIn(app, `acme-${at}`);
    await world.tenant.setup(T);
    await t.step({ name, fn: () => step(world), sanitizeOps: false, sanitizeResources: false });
  }
});

Deno.test("whoever has gone waits for no turn, and one namespace leaves others room to wait", async () => {
  await using app = await startApp({
    transactions: { waitMs: 1000, mostWaiting: 6, mostWaitingOfNamespace: 3 },
  });
  const full = async ({ begin }: TransactionWorld) =>
    await Promise.all(Array.from({ length: transactionLimits.mostOfDatabase }, () => begin()));
  const [one, two] = [await worldIn(app, "one"), await worldIn(app, "two")];
  const [openOfOne, openOfTwo] = [await full(one), await full(two)];
  const leaving = new AbortController();
  const left = codeOf(one.begin("deferred", { signal: leaving.signal }));
  const many = Array.from({ length: 8 }, () => one.begin().then((begun) => openOfOne.push(begun)));
  const outcomes = Promise.allSettled(many);
  const next = two.begin();
  leaving.abort();
  await openOfTwo[0]?.rollback();
  openOfTwo.push(await next);
  // Of three places to wait the first was that of who has gone.
  for (const open of openOfOne.splice(0, 2)) await open.rollback();
  assertEquals(await left, "transaction_limit");
  assertEquals((await outcomes).filter(({ status }) => status === "fulfilled").length, 2);
  for (const open of [...openOfOne, ...openOfTwo]) open.abandon();
});

Deno.test("a token has so many open in all databases together", async () => {
  await using app = await startApp();
  const tokenId = "tok_1";
  const tenants = app.deps.query.tenants;
  const open = [];
  for (let n = 0; n < transactionLimits.mostOfToken; n++) {
    open.push(
      tenants.open({ databaseId: `db_${n}`, namespaceId: "ns_1" }).begin({ mode: "deferred", tokenId }),
    );
  }
  const more = (who: string) =>
    codeOf(
      (async () =>
        await tenants.open({ databaseId: "db_x", namespaceId: "ns_1" }).begin({
          mode: "deferred",
          tokenId: who,
        }).rollback())(),
    );
  assertEquals([await more(tokenId), await more("tok_2")], ["transaction_limit", null]);
  await open[0]?.rollback();
  assertEquals(await more(tokenId), null);
  for (const one of open) one.abandon();
});

Deno.test("the time of a transaction is up first where it disturbs others", () => {
  const limits = { ...transactionLimits, leaseMs: 5, longestMs: 30, idleMs: 10 };
  const at = (times: Partial<Parameters<typeof nextEnd>[0]>, others = false) =>
    nextEnd({ lastMs: 100, begunMs: null, leasedMs: null, ...times }, limits, others).atMs;
  assertEquals(at({}), 110);
  assertEquals(at({ begunMs: 70 }), 100);
  assertEquals(at({ begunMs: 70, leasedMs: 99 }), 110);
  assertEquals(at({ begunMs: 70, leasedMs: 99 }, true), 104);
  assertEquals(at({ begunMs: 90 }, true), 110);
});

Deno.test("transactions share a child only where there are more of them than children", () => {
  type Place = { seats: Map<number, string>; killed: null };
  const places: Place[] = [];
  const start = () => {
    const place: Place = { seats: new Map(), killed: null };
    places.push(place);
    return place;
  };
  let number = 0;
  const take = (namespaceId: string) => {
    const place = placeFor(places, namespaceId, { maxPlaces: 4, maxSeats: 3, start });
    place?.seats.set(++number, namespaceId);
    return place === null ? null : places.indexOf(place);
  };
  assertEquals([take("a"), take("a"), take("a"), take("a")], [0, 1, 0, 1]);
  assertEquals([take("b"), take("c")], [2, 3]);
  assertEquals([take("b"), take("c")], [2, 3]);
  assertEquals([take("a"), take("a"), take("a"), take("a"), take("a")], [0, 1, 2, 3, null]);
});

Deno.test("the write slot goes round in the order of those who wait for it", () => {
  const lanes = new DatabaseLanes("db_1", "ns_1");
  const said: string[] = [];
  const job = (name: string) => ({
    resolve: () => void said.push(`${name} has it`),
    reject: () => void said.push(`${name} refused`),
    writerWaits: () => void said.push(`others wait for ${name}`),
  });
  const [one, two] = [job("one"), job("two")];
  lanes.addLease(one);
  lanes.grantLease();
  assertEquals([lanes.writeSlotFree, lanes.startable(0, 0)], [false, null]);
  lanes.addTask(
    { request: { op: "sweep" }, resolve: () => {}, reject: () => {}, queuedMs: 0, crashes: 0 },
    "write",
  );
  lanes.addLease(two);
  lanes.writes.lease = null;
  lanes.grantLease();
  assertEquals(lanes.startable(0, 0), "write");
  assertEquals(lanes.takeWork(0, 0)?.kind, "task");
  lanes.held = true;
  lanes.grantLease();
  lanes.held = false;
  lanes.grantLease();
  assertEquals(said, ["one has it", "others wait for one", "others wait for one", "two has it"]);
  lanes.rejectWaiting(new Error("gone"));
  assertEquals(said.length, 4);
});

async function untilLost(some: readonly TestTransaction[]): Promise<void> {
  while (some.some(({ lost }) => lost === null)) await pause(5);
}
