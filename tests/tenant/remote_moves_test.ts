// Databases of a store over sqld that are snapshotted, restored, copied and dropped, as several processes see it.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import type { RemoteStore } from "../../lib/tenant/remote/remote_store.ts";
import { mergeOf, rowsOf, Tenant } from "../contracts/tenant_store.ts";
import { ask, failureOf, forward, standBetween, withSqld } from "./sqld_world.ts";

Deno.test("a restore in one process is what the other ones see from their next call on", async () => {
  await withSqld(async (world) => {
    const [one, two] = [world.store(), world.store()];
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a)"]);
    await tenant.run("write", [["INSERT INTO t VALUES ('before')"]]);
    const elsewhere = two.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    assertEquals(rowsOf(await ask(elsewhere, "read", "SELECT a FROM t")), [["before"]]);
    await tenant.database.takeSnapshot("mine");
    await tenant.run("write", [["UPDATE t SET a = 'after'"]]);
    await tenant.database.restore("mine", { undoLabel: "undo" });
    assertEquals(rowsOf(await ask(elsewhere, "read", "SELECT a FROM t")), [["before"]]);
    await ask(elsewhere, "write", "INSERT INTO t VALUES ('more')");
    const here = async (sql: string) => rowsOf(await ask(tenant.database, "read", sql));
    assertEquals(await here("SELECT a FROM t"), [["before"], ["more"]]);
    assertEquals(await here("SELECT count(*) FROM _service_meta_audit WHERE operation = 'query'"), [[4]]);
    assertEquals((await elsewhere.snapshots()).map((one) => one.label), ["undo", "mine"]);
    await elsewhere.restore("undo", { undoLabel: "undo-2" });
    assertEquals(await here("SELECT a FROM t"), [["after"]]);
  });
});

Deno.test("of many who ask where a database was, all learn that it has moved, and none opens it where it is", async () => {
  await withSqld(async (world) => {
    let [held, openings] = [0, 0];
    let together = Promise.withResolvers<void>();
    const one = world.store();
    const two = world.store({
      fetch: standBetween(async ({ url, sql }, go) => {
        if (url.includes("/config")) openings++;
        if (!sql.includes("SELECT a FROM t") || held === 0) return await go();
        if (--held === 0) together.resolve();
        await together.promise;
        return await go();
      }),
    });
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a)"]);
    await tenant.run("write", [["INSERT INTO t VALUES ('before')"]]);
    await tenant.database.takeSnapshot("mine");
    const elsewhere = two.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    const read = async () => rowsOf(await ask(elsewhere, "read", "SELECT a FROM t"));
    assertEquals(await read(), [["before"]]);
    await tenant.database.restore("mine", { undoLabel: "undo" });
    together = Promise.withResolvers();
    held = 3;
    assertEquals(await Promise.all([read(), read(), read()]), [[["before"]], [["before"]], [["before"]]]);
    assertEquals(openings, 0);
  });
});

Deno.test("a request that was on its way while the database moved twice ends where it is now, and opens nothing", async () => {
  await withSqld(async (world) => {
    const [isHeld, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let openings = 0;
    const one = world.store();
    const two = world.store({
      fetch: standBetween(async ({ url, sql }, go) => {
        if (url.includes("/config")) openings++;
        if (sql.includes("'held'")) {
          isHeld.resolve();
          await released.promise;
        }
        return await go();
      }),
    });
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a)"]);
    await tenant.run("write", [["INSERT INTO t VALUES ('before')"]]);
    await tenant.database.takeSnapshot("mine");
    const elsewhere = two.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    const read = async (sql: string) => rowsOf(await ask(elsewhere, "read", sql));
    const held = read("SELECT a, 'held' FROM t");
    await isHeld.promise;
    for (const label of ["undo", "undo-2"]) {
      await tenant.database.restore("mine", { undoLabel: label });
      assertEquals(await read("SELECT a FROM t"), [["before"]]);
    }
    released.resolve();
    assertEquals(await held, [["before", "held"]]);
    assertEquals(openings, 0);
  });
});

Deno.test("writes of another process during a restore are in it, behind it or refused, and none is lost", async () => {
  await withSqld(async (world) => {
    const [one, two] = [world.store(), world.store()];
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a INTEGER)"]);
    await tenant.database.takeSnapshot("start");
    const elsewhere = two.open({ databaseId: tenant.id, namespaceId: "ns_1" });
    let running = true;
    const committed: number[] = [];
    let told = Promise.withResolvers<void>();
    const writer = (async () => {
      for (let n = 1; running; n++) {
        const outcome = await ask(elsewhere, "write", `INSERT INTO t VALUES (${n})`);
        if (outcome.ok === true) committed.push(n);
        told.resolve();
      }
    })();
    const untilMore = async () => {
      for (
        const before = committed.length;
        committed.length < before + 3;
        await Promise.race([told.promise, writer])
      ) {
        told = Promise.withResolvers<void>();
      }
    };
    await untilMore();
    await tenant.database.restore("start", { undoLabel: "undo" });
    await untilMore();
    running = false;
    await writer;
    const now = rowsOf(await ask(tenant.database, "read", "SELECT a FROM t")).flat();
    await tenant.database.restore("undo", { undoLabel: "undo-2" });
    const then = rowsOf(await ask(tenant.database, "read", "SELECT a FROM t")).flat();
    assert(now.length > 0 && then.length > 0, `${then.length} before, ${now.length} behind`);
    assertEquals([...then, ...now].map(Number).sort((a, b) => a - b), committed);
  });
});

