// Attacks on look-ups by key, which the process that serves requests answers itself: none of them gets anything else to run
// there, reads what is not there any more, or keeps others waiting twice.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { startPermissions } from "../testing/start_permissions.ts";
import { pause } from "../../lib/core/pause.ts";
import { type Clock, systemClock } from "../../lib/core/clock.ts";
import { DIGIT_ROWS, TYPED_ROWS } from "../../lib/sql/words/row_form.ts";
import type { LookupReads } from "../../lib/engine/rows_read/lookup_reads.ts";
import type { SqlParameter } from "../../lib/sql/words/sql_value.ts";
import { DatabaseStates } from "../../lib/tenant/local/files/database_states.ts";
import type { LocalStore } from "../../lib/tenant/local/local_store.ts";
import { databasePath } from "../../lib/tenant/local/files/tenant_paths.ts";
import type { TenantOutcome } from "../../lib/tenant/tenant_store.ts";
import { rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import { withLocalStore } from "../testing/local_store.ts";
import {
  BY_CHILD,
  BY_ID,
  elsewhere,
  firstLook,
  giveSlot,
  KEY_READS,
  look,
  lookAll,
  MANY,
  T,
  uncopied,
  withFile,
  type World,
} from "./lookup_world.ts";
import { unlooked } from "../testing/unlooked.ts";

/** Milliseconds after which a look-up sees at the latest what somebody has written past the service. */
const READING_MS = 5000;

function answered({ lookups }: LocalStore): number {
  assert(lookups);
  return lookups.answered;
}

/** Reads until this process answers; fails where it never does. */
async function warm(
  store: LocalStore,
  tenant: Tenant,
  sql = BY_ID,
  params: SqlParameter[] = [1],
): Promise<void> {
  const before = answered(store);
  for (let turn = 0; turn < 10 * MANY && answered(store) === before; turn++) await tenant.rows(sql, params);
  assert(answered(store) > before, `a child answered every time: ${sql}`);
}

async function filled(store: LocalStore): Promise<Tenant> {
  const tenant = await Tenant.create(store, [T]);
  await tenant.run("write", [["INSERT INTO t VALUES (1, 'one'), (2, NULL)"]]);
  return tenant;
}

/**
 * A clock that stands still within a turn of the event loop, in which no look-up is slow: on a busy machine some take
 * longer than they may, and then a child answers for many seconds, rightly.
 */
function turnClock(): Clock {
  let nowMs: number | null = null;
  return {
    now: systemClock.now,
    monotonicMs: () => {
      if (nowMs === null) setImmediate(() => nowMs = null);
      return nowMs ??= systemClock.monotonicMs();
    },
  };
}

Deno.test("lists go to children where a turn has had some, and look-ups by key stay", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const { call, clock, database, lookups } = world;
    const list = tenantCall(call.schemaVersion, "read", [["SELECT a FROM t ORDER BY id LIMIT 3"]]);
    lookups.learn(database.databaseId, list, [3, 3, 0, 0]);
    assertEquals(await lookAll(world, [list]), [[["one"]]]);
    clock.step = 0.6;
    assertEquals(await lookAll(world, [list, list, call, list]), [[["one"]], null, [["one"]], null]);
  });
});

Deno.test("lists that differ by their LIMIT take the place of no other look-up", async () => {
  await withFile(async (world) => {
    const { call, database, lookups } = world;
    const learn = (sql: string, value: number, reads: LookupReads) => {
      const learned = tenantCall(call.schemaVersion, "read", [[sql, value]]);
      lookups.learn(database.databaseId, learned, reads);
      return learned;
    };
    const list = "SELECT a FROM t ORDER BY id LIMIT ?";
    const first = learn(list, 1, [1, 1, 0, 0]);
    for (let at = 0; at < 30; at++) learn(`SELECT ${at} FROM t WHERE id = ?`, 1, KEY_READS);
    await firstLook(world);
    assertEquals(await lookAll(world, [first, learn(list, 2, [2, 1, 0, 0]), call]), [[["one"]], null, [[
      "one",
    ]]]);
  });
});

