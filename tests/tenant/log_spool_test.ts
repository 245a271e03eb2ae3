// Log rows of reads on their way into their tables: what a process leaves in the spool at its end is in the log once, and
// nothing keeps the spool's files for ever.
import type { DatabaseIds } from "../../lib/core/database_ids.ts";
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { silentLog } from "../../lib/core/log.ts";
import { configFromEnvironment } from "../../lib/config.ts";
import { createLocalStore } from "../../lib/tenant/local/create_local_store.ts";
import type { DatabaseHost } from "../../lib/tenant/local/database_host.ts";
import type { DatabaseLanes } from "../../lib/tenant/local/lanes/database_lanes.ts";
import type { DatabaseRequest } from "../../lib/tenant/local/child/protocol.ts";
import type { LogBuffer } from "../../lib/tenant/log/log_buffer.ts";
import type { ReplyFrame } from "../../lib/tenant/local/frames/reply_frames.ts";
import { LogFlusher } from "../../lib/tenant/local/log/log_flusher.ts";
import { LogSpool, SPOOL_BYTES } from "../../lib/tenant/local/log/log_spool.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import type { SpooledRows } from "../../lib/tenant/local/log/spool_lines.ts";
import type { LogValue, LogValues } from "../../lib/tenant/log_columns.ts";
import { rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

const T = "CREATE TABLE t (a)";

function queryRow(databaseId: string, sql: string): LogValues {
  const ts = systemClock.now();
  const figures = ["ok", null, 1, 0, 0.1, 1];
  return [newId("qry", ts), ts, "ns_1", databaseId, "tok_1", null, "query", ...figures, sql];
}

function refusal(id: string, count: number): LogValues {
  return [id, 1, "join", "error", 403, 0, 0, 0, null, null, "policy_denied", null, count];
}

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_spool_" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function withStore(
  dataDirectory: string,
  body: (store: LocalStore) => Promise<void>,
  logBytes = 1 << 26,
): Promise<void> {
  const store = await createLocalStore({
    logBytes,
    ...{ dataDirectory, queryTimeoutMs: 20_000, logDays: 30, snapshotDays: 7, clock: systemClock },
    ...{ log: silentLog, engineEnvironment: configFromEnvironment().engineEnvironment },
  });
  try {
    await body(store);
  } finally {
    await store.close();
  }
}