Deno.test("a restore that dies on its way leaves the database as it was, open again once its time is over", async () => {
  await withSqld(async (world) => {
    // Closed for writes, and for reads as well.
    for (const [at, level] of [["/fork/", "write"], ["generation = generation + 1", "read"]] as const) {
      let [restoring, dead] = [false, false];
      const dying = world.store({
        fetch: standBetween(({ url, sql }, go) => {
          dead ||= restoring && (url + sql).includes(at);
          return dead ? Promise.reject(new TypeError("gone")) : go();
        }),
      });
      const tenant = await Tenant.create(dying, ["CREATE TABLE t (a)"]);
      await tenant.database.takeSnapshot("mine");
      restoring = true;
      await failureOf(() => tenant.database.restore("mine", { undoLabel: "undo" }));
      assert(dead);
      await forward(world.sqld);
      const other = world.store().open({ databaseId: tenant.id, namespaceId: "ns_1" });
      const sql = { write: "INSERT INTO t VALUES (1) RETURNING a", read: "SELECT 1" };
      assertEquals(rowsOf(await ask(other, level, sql[level])), [[1]]);
      assertEquals((await ask(other, "write", "INSERT INTO t VALUES (2)")).ok, true);
      dead = restoring = false;
    }
  });
});

Deno.test("a restore whose last answer is lost has taken place, and whoever cannot know says so and asks where it went", async () => {
  await withSqld(async (world) => {
    for (const known of [true, false]) {
      let [answers, lost] = [true, 0];
      const store = world.store({
        fetch: standBetween(async ({ sql }, go) => {
          if (!sql.includes("generation = generation + 1") && answers) return await go();
          answers = known;
          lost++;
          await (await go()).body?.cancel();
          throw new TypeError("connection closed before message completed");
        }),
      });
      const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
      await tenant.run("write", [["INSERT INTO t VALUES ('before')"]]);
      await tenant.database.takeSnapshot("mine");
      await tenant.run("write", [["UPDATE t SET a = 'after'"]]);
      const [reader, writer] = [world.store(), world.store()].map((other) =>
        other.open({ databaseId: tenant.id, namespaceId: "ns_1" })
      );
      assert(reader && writer);
      for (const other of [reader, writer]) {
        assertEquals(rowsOf(await ask(other, "read", "SELECT a FROM t")), [["after"]]);
      }
      const log = { ...mergeOf(tenant, "").log, operation: "restore" };
      const restored = tenant.database.restore("mine", { undoLabel: "undo", log })
        .then(() => "restored", ({ code }) => code);
      assertEquals([await restored, lost > 0], [known ? "restored" : "outcome_unknown", true]);
      answers = true;
      assertEquals(rowsOf(await ask(reader, "read", "SELECT a FROM t")), [["before"]]);
      assertEquals((await ask(tenant.database, "write", "INSERT INTO t VALUES ('here')")).ok, true);
      assertEquals((await ask(writer, "write", "INSERT INTO t VALUES ('there')")).ok, true);
      const now = [["before"], ["here"], ["there"]];
      assertEquals(await tenant.rows("SELECT a FROM t"), now);
      assertEquals(rowsOf(await ask(reader, "read", "SELECT a FROM t")), now);
      for (const table of ["_service_meta_audit", "_service_meta_query_log"]) {
        const count = `SELECT count(*) FROM ${table} WHERE operation = 'restore'`;
        assertEquals(rowsOf(await ask(reader, "read", count)), [[1]], table);
      }
      assertEquals((await tenant.database.snapshots()).map((one) => one.label), ["undo", "mine"]);
    }
  });
});

Deno.test("a restore that fails on its way leaves the database open, for reads and for writes", async () => {
  await withSqld(async (world) => {
    for (const failing of ["/fork/", "generation = generation + 1"]) {
      let broken = false;
      const store = world.store({
        fetch: standBetween(({ url, sql }, go) =>
          broken && (url + sql).includes(failing) ? Promise.reject(new TypeError("reset")) : go()
        ),
      });
      const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
      await tenant.database.takeSnapshot("mine");
      broken = true;
      assertEquals(
        (await failureOf(() => tenant.database.restore("mine", { undoLabel: "undo" }))).code,
        "store_unavailable",
      );
      const elsewhere = world.store().open({ databaseId: tenant.id, namespaceId: "ns_1" });
      assertEquals((await ask(elsewhere, "write", "INSERT INTO t VALUES (1)")).ok, true);
      assertEquals(await tenant.rows("SELECT a FROM t"), [[1]]);
      broken = false;
      await tenant.database.restore("mine", { undoLabel: "undo" });
      assertEquals(await tenant.rows("SELECT a FROM t"), []);
    }
  });
});