Deno.test("attacks on look-ups by key, through the store", async (t) => {
  await withLocalStore(async (store) => {
    const step = (name: string, fn: () => Promise<void>) => t.step({ name, fn, ...unlooked });

    await import("../../lib/engine/lookup_connection.ts");

    await step("answers are those of a child, in every form, and each leaves its log row", async () => {
      const tenant = await Tenant.create(store, ["CREATE TABLE v (id INTEGER PRIMARY KEY, a, b, c, d)"]);
      await tenant.run("write", [[
        "INSERT INTO v VALUES (1, 'x', 1.5, x'00ff', 9007199254740993), (2, 9e999, NULL, '', -1)",
      ]]);
      const sql = "SELECT * FROM v WHERE id = ?";
      for (const rowForm of [undefined, DIGIT_ROWS, TYPED_ROWS]) {
        const more = rowForm ? { rowForm } : {};
        for (const id of [1, 2, 3]) {
          const outcomes: TenantOutcome[] = [];
          const before = answered(store);
          // The same text with a blank is another text, which a child answers first.
          for (let turn = 0; turn < MANY; turn++) outcomes.push(await tenant.run("read", [[sql, id]], more));
          const texts = outcomes.map((one) => one.ok === true ? one.results : one);
          assertEquals(texts, Array(MANY).fill(texts[0]));
          assert(answered(store) > before, `${id} ${JSON.stringify(rowForm)}`);
        }
      }
      const count = await tenant.rows(
        "SELECT count(*) FROM _service_meta_query_log WHERE operation = 'query'",
        [],
        {
          readsLog: true,
        },
      );
      assertEquals(count, [[9 * MANY + 2]]);
    });

    await step("so are those of short lists, which read as many rows", async () => {
      const tenant = await Tenant.create(store, [
        "CREATE TABLE p (id INTEGER PRIMARY KEY, u INTEGER, at INTEGER, t TEXT)",
        "CREATE INDEX p_u ON p (u, at)",
        "CREATE TABLE w (k TEXT, n INTEGER, v TEXT, PRIMARY KEY (k, n)) WITHOUT ROWID",
      ]);
      const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)";
      await tenant.run("write", [
        [`INSERT INTO p ${many} SELECT i, i % 7, i, 'text ' || i FROM n`],
        ["INSERT INTO p VALUES (1001, 9, 1, NULL), (1002, 9, 2, 'b')"],
        ["INSERT INTO w SELECT 'k' || u, id, t FROM p"],
      ]);
      const lists: readonly (readonly [sql: string, ...params: SqlParameter[][]])[] = [
        ["SELECT id, t FROM p WHERE u = ? ORDER BY at DESC LIMIT 20", [3], [9], [77]],
        ["SELECT * FROM p WHERE id > ? ORDER BY id LIMIT 10", [5], [1001], [2000]],
        ["SELECT * FROM p WHERE id BETWEEN ? AND ? LIMIT 30", [5, 10], [1, 300], [8, 2]],
        ["SELECT id FROM p ORDER BY id DESC LIMIT 100;", []],
        ["SELECT v FROM w WHERE k = ? limit 5", ["k3"], ["k9"], [null]],
        ["SELECT id, t FROM p WHERE u = ? ORDER BY at LIMIT ?", [3, 20], [3, 1], [9, 20], [9, 2], [77, {
          $real: 5,
        }]],
        ["SELECT v FROM w WHERE k = ?1 limit ?", ["k3", 5], ["k9", 5]],
        ["SELECT id FROM p ORDER BY id LIMIT ?", [7], [100]],
      ];
      for (const [sql, ...sets] of lists) {
        for (const params of sets) {
          // What a child says: the longer text is not proven.
          const byChild = await tenant.run("read", [[`${sql.replace(";", "")} OFFSET 0`, ...params]]);
          assert(byChild.ok === true);
          await warm(store, tenant, sql, params);
          const before = answered(store);
          const here = await tenant.run("read", [[sql, ...params]]);
          assert(here.ok === true);
          assertEquals(here.results, byChild.results, `${sql} ${params}`);
          assertEquals(answered(store), before + 1);
        }
      }
      // All rows, none, a text, and one row too many are for a child.
      const [before, byValue] = [answered(store), "SELECT id FROM p ORDER BY id LIMIT ?"];
      for (const [limit, count] of [[-1, 302], [0, 0], ["7", 7], [101, 101]] as const) {
        for (let turn = 0; turn < 3; turn++) {
          assertEquals((await tenant.rows(byValue, [limit])).length, count);
        }
      }
      assertEquals(answered(store), before);
      // In a comment it is no value, also where the text with that value is known.
      const commented = "SELECT id FROM p WHERE id > ?1 LIMIT 2 -- limit";
      await warm(store, tenant, `${commented} 5`, [5]);
      for (let turn = 0; turn < 3; turn++) {
        assertEquals(await tenant.rows(`${commented} ?`, [5]), [[6], [7]]);
        assertEquals(await tenant.rows("SELECT t FROM p WHERE id = ? -- limit ?", [5]), [["text 5"]]);
        assertEquals(await tenant.rows("SELECT id FROM p ORDER BY id LIMIT ?1 -- limit ?", [1]), [[1]]);
      }
      await tenant.run("write", [["DELETE FROM p WHERE id = 1002"]]);
      const [list = ""] = lists[0] ?? [];
      await warm(store, tenant, list, [9]);
      assertEquals(await tenant.rows(list, [9]), [[1001, null]]);
    });

    await step(
      "lists with values in their texts, which never run again, put no look-up out of its place",
      async () => {
        const tenant = await filled(store);
        await warm(store, tenant);
        for (let id = 0; id < MANY; id++) await tenant.rows(`SELECT a FROM t WHERE id > ${-id} LIMIT 2`);
        const before = answered(store);
        for (let turn = 0; turn < 3; turn++) assertEquals(await tenant.rows(BY_ID, [1]), [["one"]]);
        assertEquals(answered(store), before + 3);
      },
    );

    await step("a list whose result is long is never read here", async () => {
      const tenant = await filled(store);
      await tenant.run("write", [[
        "INSERT INTO t VALUES (3, printf('%.*c', 50000, 'x')), (4, printf('%.*c', 50000, 'x'))",
      ]]);
      await tenant.run("write", [[
        "INSERT INTO t VALUES (5, printf('%.*c', 8000, 'x')), (6, printf('%.*c', 9000, 'x'))",
      ]]);
      const before = answered(store);
      for (let turn = 0; turn < MANY; turn++) await tenant.rows("SELECT a FROM t WHERE id > ? LIMIT 2", [2]);
      for (let turn = 0; turn < MANY; turn++) await tenant.rows("SELECT a FROM t WHERE id >= ? LIMIT 2", [5]);
      assertEquals(answered(store), before);
      // A value alone may be longer.
      await warm(store, tenant, "SELECT a FROM t WHERE id = ?", [3]);
    });

    await step("what is not proven never runs here, whoever repeats it", async () => {
      const tenant = await filled(store);
      await tenant.run("schema", [["CREATE VIEW w AS SELECT count(*) AS n FROM t"]]);
      const before = answered(store);
      for (
        const sql of [
          "SELECT a FROM t",
          "SELECT a FROM t WHERE id > 0",
          "SELECT a FROM t WHERE a <> 'x' LIMIT 5",
          "SELECT a FROM t ORDER BY a LIMIT 5",
          "SELECT a FROM t LIMIT 5 OFFSET 1",
          "SELECT a FROM t LIMIT 101",
          "EXPLAIN QUERY PLAN SELECT a FROM t LIMIT 5",
          "SELECT n FROM w",
          "SELECT upper(a) FROM t WHERE id = 1",
          "SELECT a FROM t WHERE id IN (1, 2)",
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 1",
        ]
      ) for (let turn = 0; turn < MANY; turn++) await tenant.rows(sql);
      const virtual = await Tenant.create(store, [T, "CREATE VIRTUAL TABLE f USING fts5(body)"]);
      for (let turn = 0; turn < MANY; turn++) await virtual.rows(BY_ID, [1]);
      assertEquals(answered(store), before);
    });

    await step("a change of a row or of the schema is seen by the next look-up", async () => {
      const tenant = await filled(store);
      await warm(store, tenant);
      await tenant.run("write", [["UPDATE t SET a = 'other' WHERE id = 1"]]);
      assertEquals(await tenant.rows(BY_ID, [1]), [["other"]]);
      await warm(store, tenant);
      const { schemaVersion } = await tenant.database.inspect([]);
      await tenant.run("schema", [["ALTER TABLE t RENAME COLUMN a TO b"]]);
      const late = await tenant.database.run(tenantCall(schemaVersion, "read", [[BY_ID, 1]]));
      assertEquals(late.ok, "stale");
      await warm(store, tenant, "SELECT * FROM t WHERE id = ?");
      await tenant.run("schema", [["ALTER TABLE t ADD COLUMN c DEFAULT 5"]]);
      assertEquals(await tenant.rows("SELECT * FROM t WHERE id = ?", [1]), [[1, "other", 5]]);
    });

    await step("a restore and a deletion leave nothing of before to a look-up", async () => {
      const tenant = await filled(store);
      await tenant.database.takeSnapshot("before");
      await tenant.run("write", [["UPDATE t SET a = 'later' WHERE id = 1"]]);
      await warm(store, tenant);
      await tenant.database.restore(
        "before",
        { log: undefined, rowForm: { integersAsStrings: false } } as never,
      );
      assertEquals(await tenant.rows(BY_ID, [1]), [["one"]]);
      await warm(store, tenant);
      const { schemaVersion } = await tenant.database.inspect([]);
      await store.drop(tenant.id);
      const call = tenantCall(schemaVersion, "read", [[BY_ID, 1]]);
      const gone = await tenant.database.run(call).then((outcome) => outcome.ok, () => "refused");
      assert(gone !== true);
    });

    await step("a value that is longer than 64 KiB is read by a child, whole", async () => {
      const tenant = await filled(store);
      await warm(store, tenant);
      await tenant.run("write", [["INSERT INTO t VALUES (3, ?)", "x".repeat(200_000)]]);
      const before = answered(store);
      assertEquals(await tenant.rows(BY_ID, [3]), [["x".repeat(200_000)]]);
      assertEquals(answered(store), before);
      const long = await tenant.rows("SELECT a FROM t WHERE id = ?", ["1".repeat(100_000)]);
      assertEquals(long, []);
    });

    await step(
      "calls that come together are read together, and a long value only sends its own to a child",
      async () => {
        const tenant = await filled(store);
        await tenant.run("write", [["INSERT INTO t VALUES (3, ?)", "x".repeat(200_000)]]);
        await warm(store, tenant);
        const { schemaVersion } = await tenant.database.inspect([]);
        const before = answered(store);
        const call = (id: number) => tenant.database.run(tenantCall(schemaVersion, "read", [[BY_ID, id]]));
        const outcomes = await Promise.all([...Array(10).fill(1), 3, ...Array(10).fill(2)].map(call));
        assertEquals(outcomes.map(rowsOf), [
          ...Array(10).fill([["one"]]),
          [["x".repeat(200_000)]],
          ...Array(10).fill([[null]]),
        ]);
        assertEquals(answered(store), before + 20);
      },
    );

    await step("callers who never wait for each other come to be answered here as well", async () => {
      const tenant = await filled(store);
      const { schemaVersion } = await tenant.database.inspect([]);
      const before = answered(store);
      const call = () => tenant.database.run(tenantCall(schemaVersion, "read", [[BY_ID, 1]]));
      for (let turn = 0; turn < 10 * MANY && answered(store) === before; turn++) {
        await Promise.all(Array.from({ length: 8 }, call));
      }
      assert(answered(store) > before);
    });

    await step("look-ups of many callers see every write that was answered before they came", async () => {
      const tenant = await Tenant.create(store, ["CREATE TABLE n (id INTEGER PRIMARY KEY, n INTEGER)"]);
      await tenant.run("write", [["INSERT INTO n VALUES (1, 0)"]]);
      const sql = "SELECT n FROM n WHERE id = 1";
      await warm(store, tenant, sql, []);
      const { schemaVersion } = await tenant.database.inspect([]);
      const before = answered(store);
      let written = 0;
      const reader = async () => {
        while (written < 60) {
          const least = written;
          const outcome = await tenant.database.run(tenantCall(schemaVersion, "read", [[sql]]));
          const [[seen] = []] = rowsOf(outcome);
          assert(Number(seen) >= least, `${seen} is older than ${least}`);
        }
      };
      const writer = async () => {
        for (let n = 1; n <= 60; n++) {
          await tenant.run("write", [["UPDATE n SET n = ?", n]]);
          written = n;
        }
      };
      await Promise.all([writer(), ...Array.from({ length: 8 }, reader)]);
      assert(answered(store) > before + 60);
    });
  }, { clock: turnClock() });
});

