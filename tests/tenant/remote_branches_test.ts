// Branches over sqld when something dies on the way: what was begun is whole or gone, and nothing is left behind.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { newId } from "../../lib/core/ids.ts";
import { locationOf } from "../../lib/tenant/remote/locations/locations.ts";
import type { RemoteStore } from "../../lib/tenant/remote/remote_store.ts";
import { mergeOf, rowsOf, Tenant, tenantCall } from "../contracts/tenant_store.ts";
import type { Sqld } from "../testing/sqld.ts";
import { ask, failureOf, type SqldWorld, standBetween, withSqld } from "./sqld_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a)";
const COUNT = "SELECT count(*) FROM t";

/** Names of all locations of a database that were ever made and are still on the server. */
async function locationsOf({ url }: Sqld, names: Iterable<string>): Promise<string[]> {
  const there: string[] = [];
  for (const name of names) {
    const response = await fetch(`${url}/v3/pipeline`, {
      method: "POST",
      headers: { "x-namespace-bin": btoa(name).replace(/=+$/, "") },
      body: JSON.stringify({ baton: null, requests: [{ type: "close" }] }),
    });
    await response.body?.cancel();
    if (response.status !== 404) there.push(name);
  }
  return there;
}

/** Past the service. */
async function ownStatement({ url }: Sqld, location: string, sql: string): Promise<void> {
  const response = await fetch(`${url}/v3/pipeline`, {
    method: "POST",
    headers: { "x-namespace-bin": btoa(location).replace(/=+$/, "") },
    body: JSON.stringify({ baton: null, requests: [{ type: "execute", stmt: { sql } }, { type: "close" }] }),
  });
  assert(!(await response.text()).includes("error"));
}

/** What was begun before now counts as left behind: the catalogue's clock is the server's, which no test turns. */
async function abandon({ sqld }: SqldWorld): Promise<void> {
  await ownStatement(sqld, "cubby-catalog", "UPDATE loose SET since = 1 WHERE since > 0");
}

/** Every location that a fork has been asked for. */
function forked(names: Set<string>, url: string): void {
  const name = /\/fork\/(.+)$/.exec(url)?.[1];
  if (name !== undefined) names.add(name);
}

async function trunkAndBranch(store: RemoteStore): Promise<{ trunk: Tenant; branchId: string }> {
  const trunk = await Tenant.create(store, [T]);
  await trunk.run("write", [["INSERT INTO t VALUES (1, 'one')"]]);
  const branchId = newId("db", systemClock.now());
  await store.branches.make({ databaseId: branchId, namespaceId: "ns_1" }, trunk.id);
  return { trunk, branchId };
}

function merge(store: RemoteStore, trunk: Tenant, branchId: string) {
  return store.branches.merge({ databaseId: trunk.id, namespaceId: "ns_1" }, mergeOf(trunk, branchId));
}

const MERGES = "SELECT count(*) FROM _service_meta_audit WHERE operation = 'merge'";

