// Databases of a store over sqld that are snapshotted, restored, copied and dropped, as several processes see it.
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { rowsOf, Tenant } from "../contracts/tenant_store.ts";
import { ask, failureOf, standBetween, withSqld } from "./sqld_world.ts";

Deno.test("a restore in one process is what the other ones see from their next call on", async () => {
  await withSqld(async (world) => {
    const [one, two] = [world.store(), world.store()];
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a)"]);
    await tenant.run("write", [["INSERT INTO t VALUES ('before')"]]);
    const elsewhere = two.open(tenant.id, "ns_1");
    assertEquals(rowsOf(await ask(elsewhere, "read", "SELECT a FROM t")), [["before"]]);
    await tenant.database.takeSnapshot("mine");
    await tenant.run("write", [["UPDATE t SET a = 'after'"]]);
    await tenant.database.restore("mine", "undo");
    assertEquals(rowsOf(await ask(elsewhere, "read", "SELECT a FROM t")), [["before"]]);
    await ask(elsewhere, "write", "INSERT INTO t VALUES ('more')");
    const here = async (sql: string) => rowsOf(await ask(tenant.database, "read", sql));
    assertEquals(await here("SELECT a FROM t"), [["before"], ["more"]]);
    assertEquals(await here("SELECT count(*) FROM _service_meta_audit WHERE operation = 'query'"), [[4]]);
    assertEquals((await elsewhere.snapshots()).map((one) => one.label), ["undo", "mine"]);
    await elsewhere.restore("undo", "undo-2");
    assertEquals(await here("SELECT a FROM t"), [["after"]]);
  });
});

Deno.test("writes of another process during a restore are in it, behind it or refused, and none is lost", async () => {
  await withSqld(async (world) => {
    const [one, two] = [world.store(), world.store()];
    const tenant = await Tenant.create(one, ["CREATE TABLE t (a INTEGER)"]);
    await tenant.database.takeSnapshot("start");
    const elsewhere = two.open(tenant.id, "ns_1");
    let running = true;
    const kept: number[] = [];
    const writer = (async () => {
      for (let n = 1; running; n++) {
        const outcome = await ask(elsewhere, "write", `INSERT INTO t VALUES (${n})`);
        if (outcome.ok === true) kept.push(n);
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await tenant.database.restore("start", "undo");
    await new Promise((resolve) => setTimeout(resolve, 100));
    running = false;
    await writer;
    const now = rowsOf(await ask(tenant.database, "read", "SELECT a FROM t")).flat();
    await tenant.database.restore("undo", "undo-2");
    const then = rowsOf(await ask(tenant.database, "read", "SELECT a FROM t")).flat();
    assert(now.length > 0 && then.length > 0, `${then.length} before, ${now.length} behind`);
    assertEquals([...then, ...now].map(Number).sort((a, b) => a - b), kept);
  });
});

Deno.test("a restore that dies on its way leaves the database as it was, open again once its time is over", async () => {
  await withSqld(async (world) => {
    let broken = false;
    let nowMs = systemClock.now();
    const clock = { now: () => nowMs, monotonicMs: systemClock.monotonicMs };
    const dying = world.store({
      clock,
      fetch: standBetween(({ url }, go) => {
        if (url.includes("/fork/") && broken) return Promise.reject(new TypeError("gone"));
        return broken && url.endsWith("/config") ? Promise.reject(new TypeError("gone")) : go();
      }),
    });
    const tenant = await Tenant.create(dying, ["CREATE TABLE t (a)"]);
    await tenant.database.takeSnapshot("mine");
    // Closed by the restore, and never opened by it.
    broken = true;
    await failureOf(() => tenant.database.restore("mine", "undo"));
    broken = false;
    const other = world.store({ clock });
    const name = tenant.id.toLowerCase().replace("_", "-");
    const closed = await fetch(`${world.sqld.adminUrl}/v1/namespaces/${name}/config`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ block_reads: false, block_writes: true }),
    });
    await closed.body?.cancel();
    nowMs += 600_000;
    assertEquals((await ask(other.open(tenant.id, "ns_1"), "write", "INSERT INTO t VALUES (1)")).ok, true);
    const count = await ask(other.open(tenant.id, "ns_1"), "read", "SELECT count(*) FROM t");
    assertEquals(rowsOf(count), [[1]]);
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
    assertEquals(rowsOf(await ask(store.open(now, ""), "read", "SELECT count(*) FROM t")), [[2]]);
    assertEquals(rowsOf(await ask(store.open(then, ""), "read", "SELECT count(*) FROM t")), [[1]]);
    const audit = "SELECT count(*) FROM _service_meta_audit";
    assertEquals(rowsOf(await ask(store.open(then, ""), "read", audit)), [[0]]);
    const gone = newId("db", systemClock.now());
    const error = await failureOf(() => store.copy(gone, { databaseId: tenant.id, snapshot: "none" }));
    assertEquals(error.code, "snapshot_not_found");
    await store.drop(tenant.id);
    const after = world.store();
    assertEquals(await after.sizeBytes(tenant.id), 0);
    assertEquals(await after.open(tenant.id, "").snapshots(), []);
    assertEquals(rowsOf(await ask(after.open(now, ""), "read", "SELECT count(*) FROM t")), [[2]]);
  });
});