Deno.test("a look-up whose log somebody has removed or replaced reads nothing old, from the first write on", async () => {
  for (const replaced of [false, true]) {
    for (const since of [2, null]) {
      await withFile(async (world) => {
        await firstLook(world);
        await Deno.rename(`${world.path}-wal`, `${world.path}-old`);
        if (replaced) await Deno.writeFile(`${world.path}-wal`, new Uint8Array(0));
        assertEquals(await look(world), [["one"]], "nobody has written: it is what the file holds");
        giveSlot(world, since);
        assertEquals([await look(world), world.lookups.answered], [null, 2]);
      });
    }
  }
});

Deno.test("look-ups read on where nobody writes, and begin anew as soon as somebody gets the write slot", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    await elsewhere(world.path, "UPDATE t SET a = 'two'");
    assertEquals(
      await look(world),
      [["one"]],
      "the service gives the slot to every writer, and this one has none",
    );
    giveSlot(world, null);
    assertEquals(await look(world), [["two"]], "as often as one asks while somebody has the slot");
    await elsewhere(world.path, "UPDATE t SET a = 'three'");
    assertEquals(await lookAll(world, [world.call, world.call]), [[["three"]], [["three"]]]);
    giveSlot(world, 3);
    await elsewhere(world.path, "PRAGMA wal_checkpoint(TRUNCATE)");
    assertEquals((await Deno.stat(`${world.path}-wal`)).size, 0, "and nothing of a look-up holds the log");
    assertEquals(await look(world), [["three"]]);
  });
});