async function names(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

/** Bytes of its files; one that is removed at this moment has none. */
async function bytesIn(folder: string): Promise<number> {
  const sizes = (await names(folder)).map(async (name) => {
    try {
      return (await Deno.stat(`${folder}/${name}`)).size;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** What a process that starts finds in the spool. */
async function leftIn(folder: string): Promise<SpooledRows[]> {
  const spool = await LogSpool.open(folder);
  const left = await Array.fromAsync(spool.readLeft());
  await spool.close();
  return left;
}

Deno.test("rows that an ended process left in the spool are in the log once, also when they were in the table before", async () => {
  await withFolder(async (dataDirectory) => {
    let id = "";
    await withStore(dataDirectory, async (store) => {
      id = (await Tenant.create(store, [T])).id;
    });
    const rows = Array.from({ length: 150 }, (_, at) => queryRow(id, `SELECT ${at}`));
    const call = newId("evt", systemClock.now());
    const deleted = newId("db", systemClock.now());
    const spool = await LogSpool.open(`${dataDirectory}/spool`);
    assert(spool.append([{ databaseId: id, namespaceId: "ns_1", rows: [...rows, refusal(call, 1)] }]));
    assert(
      spool.append([{ databaseId: deleted, namespaceId: "ns_1", rows: [queryRow(deleted, "SELECT 1")] }]),
    );
    assert(spool.append([{ databaseId: id, namespaceId: "ns_1", rows: [refusal(call, 3)] }]));
    await spool.close();
    const [file = ""] = await names(`${dataDirectory}/spool`);
    const path = `${dataDirectory}/spool/${file}`;
    // The process ended in the middle of a line.
    await Deno.writeTextFile(path, `["${id}","ns_1",["qry_`, { append: true });
    const left = await Deno.readFile(path);
    // The second process ends after the rows are in the table, and before the file is removed.
    for (let process = 0; process < 2; process++) {
      await Deno.writeFile(path, left);
      await withStore(dataDirectory, async (store) => {
        const readLog = async (sql: string) => {
          const database = store.open({ databaseId: id, namespaceId: "ns_1" });
          const { schemaVersion } = await database.inspect([]);
          const outcome = await database.run(tenantCall(schemaVersion, "read", [[sql]], { readsLog: true }));
          assert(outcome.ok === true, JSON.stringify(outcome));
          return rowsOf(outcome);
        };
        const logged = await readLog("SELECT id, sql FROM _service_meta_query_log WHERE sql LIKE 'SELECT %'");
        assertEquals(
          new Map(logged.map(([id, sql]) => [id, sql])),
          new Map(rows.map((row) => [row[0], row[13]])),
        );
        assertEquals(logged.length, rows.length);
        assertEquals(await readLog("SELECT id, count FROM _service_meta_endpoint_call"), [[call, 3]]);
      });
      assertEquals(await names(`${dataDirectory}/spool`), []);
    }
  });
});

Deno.test("while a process reads what an earlier one left, nothing of it is taken out of the spool unread", async () => {
  await withFolder(async (folder) => {
    const [one = "", other = ""] = [1, 2].map(() => newId("db", systemClock.now()));
    const before = await LogSpool.open(folder);
    const rows = (id: string) => [queryRow(id, "SELECT 'é'")];
    before.append([one, other].map((id) => ({ databaseId: id, namespaceId: "ns_1", rows: rows(id) })));
    await before.close();
    const { spool, all, host, flusher } = await slowFlusher(folder);
    host.letGo();
    // At a start nothing else is to be done.
    host.isQuiet = true;
    for (const id of [one, other]) all.set(id, flusher.newLanes(id, "ns_1"));
    const isLeft = () => leftIn(folder).then((left) => left.map(({ databaseId }) => databaseId));
    for await (const { databaseId, rows, packs, file } of spool.readLeft()) {
      for (let look = 0; look < 20; look++) {
        flusher.flushAll();
        await new Promise((resolve) => setTimeout(resolve));
      }
      assertEquals(spool.bytes, await bytesIn(folder));
      assertLanes(all, databaseId).log.adopt({ rows, packs, file });
    }
    assertEquals(await isLeft(), [one, other]);
    await until(() => {
      flusher.flushAll();
      return host.rows === 2;
    });
    assertEquals([host.rows, spool.bytes], [2, 0]);
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("a database whose log is read for ever takes no more memory for that", async () => {
  await withFolder(async (folder) => {
    const { all, host, flusher, open } = await slowFlusher(folder);
    host.letGo();
    const lanes = open();
    for (let look = 0; look < 3; look++) await flusher.flush(lanes);
    // What a promise has come to stays with it: nothing of the flushes before.
    const left: unknown = await lanes.logFlush;
    assertEquals(left, undefined);
    await flusher.close(all.values());
  });
});

Deno.test("reads are in the spool until somebody reads the log, and a stop leaves nothing there", async () => {
  await withFolder(async (dataDirectory) => {
    await withStore(dataDirectory, async (store) => {
      const tenant = await Tenant.create(store, [T]);
      for (let at = 0; at < 5; at++) await tenant.run("read", [["SELECT a FROM t"]]);
      const counted = "SELECT count(*) FROM _service_meta_query_log";
      assertEquals(await tenant.rows(counted, [], { readsLog: true }), [[6]]);
      await tenant.run("read", [["SELECT a FROM t"]]);
    });
    assertEquals(await names(`${dataDirectory}/spool`), []);
  });
});

Deno.test("a log that outgrows its bound keeps its newest rows, of reads and of writes", async () => {
  await withFolder(async (dataDirectory) => {
    await withStore(dataDirectory, async (store) => {
      const tenant = await Tenant.create(store, [T]);
      const counted = async () => {
        const [row = []] = await tenant.rows(
          "SELECT count(*), sum(rows_written > 0) FROM _service_meta_query_log",
          [],
          { readsLog: true },
        );
        return row.map(Number);
      };
      const calls = async (level: "read" | "write", sql: string, count: number) => {
        const one = () => tenant.run(level, [[sql]]);
        for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: 50 }, one));
      };
      // Room for some 1,700 rows, deleted a 128th at a time.
      await calls("write", "INSERT INTO t VALUES (1)", 3000);
      await calls("read", "SELECT a FROM t LIMIT 1", 1000);
      const [rows = 0, inserts = 0] = await counted();
      assert(rows > 1500 && rows < 2100, `${rows} rows`);
      assert(inserts > 500 && inserts < 1100, `${inserts} of writes`);
      await calls("read", "SELECT a FROM t LIMIT 1", 3000);
      await until(async () => (await counted())[1] === 0);
      const [last = 0, lastInserts] = await counted();
      assert(last > 1500 && last < 2100 && lastInserts === 0, `${last} rows, ${lastInserts} of writes`);
    }, 1 << 20);
  });
});

Deno.test("the spool is bounded, and a file of it is removed once all of its rows are in their tables", async () => {
  await withFolder(async (folder) => {
    const spool = await LogSpool.open(folder);
    const ids = Array.from({ length: 20 }, () => newId("db", systemClock.now()));
    const append = (databaseId = "") =>
      spool.append([{
        databaseId,
        namespaceId: "ns_1",
        rows: [queryRow(databaseId, "x".repeat(3_500_000))],
      }]);
    const kept = ids.filter((id) => append(id));
    assertEquals(kept.length, Math.floor(SPOOL_BYTES / 3_500_000));
    assert(spool.bytes <= SPOOL_BYTES);
    assertEquals((await names(folder)).length, kept.length);
    // In any order.
    for (const id of [...kept].reverse()) spool.settled(id);
    assertEquals(spool.bytes, 0);
    assert(append(ids[0]));
    assertEquals(spool.oldest, ids.slice(0, 1));
    await spool.close();
    const left = await leftIn(folder);
    assertEquals(left.map(({ databaseId, rows }) => [databaseId, rows.length]), [[ids[0], 1]]);
  });
});

Deno.test("a spool that cannot be written says so, and is written again when it can be", async () => {
  await withFolder(async (folder) => {
    const spool = await LogSpool.open(`${folder}`);
    const id = newId("db", systemClock.now());
    const entry = { databaseId: id, namespaceId: "ns_1", rows: [queryRow(id, "SELECT 1")] };
    await Deno.remove(folder, { recursive: true });
    assertEquals(spool.append([entry]), null);
    await Deno.mkdir(folder);
    assert(spool.append([entry]) !== null);
    await spool.close();
    assertEquals((await leftIn(folder)).length, 1);
  });
});

/** A store in which nothing else is done. */
class FakeHost implements Pick<DatabaseHost, "isQuiet" | "lanes" | "lookups" | "task"> {
  readonly lookups = null;
  isQuiet = true;
  isDamaged = true;

  constructor(readonly lanes: (database: DatabaseIds) => DatabaseLanes) {}

  task(_request: DatabaseRequest): Promise<ReplyFrame> {
    if (this.isDamaged) return Promise.reject(new AppError("database_corrupt"));
    return Promise.resolve({ reply: { t: "done" }, text: "" });
  }
}

Deno.test("rows of a database that cannot be written keep no file of the spool, and are lost neither", async () => {
  await withFolder(async (folder) => {
    const clock = new TurnableClock();
    const spool = await LogSpool.open(folder);
    const all = new Map<string, DatabaseLanes>();
    const lanes = (id: string): DatabaseLanes => {
      const known: DatabaseLanes = all.get(id) ?? flusher.newLanes(id, "ns_1");
      all.set(id, known);
      return known;
    };
    const host = new FakeHost(({ databaseId }) => lanes(databaseId));
    const flusher: LogFlusher = new LogFlusher({
      host,
      spool,
      clock,
      log: silentLog,
      logDays: 30,
      logBytes: 1 << 26,
    });
    const id = newId("db", systemClock.now());
    const { log } = lanes(id);
    for (let at = 0; at < 10; at++) {
      log.add(queryRow(id, "x".repeat(1_000_000)));
      flusher.flushAll();
      await new Promise((resolve) => setTimeout(resolve));
      await lanes(id).logFlush;
      clock.turn(10_000);
    }
    assertEquals(log.length, 10);
    assert(spool.bytes <= SPOOL_BYTES);
    // All rows stay, each at least once, and the files that had some of them are gone.
    assert((await names(folder)).length < 4, String(await names(folder)));
    assertEquals(new Set((await leftIn(folder)).flatMap(({ rows }) => rows.map(([id]) => id))).size, 10);
    host.isDamaged = false;
    await flusher.flush(lanes(id));
    assertEquals([log.length, spool.bytes], [0, 0]);
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("of many rows of a database that cannot be written, few at a time move on within the spool", async () => {
  await withFolder(async (folder) => {
    const clock = new TurnableClock();
    const spool = await LogSpool.open(folder);
    const id = newId("db", systemClock.now());
    const host = new FakeHost(() => lanes);
    const flusher = new LogFlusher({ host, spool, clock, log: silentLog, logDays: 30, logBytes: 1 << 26 });
    const lanes: DatabaseLanes = flusher.newLanes(id, "ns_1");
    for (let at = 0; at < 20_000; at++) lanes.log.add(queryRow(id, `${"x".repeat(500)}${at}`));
    const look = async () => {
      clock.turn(10_000);
      flusher.flushAll();
      await new Promise((resolve) => setTimeout(resolve));
      await lanes.logFlush;
      await new Promise((resolve) => setTimeout(resolve));
    };
    const [oldest = ""] = await names(folder);
    const append = spool.append.bind(spool);
    let [appended, most] = [0, 0];
    spool.append = (entries) => {
      appended += entries.reduce((sum, { rows }) => sum + rows.length, 0);
      return append(entries);
    };
    for (; (await names(folder)).includes(oldest); appended = 0) {
      await look();
      most = Math.max(most, appended);
    }
    assert(most > 0 && most < 1000, `${most} rows at a look`);
    assertEquals(lanes.log.length, 20_000);
    host.isDamaged = false;
    clock.turn(10_000);
    await flusher.flush(lanes);
    await flusher.close([lanes]);
    assertEquals([lanes.log.length, await names(folder)], [0, []]);
  });
});

/** Eighty databases, each with a row of half a megabyte of the same text, and a spool that has room for `packsBytes` of packs. */
async function eightyLongRows(folder: string, packsBytes?: number) {
  const clock = new TurnableClock();
  const spool = await LogSpool.open(folder, silentLog, packsBytes);
  const all = new Map<string, DatabaseLanes>();
  const host = new FakeHost(({ databaseId: id }) => all.get(id) ?? assertUnreachable(id));
  Object.assign(host, { isQuiet: false, isDamaged: false });
  const flusher = new LogFlusher({ host, spool, clock, log: silentLog, logDays: 30, logBytes: 1 << 26 });
  const rows: LogValues[] = [];
  for (let at = 0; at < 80; at++) {
    const id = newId("db", systemClock.now());
    all.set(id, flusher.newLanes(id, "ns_1"));
    const row = queryRow(id, "x".repeat(500_000));
    all.get(id)?.log.add(row);
    rows.push(row);
  }
  const look = async () => {
    flusher.flushAll();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const waiting = () => [...all.values()].filter(({ log }) => log.length > 0).length;
  const untilPacked = () =>
    until(async () => {
      await look();
      return spool.packsFullness > 0 && spool.bytes === 0;
    });
  return { clock, spool, all, host, flusher, rows, look, waiting, untilPacked };
}

Deno.test("rows that take much of the memory of all that wait are left to the disk, and the next process has them too", async () => {
  await withFolder(async (folder) => {
    const { clock, spool, all, flusher, rows, look, waiting, untilPacked } = await eightyLongRows(folder);
    await untilPacked();
    assertEquals(waiting(), 80);
    // Lines are needed no more, and a row that comes now stands in new ones.
    const [one] = all.values();
    const short = queryRow(one?.databaseId ?? "", "SELECT 1");
    rows.push(short);
    one?.log.add(short);
    await look();
    await until(async () => (await names(folder)).length === 2);
    assertEquals((await names(folder)).map((name) => name.split("-")[0]), ["log", "packs"]);
    // So it is with those that come later, while the first ones wait.
    for (const { databaseId, log } of all.values()) {
      const row = queryRow(databaseId, "y".repeat(500_000));
      rows.push(row);
      log.add(row);
    }
    clock.turn(10_000);
    const before = spool.packsFullness;
    await until(async () => {
      await look();
      return spool.packsFullness > 1.9 * before && spool.bytes === 0;
    });
    assertEquals(waiting(), 80);
    one?.log.add(queryRow(one.databaseId, "SELECT 1"));
    await flusher.close(all.values());
    const next = await LogSpool.open(folder);
    const left = await Array.fromAsync(next.readLeft());
    assertEquals(left.map(({ rows }) => rows.length).filter((count) => count > 0), [1]);
    const packs = left.flatMap(({ packs }) => packs);
    assert(
      packs.reduce((sum, { bytes }) => sum + bytes, 0) < 161 * 200,
      "packs that nobody reads take memory",
    );
    const byId = (some: readonly LogValues[]) => new Map(some.map((row) => [row[0], row]));
    assertEquals(byId(packs.flatMap((pack) => pack.rows())), byId(rows));
    for (const { databaseId } of left) next.settled(databaseId);
    await next.close();
    assertEquals(await names(folder), []);
  });
});

Deno.test("none are moved while others call, however long it takes to leave rows to the disk", async () => {
  await withFolder(async (folder) => {
    const { clock, spool, all, host, flusher, waiting, untilPacked } = await eightyLongRows(folder);
    host.isDamaged = false;
    const pack = spool.pack.bind(spool);
    spool.pack = async (write) => {
      await pack(write);
      clock.turn(10_000);
    };
    await untilPacked();
    assertEquals(waiting(), 80);
    await flusher.close(all.values());
  });
});

Deno.test("rows that come while others are left to the disk stay in the spool, also where their database was idle meanwhile", async () => {
  await withFolder(async (folder) => {
    const { spool, all, flusher, look } = await eightyLongRows(folder);
    flusher.flushAll();
    // Some are packed by now, the others wait for the next turn.
    const [one] = all.values();
    const id = one?.databaseId ?? "";
    if (one) await flusher.flush(one);
    assertEquals(one?.log.length, 0);
    const next = flusher.newLanes(id, "ns_1");
    all.set(id, next);
    const row = queryRow(id, "SELECT 1");
    next.log.add(row);
    await until(async () => {
      await look();
      return spool.packsFullness > 0 && spool.bytes < 1000;
    });
    const left = (await leftIn(folder)).filter(({ databaseId }) => databaseId === id);
    assertEquals(left.flatMap(({ rows }) => rows), [row]);
    await flusher.close(all.values());
  });
});

Deno.test("rows are left to the disk also while those of a database are being moved that is busy for long", async () => {
  await withFolder(async (folder) => {
    const { clock, spool, all, host, flusher, waiting, look } = await eightyLongRows(folder);
    const long = Promise.withResolvers<ReplyFrame>();
    host.task = () => long.promise;
    const [one] = all.values();
    if (!one) throw new Error("no database");
    // Nothing else is to be done, so that its row is moved.
    host.isQuiet = true;
    for (const lanes of all.values()) lanes.dropped = lanes !== one;
    flusher.flushAll();
    clock.turn(2000);
    await until(async () => {
      await look();
      return one.log.length === 0;
    });
    host.isQuiet = false;
    for (const lanes of all.values()) lanes.dropped = false;
    for (const { log } of all.values()) log.add(queryRow("db_1", "SELECT 1"));
    clock.turn(10_000);
    await until(async () => {
      await look();
      return spool.packsFullness > 0;
    });
    assert(spool.packsFullness > 0);
    assertEquals(waiting(), 80);
    long.resolve({ reply: { t: "done" }, text: "" });
    await look();
    await flusher.close(all.values());
  });
});

Deno.test("refused calls that take much of the memory have no file made for the few rows beside them", async () => {
  await withFolder(async (folder) => {
    const { clock, spool, all, flusher, look } = await eightyLongRows(folder);
    for (const { log } of all.values()) log.end();
    all.clear();
    for (let at = 0; at < 60; at++) {
      const id = newId("db", systemClock.now());
      const lanes = flusher.newLanes(id, "ns_1");
      all.set(id, lanes);
      lanes.log.add([...refusal(newId("evt", 1), 1).slice(0, -2), "x".repeat(500_000), 1]);
    }
    for (const { databaseId, log } of all.values()) {
      log.add(queryRow(databaseId, "SELECT 1"));
      await look();
      clock.turn(10_000);
    }
    assert(spool.linesFullness > 0);
    assertEquals((await names(folder)).filter((name) => name.startsWith("packs")), []);
    await flusher.close(all.values());
  });
});

Deno.test("rows that cannot be left to the disk are moved when they take half of the memory, and tried again later", async () => {
  await withFolder(async (folder) => {
    const { clock, spool, all, flusher, look, waiting } = await eightyLongRows(folder);
    // The name that it would have.
    await Deno.mkdir(`${folder}/packs-2.jsonl`);
    for (let turn = 0; turn < 20; turn++) await look();
    const left = waiting();
    assert(left > 50 && left < 70, `${left} of 80 rows wait`);
    // One text stands once for all of them.
    assert(spool.bytes < 2 * 500_000, `${spool.bytes} bytes`);
    assertEquals(spool.packsFullness, 0);
    clock.turn(10_000);
    await until(async () => {
      await look();
      return spool.packsFullness > 0;
    });
    assertEquals(waiting(), left);
    await Deno.remove(`${folder}/packs-2.jsonl`);
    await flusher.close(all.values());
    const ids = (await leftIn(folder)).map(({ databaseId }) => databaseId);
    assert(new Set(ids).size >= left, `${new Set(ids).size} of ${left}`);
  });
});

Deno.test("when half of the room for packs is used, those of the databases that have waited longest are moved", async () => {
  await withFolder(async (folder) => {
    const { spool, all, flusher, look, waiting } = await eightyLongRows(folder, 64_000_000);
    for (let turn = 0; turn < 60; turn++) await look();
    // The file goes as a whole, when nobody has rows in it any more.
    assertEquals([waiting(), spool.packsFullness, spool.bytes], [0, 0, 0]);
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("rows that are on the disk alone stay there while neither their tables nor the spool can be written", async () => {
  await withFolder(async (folder) => {
    const { clock, all, host, flusher, look, waiting, untilPacked } = await eightyLongRows(folder);
    await untilPacked();
    const [one] = all.values();
    one?.log.add(queryRow(one.databaseId, "SELECT 1"));
    await look();
    assertEquals((await names(folder)).length, 2);
    await Deno.rename(folder, `${folder}.away`);
    Object.assign(host, { isDamaged: true, isQuiet: true });
    // Such rows find no place in the spool's file, and no other is made.
    one?.log.add(queryRow(one.databaseId, "x".repeat(5_000_000)));
    for (let turn = 0; turn < 40; turn++) {
      clock.turn(2000);
      await look();
    }
    const inMemory = [...all.values()].filter(({ log }) => log.unspooledCount > 0);
    assertEquals([inMemory.length, waiting()], [1, 80]);
    await Deno.rename(`${folder}.away`, folder);
    host.isDamaged = false;
    await until(async () => {
      clock.turn(2000);
      await look();
      return waiting() === 0;
    });
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("packs of a file that was cut off or damaged take no others with them", async () => {
  await withFolder(async (folder) => {
    const { all, flusher, untilPacked } = await eightyLongRows(folder);
    await untilPacked();
    await flusher.close(all.values());
    const [path = ""] = (await names(folder)).filter((name) => name.startsWith("packs"));
    const bytes = await Deno.readFile(`${folder}/${path}`);
    // A record is no JSON any more, the line before another is none, and the last one has no end.
    bytes[1000] = 1;
    bytes[bytes.indexOf(10, bytes.length / 2 + 1000) + 3] = 1;
    await Deno.writeFile(`${folder}/${path}`, bytes.subarray(0, -10));
    for (const name of await names(folder)) if (name !== path) await Deno.remove(`${folder}/${name}`);
    const warned: string[] = [];
    const next = await LogSpool.open(folder, (_level, event) => warned.push(event));
    const left = await Array.fromAsync(next.readLeft());
    const rows = left.flatMap(({ packs }) => packs.flatMap((pack) => pack.rows()));
    assertEquals([left.length, rows.length, warned], [78, 77, ["log_rows_not_read"]]);
    await next.close();
  });
});

/** The same, with tasks that wait until they are let go on. */
class SlowHost extends FakeHost {
  override isQuiet = false;
  isAway = false;
  running = 0;
  /** Rows that are in their tables. */
  rows = 0;
  /** Tasks until no row is left that is too many. */
  prunings = 0;
  readonly #go = Promise.withResolvers<void>();

  override async task(request: DatabaseRequest): Promise<ReplyFrame> {
    this.running++;
    await this.#go.promise;
    if (this.isAway) throw new AppError("store_unavailable");
    if (request.op !== "log") throw new Error(request.op);
    this.rows += request.logRows.reduce((sum, { rows }) => sum + rows, 0);
    if (this.prunings > 0) this.prunings--;
    return { reply: { t: "done", left: this.prunings > 0 }, text: "" };
  }

  letGo(): void {
    this.#go.resolve();
  }
}

/** It goes on when it is turned only: no pause of a busy machine counts. */
class StandingClock extends TurnableClock {
  readonly #startMs = systemClock.monotonicMs();
  #turnedMs = 0;

  override monotonicMs(): number {
    return this.#startMs + this.#turnedMs;
  }

  override turn(ms: number): void {
    this.#turnedMs += ms;
    super.turn(ms);
  }
}

/** A flusher over that host; `open` makes a database. */
async function slowFlusher(folder: string, logBytes = 1 << 26) {
  const spool = await LogSpool.open(folder);
  const all = new Map<string, DatabaseLanes>();
  const host = new SlowHost(({ databaseId: id }) => all.get(id) ?? assertUnreachable(id));
  const clock = new StandingClock();
  const flusher = new LogFlusher({ host, spool, clock, log: silentLog, logDays: 30, logBytes });
  const open = (): DatabaseLanes => {
    const id = newId("db", systemClock.now());
    const lanes = flusher.newLanes(id, "ns_1");
    all.set(id, lanes);
    return lanes;
  };
  return { spool, all, host, flusher, clock, open };
}

Deno.test("a file of the spool that cannot be read keeps no store from its start, and what others have is in the log", async () => {
  await withFolder(async (folder) => {
    let id = "";
    await withStore(folder, async (store) => {
      id = (await Tenant.create(store, [T])).id;
    });
    const row = queryRow(id, "SELECT 1");
    const spool = await LogSpool.open(`${folder}/spool`);
    assert(spool.append([{ databaseId: id, namespaceId: "ns_1", rows: [row] }]) !== null);
    await spool.close();
    const unreadable = ["log-7.jsonl", "packs-8.jsonl"].map((name) => `${folder}/spool/${name}`);
    for (const path of unreadable) await Deno.mkdir(path);
    await withStore(folder, async (store) => {
      const database = store.open({ databaseId: id, namespaceId: "ns_1" });
      const { schemaVersion } = await database.inspect([]);
      const sql = "SELECT id FROM _service_meta_query_log WHERE sql = 'SELECT 1'";
      const outcome = await database.run(tenantCall(schemaVersion, "read", [[sql]], { readsLog: true }));
      assert(outcome.ok === true, JSON.stringify(outcome));
      assertEquals(rowsOf(outcome), [[row[0]]]);
    });
    for (const path of unreadable) assert((await Deno.stat(path)).isDirectory);
  });
});

Deno.test("many rows of one database go into the spool at once, and wait there until somebody reads them", async () => {
  await withFolder(async (folder) => {
    const { spool, all, host, flusher, open } = await slowFlusher(folder);
    const { databaseId, log } = open();
    const add = (count: number) => {
      for (let row = 0; row < count; row++) log.add(queryRow(databaseId, "SELECT 1"));
    };
    add(63);
    assertEquals([spool.bytes, log.unspooledCount], [0, 63]);
    add(1);
    assert(spool.bytes > 0);
    add(10_000);
    flusher.flushAll();
    assertEquals([host.running, log.length, log.unspooledCount], [0, 10_064, 0]);
    host.letGo();
    await flusher.flush(assertLanes(all, databaseId));
    assertEquals([log.length, spool.bytes], [0, 0]);
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("rows beyond the bound of their log never come into their table, and the spool does not keep them", async () => {
  await withFolder(async (folder) => {
    const sql = "SELECT 1 -- " + "x".repeat(2000);
    const { spool, all, host, flusher, open } = await slowFlusher(folder, 8 << 20);
    const { databaseId, log } = open();
    const newest: LogValue[] = [];
    // Half of the bound is that of the query log: some 1,800 rows, of 30,000.
    for (let at = 0; at < 30_000; at++) {
      // Each differs, so that the spool has to hold the text of each.
      const row = queryRow(databaseId, `${sql}${at}`);
      newest.push(row[0] ?? null);
      log.add(row);
      if (at % 500 === 0) flusher.flushAll();
      assert(spool.bytes < SPOOL_BYTES / 3, `${spool.bytes} bytes after ${at} rows`);
    }
    assert(log.length > 1700 && log.length < 2700, `${log.length} rows wait`);
    assertEquals(host.rows, 0);
    flusher.flushAll();
    // Files that it does not keep are removed beside the calls, however long that takes.
    await until(async () => await bytesIn(folder) === spool.bytes);
    assertEquals(await bytesIn(folder), spool.bytes);
    const left = (await leftIn(folder)).flatMap(({ rows }) => rows.map(([id]) => id));
    assertEquals(left.at(-1), newest.at(-1));
    // Those that wait are all there, for the next process.
    assertEquals(newest.slice(-log.length).filter((id) => !left.includes(id)), []);
    host.letGo();
    const waiting = log.length;
    await flusher.flush(assertLanes(all, databaseId));
    assertEquals([host.rows, log.length, spool.bytes], [waiting, 0, 0]);
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("when nothing else has been to do for a second the spool is emptied, a little at each look", async () => {
  await withFolder(async (folder) => {
    const { spool, all, host, flusher, clock, open } = await slowFlusher(folder);
    host.letGo();
    const { databaseId, log } = open();
    for (let row = 0; row < 2000; row++) log.add(queryRow(databaseId, "SELECT 1"));
    const look = async (afterMs: number) => {
      clock.turn(afterMs);
      flusher.flushAll();
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve));
      return log.length;
    };
    assertEquals(await look(5000), 2000);
    host.isQuiet = true;
    assertEquals(await look(500), 2000);
    const left = [await look(500), await look(125), await look(125), await look(125)];
    assertEquals(left, [1488, 976, 464, 0]);
    assertEquals([host.rows, spool.bytes], [2000, 0]);
    await flusher.close(all.values());
    assertEquals(await names(folder), []);
  });
});

Deno.test("a stop waits for no row that is being moved and cannot be, and the next process has it", async () => {
  await withFolder(async (folder) => {
    const { all, host, flusher, clock, open } = await slowFlusher(folder);
    const { databaseId, log } = open();
    log.add(queryRow(databaseId, "SELECT 1"));
    flusher.flushAll();
    clock.turn(2000);
    host.isQuiet = true;
    // Nobody lets the task go on, as behind a statement that has no end.
    await until(() => {
      flusher.flushAll();
      return host.running === 1;
    });
    await flusher.close(all.values());
    assertEquals((await leftIn(folder)).map(({ rows }) => rows.length), [1]);
    host.letGo();
    await assertLanes(all, databaseId).logFlush;
    assertEquals((await names(folder)).length, 1);
  });
});

Deno.test("where no row finds a place in the spool, a few databases are written at a time, each by one task", async () => {
  await withFolder(async (folder) => {
    const { all, host, flusher, open } = await slowFlusher(folder);
    await Deno.remove(folder, { recursive: true });
    const add = (log: LogBuffer, id: string, count: number) => {
      for (let row = 0; row < count; row++) log.add(queryRow(id, "SELECT 1"));
    };
    for (let count = 0; count < 40; count++) {
      const { databaseId, log } = open();
      add(log, databaseId, 63);
      assertEquals(log.length, 63);
    }
    for (const { databaseId, log } of all.values()) add(log, databaseId, 1);
    const rowsLeft = () => [...all.values()].map(({ log }) => log.length);
    assertEquals([host.running, rowsLeft().filter((rows) => rows === 0).length], [4, 4]);
    for (const { databaseId, log } of all.values()) add(log, databaseId, 600);
    assertEquals([host.running, rowsLeft().filter((rows) => rows === 600).length], [4, 4]);
    host.letGo();
    await until(() => rowsLeft().every((rows) => rows === 0));
    assertEquals([host.rows, Math.max(...rowsLeft())], [40 * 664, 0]);
    await Deno.mkdir(folder);
    await flusher.close(all.values());
  });
});

Deno.test("a store that is away takes no more rows of a database than a frame for each look", async () => {
  await withFolder(async (folder) => {
    const { all, host, flusher, open } = await slowFlusher(folder);
    await Deno.remove(folder, { recursive: true });
    host.isAway = true;
    const { databaseId, log } = open();
    for (let row = 0; row < 1000; row++) log.add(queryRow(databaseId, "SELECT 1"));
    host.letGo();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve));
    assertEquals([host.running, log.length], [1, 936]);
    log.add(queryRow(databaseId, "SELECT 1"));
    await new Promise((resolve) => setTimeout(resolve));
    assertEquals([host.running, log.length], [1, 937]);
    host.isAway = false;
    await Deno.mkdir(folder);
    flusher.flushAll();
    await flusher.flush(assertLanes(all, databaseId));
    assertEquals([host.running, log.length], [5, 0]);
    await flusher.close(all.values());
  });
});

Deno.test("a table with too many rows loses them all, however many tasks that takes, and is then left alone", async () => {
  await withFolder(async (folder) => {
    const { all, host, flusher, open } = await slowFlusher(folder, 4 << 20);
    host.letGo();
    // What an earlier process has left needs three of them.
    host.prunings = 3;
    const { databaseId, log } = open();
    const addMany = async () => {
      for (let row = 0; row < 2500; row++) log.add(queryRow(databaseId, "x".repeat(1000)));
      for (let look = 0; look < 5; look++) {
        flusher.flushAll();
        await new Promise((resolve) => setTimeout(resolve));
      }
    };
    await addMany();
    assertEquals([host.running, host.rows, host.prunings], [3, 0, 0]);
    await addMany();
    assertEquals([host.running, host.rows], [3, 0]);
    // A writing call has a row there again.
    log.note(queryRow(databaseId, "INSERT"));
    await addMany();
    assertEquals([host.running > 3, host.rows], [true, 0]);
    await flusher.close(all.values());
  });
});

function assertLanes(all: ReadonlyMap<string, DatabaseLanes>, id: string): DatabaseLanes {
  return all.get(id) ?? assertUnreachable(id);
}

/** So many looks at most, which take longer on a busy machine: what follows says what is missing. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 2000 && !await holds(); looks++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function assertUnreachable(id: string): never {
  throw new Error(`nobody has made ${id}`);
}