Deno.test("a branch that cannot be made is gone after a sweep, whether the first fork has failed or the second", async () => {
  await withSqld(async (world) => {
    for (const failing of [/[^r]\/fork\//, /-ancestor\/fork\//]) {
      const names = new Set<string>();
      let broken = false;
      const store = world.store({
        fetch: standBetween(({ url }, go) => {
          forked(names, url);
          return broken && failing.test(url) ? Promise.reject(new TypeError("reset")) : go();
        }),
      });
      const trunk = await Tenant.create(store, [T]);
      broken = true;
      const id = newId("db", systemClock.now());
      const error = await failureOf(() => store.branches.make({ databaseId: id, namespaceId: "" }, trunk.id));
      assertEquals(error.code, "store_unavailable");
      assert(names.size > 0);
      await store.drop(id);
      await abandon(world);
      await store.sweep();
      assertEquals(await locationsOf(world.sqld, names), []);
      assertEquals(await trunk.rows(COUNT), [[0]]);
    }
  });
});

Deno.test("a branch whose making died with the server is gone after a sweep, and can be made anew", async () => {
  await withSqld(async (world) => {
    const names = new Set<string>();
    let dies = true;
    const store = world.store({
      fetch: standBetween(async ({ url }, go) => {
        forked(names, url);
        const answer = await go();
        if (dies && url.includes("-ancestor/fork/")) {
          dies = false;
          await world.sqld.kill();
        }
        return answer;
      }),
    });
    const trunk = await Tenant.create(store, [T]);
    const id = newId("db", systemClock.now());
    await failureOf(() => store.branches.make({ databaseId: id, namespaceId: "" }, trunk.id));
    await world.sqld.restart();
    assertEquals((await locationsOf(world.sqld, names)).length, 2, "both forks are on the disk");
    // Another instance, whose clock is an hour ahead, lets be what may still be under way.
    const ahead = { now: () => systemClock.now() + 3_600_000, monotonicMs: systemClock.monotonicMs };
    const other = world.store({ clock: ahead });
    await ownStatement(world.sqld, "cubby-catalog", "UPDATE copying SET until = 0");
    await other.sweep();
    assertEquals((await locationsOf(world.sqld, names)).length, 2);
    await abandon(world);
    await other.sweep();
    assertEquals(await locationsOf(world.sqld, names), []);
    const again = newId("db", systemClock.now());
    await store.branches.make({ databaseId: again, namespaceId: "" }, trunk.id);
    assertEquals((await store.branches.diff({ databaseId: again, namespaceId: "" })).diff.tables, []);
    await store.drop(again);
    await store.sweep();
    assertEquals(await locationsOf(world.sqld, names), []);
  });
});

Deno.test("an answer to a merge's commit that is lost on its way back is looked up, and the merge took place once", async () => {
  await withSqld(async (world) => {
    for (const reached of [true, false]) {
      let lost = 0;
      const store = world.store({
        fetch: standBetween(async ({ sql }, go) => {
          if (!sql.includes('"COMMIT"') || !sql.includes('"merge"') || lost++ > 0) return await go();
          if (reached) await (await go()).body?.cancel();
          throw new TypeError("connection closed before message completed");
        }),
      });
      const { trunk, branchId } = await trunkAndBranch(store);
      await ask(
        store.open({ databaseId: branchId, namespaceId: "ns_1" }),
        "write",
        "INSERT INTO t VALUES (2, 'two')",
      );
      const outcome = await merge(store, trunk, branchId);
      assertEquals([outcome.outcome, outcome.snapshotTaken], ["merged", true]);
      assertEquals(await trunk.rows("SELECT * FROM t"), [[1, "one"], [2, "two"]]);
      assertEquals(await trunk.rows(MERGES), [[1]]);
      assertEquals((await trunk.database.snapshots()).length, 1);
    }
  });
});

Deno.test("a merge that begins again leaves a snapshot of its label to the instance that has taken it", async () => {
  await withSqld(async (world) => {
    let cut = "";
    const store = world.store();
    const other = world.store({
      fetch: standBetween(({ location, sql }, go) => {
        if (cut === "" || !location.startsWith(cut) || !sql.includes('"BEGIN"')) return go();
        cut = "";
        return Promise.reject(new TypeError("connection closed before message completed"));
      }),
    });
    const { trunk, branchId } = await trunkAndBranch(store);
    await ask(
      store.open({ databaseId: branchId, namespaceId: "ns_1" }),
      "write",
      "INSERT INTO t VALUES (2, 'two')",
    );
    const branch = { databaseId: newId("db", systemClock.now()), namespaceId: "ns_1" };
    await store.branches.make(branch, trunk.id);
    await ask(
      store.open({ databaseId: branch.databaseId, namespaceId: "ns_1" }),
      "write",
      "INSERT INTO t VALUES (3, 'three')",
    );
    // Labels tell a millisecond, in which two instances can begin.
    const { snapshot } = mergeOf(trunk, branchId);
    const sides = { databaseId: trunk.id, namespaceId: "ns_1" };
    const first = await store.branches.merge(sides, { ...mergeOf(trunk, branchId), snapshot });
    assertEquals([first.outcome, first.snapshotTaken], ["merged", true]);
    cut = locationOf(branch.databaseId);
    const second = { ...mergeOf(trunk, branch.databaseId), snapshot };
    const error = await failureOf(() => other.branches.merge(sides, second));
    assertEquals([error.code, cut], ["database_busy", ""]);
    assertEquals(await trunk.rows(COUNT), [[2]]);
    await trunk.database.restore(snapshot, { undoLabel: "undo" });
    assertEquals(await trunk.rows(COUNT), [[1]]);
  });
});

Deno.test("a merge during which the server is killed is there as a whole or not at all, and repeating it ends the same", async () => {
  await withSqld(async (world) => {
    let requests = 0;
    let killAt = Infinity;
    const store = world.store({
      fetch: standBetween(async ({ sql, url }, go) => {
        const writes = url.includes("/pipeline") &&
          /INSERT OR ABORT|INSERT INTO _service_meta_audit/.test(sql);
        if (!writes || ++requests !== killAt) return await go();
        const answer = go().catch((error) => error);
        await world.sqld.kill();
        const killed = await answer;
        if (killed instanceof Response) return killed;
        throw killed;
      }),
    });
    const { trunk, branchId } = await trunkAndBranch(store);
    const fill = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2001) " +
      "INSERT INTO t SELECT i, 'x' FROM n";
    await ask(store.open({ databaseId: branchId, namespaceId: "ns_1" }), "write", fill);
    // Three of the requests that write rows, and the one that commits.
    for (const at of [1, 3, 5]) {
      [requests, killAt] = [0, at];
      const ended = await merge(store, trunk, branchId).then(
        ({ outcome }) => outcome,
        (error) => error.code,
      );
      killAt = Infinity;
      await world.sqld.restart();
      assert(["merged", "store_unavailable", "outcome_unknown"].includes(ended), ended);
      const [row] = await trunk.rows(COUNT);
      assert(row?.[0] === 1 || row?.[0] === 2001, String(row));
      assertEquals(
        await trunk.rows(MERGES),
        [[row[0] === 1 ? 0 : 1]],
        "rows and audit row are there together",
      );
      if (row[0] === 2001) break;
    }
    assertEquals((await merge(store, trunk, branchId)).outcome, "merged");
    assertEquals(await trunk.rows(COUNT), [[2001]]);
    assertEquals(await trunk.rows("PRAGMA quick_check"), [["ok"]]);
  });
});