Deno.test("look-ups between writes see each of them, and no log grows for them", async () => {
  await withLocalStore(async (store, folder) => {
    const tenant = await filled(store);
    await warm(store, tenant);
    const before = answered(store);
    for (let at = 0; at < 60; at++) {
      const value = `${at} ${"x".repeat(200_000)}`;
      await tenant.run("write", [["INSERT OR REPLACE INTO t VALUES (1, ?), (9, ?)", String(at), value]]);
      assertEquals(await tenant.rows(BY_ID, [1]), [[String(at)]]);
      assertEquals(await tenant.rows(BY_ID, [1]), [[String(at)]]);
    }
    assert(answered(store) > before);
    const { size } = await Deno.stat(`${databasePath(`${folder}/tenants`, tenant.id)}-wal`);
    assert(size < 8 * 1024 ** 2, `a log of ${size} bytes`);
  }, { clock: turnClock() });
});

// A process that closes a file loses its locks on it. The engine sees by the file beside it that somebody reads all the same.
Deno.test("whoever opens and closes a file here takes no log away from its look-ups: others leave it there", async () => {
  await withFile(async (world) => {
    const { path, database } = world;
    await firstLook(world);
    const tenants = path.split("/").slice(0, -2).join("/");
    assertEquals((await new DatabaseStates(tenants, systemClock).storageOf(database.databaseId)).state, "ok");
    await Deno.copyFile(path, `${tenants}/copy.db`);
    // The last one to close it would move its log into it, under the look-up, and remove it.
    await elsewhere(path, "UPDATE t SET a = 'two'");
    assert((await Deno.stat(`${path}-wal`)).size > 0);
    world.clock.ms += READING_MS;
    assertEquals([await look(world), world.lookups.answered], [[["two"]], 2]);
  });
});