Deno.test("a snapshot of which sqld loses a copy is not called corrupt: another copy is made, or it is to be tried again", async () => {
  await withSqld(async (world) => {
    let left = 0;
    const store = world.store({
      fetch: standBetween(({ url }, go) => {
        if (!url.includes("/fork/") || left === 0) return go();
        left--;
        return Promise.resolve(Response.json({ error: "Namespace `x` doesn't exist" }, { status: 404 }));
      }),
    });
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    await tenant.database.takeSnapshot("mine");
    left = Infinity;
    const restore = () => tenant.database.restore("mine", { undoLabel: "undo" });
    assertEquals((await failureOf(restore)).code, "store_unavailable");
    left = 2;
    await restore();
    assertEquals([left, await tenant.rows("SELECT a FROM t")], [0, []]);
  });
});

/** A trunk with one row, and a branch that has added another one. */
async function trunkAndBranch(store: RemoteStore): Promise<{ trunk: Tenant; branchId: string }> {
  const trunk = await Tenant.create(store, ["CREATE TABLE t (id INTEGER PRIMARY KEY)"]);
  await trunk.run("write", [["INSERT INTO t VALUES (1)"]]);
  const branchId = newId("db", systemClock.now());
  await store.branches.make({ databaseId: branchId, namespaceId: "ns_1" }, trunk.id);
  await ask(store.open({ databaseId: branchId, namespaceId: "ns_1" }), "write", "INSERT INTO t VALUES (2)");
  return { trunk, branchId };
}

Deno.test("a merge into a trunk that another process has restored, or restores at the moment, goes where it is", async () => {
  await withSqld(async (world) => {
    let [forkMs, forks] = [0, 0];
    const restoring = world.store({
      fetch: standBetween(async ({ url }, go) => {
        if (!url.includes("/fork/") || forkMs === 0) return await go();
        forks++;
        await pause(forkMs);
        return await go();
      }),
    });
    const merging = world.store();
    const { trunk, branchId } = await trunkAndBranch(merging);
    const elsewhere = restoring.open({ databaseId: trunk.id, namespaceId: "ns_1" });
    await elsewhere.takeSnapshot("mine");
    await trunk.run("write", [["INSERT INTO t VALUES (3)"]]);
    await elsewhere.restore("mine", { undoLabel: "undo" });
    const handle = { databaseId: trunk.id, namespaceId: "ns_1" };
    const dry = await merging.branches.merge(handle, { ...mergeOf(trunk, branchId), dryRun: true });
    assertEquals(dry.outcome, "merged");
    // Longer than a database that nobody moves would be waited for.
    forkMs = 1700;
    const restored = elsewhere.restore("undo", { undoLabel: "undo-2" });
    while (forks === 0) await pause(20);
    const merged = await merging.branches.merge(handle, mergeOf(trunk, branchId));
    await restored;
    assertEquals(merged.outcome, "merged");
    assertEquals(await trunk.rows("SELECT id FROM t"), [[1], [2], [3]]);
    assertEquals(rowsOf(await ask(elsewhere, "read", "SELECT id FROM t")), [[1], [2], [3]]);
  });
});

Deno.test("a copy has the rows and begins with an empty log; dropping takes snapshots along", async () => {
  await withSqld(async (world) => {
    const store = world.store();
    const tenant = await Tenant.create(store, ["CREATE TABLE t (a)"]);
    await tenant.run("write", [["INSERT INTO t VALUES (1)"]]);
    await tenant.database.takeSnapshot("one");
    await tenant.run("write", [["INSERT INTO t VALUES (2)"]]);
    const [now, then] = [newId("db", systemClock.now()), newId("db", systemClock.now())];
    await store.copy(now, { databaseId: tenant.id, snapshot: null });
    await store.copy(then, { databaseId: tenant.id, snapshot: "one" });
    assertEquals(
      rowsOf(await ask(store.open({ databaseId: now, namespaceId: "" }), "read", "SELECT count(*) FROM t")),
      [[2]],
    );
    assertEquals(
      rowsOf(await ask(store.open({ databaseId: then, namespaceId: "" }), "read", "SELECT count(*) FROM t")),
      [[1]],
    );
    const audit = "SELECT count(*) FROM _service_meta_audit";
    assertEquals(rowsOf(await ask(store.open({ databaseId: then, namespaceId: "" }), "read", audit)), [[0]]);
    const gone = newId("db", systemClock.now());
    const error = await failureOf(() => store.copy(gone, { databaseId: tenant.id, snapshot: "none" }));
    assertEquals(error.code, "snapshot_not_found");
    await store.drop(tenant.id);
    const after = world.store();
    assertEquals((await after.storageOf(tenant.id)).sizeBytes, 0);
    assertEquals(await after.open({ databaseId: tenant.id, namespaceId: "" }).snapshots(), []);
    assertEquals(
      rowsOf(await ask(after.open({ databaseId: now, namespaceId: "" }), "read", "SELECT count(*) FROM t")),
      [[2]],
    );
  });
});