Deno.test("a merge waits for its snapshot longer than the server keeps idle streams, and takes one", async () => {
  await withSqld(async (world) => {
    let slow = false;
    let comparisons = 0;
    const store = world.store({
      fetch: standBetween(async ({ url, sql }, go) => {
        if (sql.includes('"BEGIN"') && sql.includes("sqlite_schema")) comparisons++;
        if (!slow || !url.includes("/fork/")) return await go();
        slow = false;
        const copied = await go();
        await pause(11_000);
        return copied;
      }),
    });
    const { trunk, branchId } = await trunkAndBranch(store);
    await ask(
      store.open({ databaseId: branchId, namespaceId: "ns_1" }),
      "write",
      "INSERT INTO t VALUES (2, 'two')",
    );
    [slow, comparisons] = [true, 0];
    const outcome = await merge(store, trunk, branchId);
    assertEquals([outcome.outcome, outcome.snapshotTaken, slow, comparisons], ["merged", true, false, 1]);
    assertEquals(await trunk.rows(COUNT), [[2]]);
  });
});

Deno.test("a fork that lacks what was written last is made again, and where none is whole there is no branch", async () => {
  await withSqld(async (world) => {
    let older = "";
    let stale = 0;
    const store = world.store({
      fetch: (url, init) => {
        if (stale <= 0 || !/[^r]\/fork\/.+-ancestor(-\d)?$/.test(url)) return fetch(url, init);
        stale--;
        return fetch(url.replace(/[^/]+(?=\/fork\/)/, older), init);
      },
    });
    const trunk = await Tenant.create(store, [T]);
    const first = newId("db", systemClock.now());
    await store.branches.make({ databaseId: first, namespaceId: "" }, trunk.id);
    older = `${first.toLowerCase().replace("_", "-")}-ancestor`;
    await trunk.run("write", [["INSERT INTO t VALUES (1, 'one')"]]);
    stale = 1;
    const second = newId("db", systemClock.now());
    await store.branches.make({ databaseId: second, namespaceId: "" }, trunk.id);
    assertEquals(stale, 0);
    const [row] = rowsOf(await ask(store.open({ databaseId: second, namespaceId: "" }), "read", COUNT));
    assertEquals(row, [1]);
    stale = Infinity;
    const third = newId("db", systemClock.now());
    const error = await failureOf(() =>
      store.branches.make({ databaseId: third, namespaceId: "" }, trunk.id)
    );
    assertEquals(error.code, "store_unavailable");
  });
});

Deno.test("reals that no short decimal names are compared and merged to the last bit, also where they are keys", async () => {
  await withSqld(async (world) => {
    const store = world.store();
    const schema = [
      "CREATE TABLE reals (id INTEGER PRIMARY KEY, a REAL)",
      "CREATE TABLE keys (k REAL PRIMARY KEY, a) WITHOUT ROWID",
    ];
    const trunk = await Tenant.create(store, schema);
    // The engine of sqld writes the first of them as it writes no other one, and reads it as another one.
    const first = 396.95199610490897;
    const reals = [first, 396.951996104909, 7.0619672667617196e258, 0.1 + 0.2, 5e-324, -1 / 3];
    for (const [id, value] of reals.entries()) {
      await trunk.run("write", [["INSERT INTO reals VALUES (?, ?)", id, 1.5], [
        "INSERT INTO keys VALUES (?, 1)",
        value,
      ]]);
    }
    const branchId = newId("db", systemClock.now());
    await store.branches.make({ databaseId: branchId, namespaceId: "ns_1" }, trunk.id);
    const branch = store.open({ databaseId: branchId, namespaceId: "ns_1" });
    const { schemaVersion } = await branch.inspect([]);
    for (const [id, value] of reals.entries()) {
      const statements = [["UPDATE reals SET a = ? WHERE id = ?", value, id], [
        "UPDATE keys SET a = 2 WHERE k = ?",
        value,
      ]] as const;
      assertEquals((await branch.run(tenantCall(schemaVersion, "write", statements))).ok, true);
    }
    const { diff } = await store.branches.diff({ databaseId: branchId, namespaceId: "" });
    assertEquals(diff.tables.map(({ table, changed, added, removed }) => [table, changed, added, removed]), [
      ["keys", 6, 0, 0],
      ["reals", 6, 0, 0],
    ]);
    assertEquals((await merge(store, trunk, branchId)).outcome, "merged");
    assertEquals(await trunk.rows("SELECT a FROM reals ORDER BY id"), reals.map((value) => [value]));
    assertEquals(await trunk.rows("SELECT count(*), sum(a) FROM keys"), [[6, 12]]);
  });
});