// Who reads the index beside a log and closes it loses the lock on that as well, and nothing else says that the file is read here.
Deno.test("a file that is open for look-ups is not copied for one that finds no room: others leave its log there", async () => {
  await withFile(async (world) => {
    const { lookups, path, database, call } = world;
    await firstLook(world);
    const other = {
      ...call,
      statements: call.statements.map((one) => ({ ...one, sql: `${BY_ID} -- another` })),
    };
    lookups.learn(database.databaseId, other, KEY_READS);
    assertEquals(await lookAll(world, [other]), [null]);
    await elsewhere(path, "UPDATE t SET a = 'two'");
    assert((await Deno.stat(`${path}-wal`)).size > 0);
    giveSlot(world, 2);
    assertEquals([await look(world), world.lookups.isOpen(database.databaseId)], [[["two"]], true]);
  }, (120 + 9 + 5) * 1024);
});

/** Leaves a log of so many bytes beside the file, and what stands in it, as a crash does. */
async function leaveLog(path: string, bytes: number): Promise<void> {
  const writer = new DatabaseSync(path);
  writer.exec("PRAGMA wal_autocheckpoint=0");
  writer.prepare("INSERT INTO t VALUES (2, zeroblob(?))").run(bytes);
  await Deno.copyFile(`${path}-wal`, `${path}-left`);
  writer.close();
  await Deno.rename(`${path}-left`, `${path}-wal`);
}

Deno.test("a database with a long log is not opened here: after a crash all of it would be read first", async () => {
  await import("../../lib/engine/lookup_connection.ts");
  for (
    const { bytes, answer } of [{ bytes: 1024 ** 2, answer: [["one"]] }, {
      bytes: 17 * 1024 ** 2,
      answer: null,
    }]
  ) {
    await withFile(async (world) => {
      await leaveLog(world.path, bytes);
      assertEquals(await look(world), answer);
    });
  }
});

Deno.test("a log whose file is long for what stood there before is no long one", async () => {
  await import("../../lib/engine/lookup_connection.ts");
  await withFile(async (world) => {
    await leaveLog(world.path, 17 * 1024 ** 2);
    const writer = new DatabaseSync(world.path);
    writer.exec(
      "PRAGMA wal_autocheckpoint=0; PRAGMA wal_checkpoint(PASSIVE); UPDATE t SET a = 'two' WHERE id = 1",
    );
    assertEquals(await look(world), [["two"]]);
    writer.close();
  });
});

Deno.test("a call that takes values or reports its changes is left to a child", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const [statement] = world.call.statements;
    assert(statement);
    const takes = [{ parameter: 0, column: "id" }];
    for (
      const more of [
        { statements: [{ ...statement, takes }] },
        { footprint: { readsToo: false } as never },
      ]
    ) assertEquals(await look({ ...world, call: { ...world.call, ...more } }), null);
    assertEquals(await look(world), [["one"]]);
  });
});

Deno.test("a schema that somebody else changed ends the look-ups of before", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    await elsewhere(
      world.path,
      "ALTER TABLE t RENAME TO other; CREATE VIEW t AS SELECT id, a || a AS a FROM other",
    );
    world.clock.ms += READING_MS;
    assertEquals(await look(world), null);
    assertEquals(world.lookups.answered, 1);
  });
});

Deno.test("a damaged page is left to a child, and so is everything else of that database for a while", async () => {
  await withFile(async (world) => {
    const { path, clock, lookups, database, call } = world;
    using file = Deno.openSync(path, { read: true, write: true });
    const bytes = new Uint8Array(Deno.statSync(path).size - 4096).fill(0xa5);
    file.seekSync(4096, Deno.SeekMode.Start);
    file.writeSync(bytes);
    await import("../../lib/engine/lookup_connection.ts");
    assertEquals(await look(world), null);
    for (let run = 0; run < MANY; run++) lookups.learn(database.databaseId, call, KEY_READS);
    clock.ms += 1000;
    assertEquals([await look(world), lookups.answered], [null, 0]);
  });
});

Deno.test("a namespace whose look-ups are slow has none for a hundred times as long, and others have theirs", async () => {
  await withFile(async (world) => {
    const { clock, database } = world;
    await firstLook(world);
    clock.step = 60;
    // Of the first two it is not known whether their time was their own.
    for (let at = 0; at < 4; at++) assertEquals(await look(world), [["one"]]);
    clock.step = 0;
    assertEquals(await look(world), null);
    assertEquals(await look({ ...world, database: { ...database, namespaceId: "ns_2" } }), [["one"]]);
    clock.ms += 13_000;
    assertEquals(await look(world), [["one"]]);
  });
});

Deno.test("a namespace whose lists are slow has no lists here for a hundred times as long, and its look-ups by key", async () => {
  await withFile(async (world) => {
    const { call, clock, database, lookups } = world;
    const list = tenantCall(call.schemaVersion, "read", [["SELECT a FROM t ORDER BY id LIMIT 3"]]);
    lookups.learn(database.databaseId, list, [3, 3, 0, 0]);
    await firstLook(world);
    assertEquals(await lookAll(world, [list]), [[["one"]]]);
    // Less than a list may take in the mean, and more than a look-up by key may.
    clock.step = 0.4;
    for (let at = 0; at < 600; at++) assertEquals(await lookAll(world, [list]), [[["one"]]]);
    clock.step = 60;
    for (let at = 0; at < 4; at++) await lookAll(world, [list]);
    clock.step = 0;
    assertEquals(await lookAll(world, [list, call]), [null, [["one"]]]);
    clock.ms += 13_000;
    assertEquals(await lookAll(world, [list, call]), [[["one"]], [["one"]]]);
  });
});

Deno.test("a namespace whose look-ups wait for a disk each time has none either, and one with many quick ones has", async () => {
  for (const { step, leftOut } of [{ step: 0.3, leftOut: true }, { step: 0.2, leftOut: false }]) {
    await withFile(async (world) => {
      await firstLook(world);
      world.clock.step = step;
      for (let at = 0; at < 1000; at++) if (await look(world) === null) break;
      world.clock.step = 0;
      assertEquals(await look(world), leftOut ? null : [["one"]]);
    });
  }
});

Deno.test("look-ups that are slow because others have the processor leave no namespace out, and those that use it do", async () => {
  const waits = { cpuMs: 0.1, diskReads: 0, preempted: 3 };
  for (
    const { usage, leftOut } of [
      { usage: waits, leftOut: false },
      { usage: { ...waits, cpuMs: 60 }, leftOut: true },
      { usage: { ...waits, diskReads: 1 }, leftOut: true },
      { usage: { ...waits, preempted: 0 }, leftOut: true },
    ]
  ) {
    await withFile(async (world) => {
      await firstLook(world);
      Object.assign(world.usage, usage);
      world.clock.step = 60;
      for (let at = 0; at < 20; at++) if (await look(world) === null) break;
      world.clock.step = 0;
      assertEquals(await look(world), leftOut ? null : [["one"]], JSON.stringify(usage));
    });
  }
});

Deno.test("a caller who has been alone for long is answered at once, and waits for others again when they come", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const { lookups, database, call } = world;
    const atOnce = async () => {
      let isAnswered = false;
      const asked = lookups.run(database, call)?.then(() => isAnswered = true);
      await Promise.resolve();
      await Promise.resolve();
      const was = isAnswered;
      await asked;
      await new Promise((resolve) => setImmediate(resolve));
      return was;
    };
    assertEquals(await atOnce(), false);
    for (let turn = 0; turn < 32; turn++) await atOnce();
    assertEquals(await atOnce(), true);
    assertEquals(await lookAll(world, [call, call]), [[["one"]], [["one"]]]);
    assertEquals(await atOnce(), false);
  });
});

Deno.test("what cannot be read after all is run by a child, whether its caller is alone or not", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const { lookups, database, call } = world;
    const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 40; turn++) {
      await look(world);
      await nextTurn();
    }
    const before = lookups.answered;
    database.lanes.mayLookUp = false;
    assertEquals(await lookups.run(database, call), BY_CHILD);
    await nextTurn();
    const together = [lookups.run(database, call), lookups.run(database, call)];
    assertEquals(await Promise.all(together), [BY_CHILD, BY_CHILD]);
    assertEquals(lookups.answered, before);
  });
});

Deno.test("a child that cannot be asked fails its own caller only", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const { lookups, database, call } = world;
    const runInChild = () => {
      throw new RangeError("no child");
    };
    const other = { ...database, lanes: { ...database.lanes, mayLookUp: false }, runInChild };
    const asked = [lookups.run(database, call), lookups.run(other, call), lookups.run(database, call)];
    const ends = await Promise.allSettled(asked);
    assertEquals(ends.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  });
});

Deno.test("look-ups that take long together let the event loop do other work between them", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    world.clock.step = 1;
    let turns = 0;
    let goesOn = true;
    const count = () => {
      turns++;
      if (goesOn) setImmediate(count);
    };
    setImmediate(count);
    const found = await lookAll(world, Array(20).fill(world.call));
    goesOn = false;
    assertEquals(found, Array(20).fill([["one"]]));
    assert(turns >= 10, `${turns} turns for twenty look-ups of a millisecond`);
  });
});

Deno.test("what comes between a look-up and its turn counts: a file that is held or closed is left to children", async () => {
  const between: ((world: World) => void)[] = [
    ({ database: { lanes } }) => void (lanes.mayLookUp = false),
    ({ lookups, database }) => lookups.close(database.databaseId),
    ({ lookups, database }) => lookups.leaveDamaged(database.databaseId),
    ({ lookups }) => lookups.closeAll(),
  ];
  for (const happens of between) {
    await withFile(async (world) => {
      await firstLook(world);
      const asked = lookAll(world, [world.call, world.call]);
      happens(world);
      assertEquals(await asked, [null, null]);
    });
  }
});

Deno.test("one whose answer cannot be given is refused alone", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const { database, lookups, call } = world;
    const add = () => {
      throw new RangeError("no row");
    };
    const other = { ...database, lanes: { ...database.lanes, log: { add } as never } };
    const asked = [lookups.run(database, call), lookups.run(other, call), lookups.run(database, call)];
    const ends = await Promise.allSettled(asked);
    assertEquals(ends.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    assertEquals(await look(world), [["one"]]);
  });
});

Deno.test("a file that is damaged under look-ups that come together leaves all behind the first to children", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    await Deno.truncate(`${world.path}-wal`, 0);
    await Deno.truncate(world.path, 4096);
    world.clock.ms += READING_MS;
    const found = await lookAll(world, Array(5).fill(world.call));
    assertEquals(found.slice(1), Array(4).fill(null));
    assertEquals(await look(world), null);
  });
});

Deno.test("a database that finds no room for its connection is left to children, and nobody's is closed for it", async () => {
  await withFile(async (world) => {
    const database = uncopied(await world.another());
    await firstLook(world);
    assertEquals(await look({ ...world, database }), null);
    assertEquals(await look(world), [["one"]]);
    world.lookups.close(world.database.databaseId);
    assertEquals(await look({ ...world, database }), [["one"]]);
  }, 150 * 1024);
});

Deno.test("look-ups of a database count for the room too: one that finds none is left to a child", async () => {
  await withFile(async (world) => {
    const { lookups, database, call } = world;
    await firstLook(world);
    uncopied(database);
    const found = [];
    for (const note of ["2", "3"]) {
      const other = {
        ...call,
        statements: call.statements.map((one) => ({ ...one, sql: `${BY_ID} -- ${note}` })),
      };
      lookups.learn(database.databaseId, other, KEY_READS);
      found.push((await lookAll(world, [other]))[0]);
    }
    assertEquals([...found, await look(world)], [[["one"]], null, [["one"]]]);
  }, (120 + 2 * 9 + 5) * 1024);
});

Deno.test("databases are opened here for a third of the time, or a tenth where that is slow, and read meanwhile", async () => {
  await import("../../lib/engine/lookup_connection.ts");
  await pause(0);
  // Milliseconds that an opening takes, and from then on until the next one may come.
  for (const [tookMs, pauseMs] of [[1, 2], [10, 90]] as const) {
    await withFile(async (world) => {
      const { clock } = world;
      const database = uncopied(await world.another());
      clock.step = tookMs;
      assertEquals(await look(world), [["one"]]);
      clock.step = 0;
      clock.ms += pauseMs - 2 * tookMs;
      assertEquals([await look({ ...world, database }), await look(world)], [null, [["one"]]]);
      clock.ms += 2 * tookMs;
      assertEquals(await look({ ...world, database }), [["one"]]);
    });
  }
});

Deno.test("texts of look-ups take a bounded part of the memory: the ones unused longest are forgotten", async () => {
  await withFile(async (world) => {
    await firstLook(world);
    const { lookups, call } = world;
    const sql = `${BY_ID} -- ${"x".repeat(3900)}`;
    const long = { ...call, statements: call.statements.map((one) => ({ ...one, sql })) };
    for (let at = 0; at < 1100; at++) lookups.learn(`db_${at}`, long, KEY_READS);
    assertEquals(await look(world), null);
  });
});

Deno.test("what is unused for half a minute is closed, a few databases in each turn of the event loop, and stays known", async () => {
  await withFile(async (world) => {
    const { lookups, clock } = world;
    await firstLook(world);
    const others = await Promise.all(Array.from({ length: 20 }, () => world.another()));
    for (const database of others) assertEquals(await look({ ...world, database }), [["one"]]);
    const open = () => others.filter(({ databaseId }) => lookups.isOpen(databaseId)).length;
    clock.ms += 29_000;
    lookups.sweep();
    assertEquals([open(), await look(world)], [20, [["one"]]]);
    clock.ms += 2000;
    lookups.sweep();
    const before = open();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    assertEquals([before > 5, open(), lookups.isOpen(world.database.databaseId)], [true, 0, true]);
    for (const database of others) assertEquals(await look({ ...world, database }), [["one"]]);
  });
});

Deno.test("this process answers look-ups under the permissions of `deno task start`", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_lookups_" });
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...startPermissions(), new URL("./lookup_process.ts", import.meta.url).pathname, folder],
    stderr: "inherit",
  }).output();
  await Deno.remove(folder, { recursive: true });
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), {
    answered: 9,
    rows: ["one"],
  });
});
