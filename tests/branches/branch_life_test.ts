// How branches end, what they are not, and who pays for them.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { newId } from "../../lib/core/ids.ts";
import { sweepLeftovers } from "../../lib/services/removal/remove_records.ts";
import type { BranchDiff } from "../../lib/sql/service/branch_report.ts";
import { secondApp } from "../replay/second_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { dataOf, statusOf, withBranches } from "./branch_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("how branches end", run);

const COUNT = "SELECT count(*) FROM items";

test("when its time is over a branch is gone at once, and its storage goes with the next sweep", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const claim = await world.claim({ ttlSec: 60 });
    assertEquals(await world.branch("pr-1", COUNT), [[3]]);
    assertEquals(await world.databases(), 2);
    clock.turn(61_000);
    assertEquals(await statusOf(world, "main@pr-1", claim.token), 401);
    assertEquals(await statusOf(world, "main@pr-1", world.shop.token), 404);
    assertEquals((await world.call("GET", "branches/pr-1/diff")).body.code, "branch_not_found");
    assertEquals(dataOf<unknown[]>(await world.call("GET", "branches")), []);
    await sweepLeftovers(world.app.deps);
    assertEquals(await world.databases(), 1);
    assertEquals((await world.claim()).outcome, "created");
  }, { clock });
});

test("deleting a branch takes its token and its storage; deleting the trunk takes all branches", async () => {
  await withBranches(async (world) => {
    const one = await world.claim({ ref: "one" });
    const two = await world.claim({ ref: "two" });
    assertEquals((await world.call("DELETE", "branches/one")).status, 200);
    assertEquals(await statusOf(world, "main@one", one.token), 401);
    assertEquals(await statusOf(world, "main@one", world.shop.token), 404);
    assertEquals((await world.call("DELETE", "branches/one")).body.code, "branch_not_found");
    assertEquals(await world.databases(), 2);
    const deleted = await world.app.request("DELETE", "/api/namespaces/acme/databases/main", {
      token: world.shop.token,
      body: { confirm: "main" },
    });
    assertEquals(deleted.status, 200);
    assertEquals(await statusOf(world, "main@two", two.token), 401);
    assertEquals(await world.databases(), 1);
  });
});

test("branches are no databases of the namespace and have no branches", async () => {
  await withBranches(async (world) => {
    await world.claim();
    const list = await world.app.request("GET", "/api/namespaces/acme/databases", {
      token: world.shop.token,
    });
    assertEquals(dataOf<{ slug: string }[]>(list).map(({ slug }) => slug), ["main"]);
    const path = `${world.shop.database.path}@pr-1`;
    for (
      const [method, operation, body] of [
        ["POST", "claim_branch", { purpose: "deeper" }],
        ["GET", "branches", undefined],
        ["POST", "branches/pr-1/merge", { mode: "data", onConflict: "abort" }],
      ] as const
    ) {
      const options = { token: world.shop.token, ...(body ? { body } : {}) };
      const answer = await world.app.request(method, `${path}/${operation}`, options);
      assertEquals([answer.status, answer.body.code], [400, "trunk_required"], operation);
    }
  });
});

test("a branch is paid by its namespace and its usage stands under its own id", async () => {
  await withBranches(async (world) => {
    const claim = await world.claim();
    const path = `/v1/db/acme/main/query`;
    await world.app.request("POST", path, { token: claim.token, body: { sql: "DELETE FROM items" } });
    await world.app.deps.query.meter.tick();
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const answer = await world.app.request("GET", `/api/namespaces/acme/usage?from=${from}&by=hour`, {
      token: world.shop.token,
    });
    assertEquals(answer.status, 200, answer.text);
    assert(answer.text.includes(claim.databaseId), answer.text);
  });
});

test("a comparison is a read: it goes on where the control plane has no room", async () => {
  await withBranches(async (world) => {
    const { claim, branch, app, shop } = world;
    await claim();
    await branch("pr-1", "DELETE FROM items WHERE id = 1");
    const { kv } = app.deps;
    const atomic = kv.atomic.bind(kv);
    const full = () => Promise.reject(new Error("database or disk is full"));
    // A process that has reserved nothing yet.
    await using other = secondApp(app);
    kv.atomic = () => Object.assign(atomic(), { commit: full });
    const write = { token: shop.token, body: { sql: "DELETE FROM items" } };
    const written = await other.request("POST", `${shop.database.path}/query`, write);
    assertEquals([written.status, written.body.code], [503, "storage_full"], written.text);
    const path = `${shop.database.path}/branches/pr-1/diff`;
    const compared = await other.request("GET", path, { token: shop.token });
    kv.atomic = atomic;
    assertEquals(compared.status, 200, compared.text);
    assertEquals(dataOf<BranchDiff>(compared).tables.map(({ table, removed }) => [table, removed]), [
      ["items", 1],
    ]);
  });
});

test("a token can be made for a branch by its id and ref", async () => {
  await withBranches(async (world) => {
    const { databaseId } = await world.claim();
    const scopes = [{ databaseId, branchRef: "pr-1", role: "read" as const }];
    const { token } = await world.shop.mint("admin", { scopes });
    assertEquals(await statusOf(world, "main@pr-1", token), 200);
    assertEquals(await statusOf(world, "main@main", token), 403);
    const wrong = await world.app.request("POST", "/api/namespaces/acme/tokens", {
      token: world.shop.token,
      body: { name: "x", role: "read", scopes: [{ databaseId, branchRef: "main", role: "read" }] },
    });
    assertEquals(wrong.status, 400);
  });
});

test("storage of a claim that died before its record goes with a later sweep", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const { control, tenants } = world.app.deps;
    const orphan = newId("db", clock.now());
    await control.databases.announce(orphan);
    await tenants.branches.make({ databaseId: orphan, namespaceId: "ns" }, world.shop.database.id);
    await world.claim();
    assertEquals(await world.databases(), 3);
    clock.turn(601_000);
    await sweepLeftovers(world.app.deps);
    assertEquals(await world.databases(), 2);
    assertEquals(await world.branch("pr-1", COUNT), [[3]]);
  }, { clock });
});

test("storage that cannot be dropped keeps nothing else from being swept, and goes when it can be", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const { control, tenants } = world.app.deps;
    const stuck = newId("db", clock.now());
    const orphans = [stuck, newId("db", clock.now() + 1)];
    for (const id of orphans) await control.databases.announce(id);
    const claims = [
      await world.claim({ ref: "one", ttlSec: 60 }),
      await world.claim({ ref: "two", ttlSec: 60 }),
    ];
    const drop = tenants.drop.bind(tenants);
    const dropped: string[] = [];
    tenants.drop = async (id) => {
      if (id === stuck || id === claims[0]?.databaseId) throw new AppError("store_unavailable");
      await drop(id);
      dropped.push(id);
    };
    clock.turn(601_000);
    await assertRejects(() => sweepLeftovers(world.app.deps), /store/i);
    assertEquals(dropped.sort(), [orphans[1], claims[1]?.databaseId].sort());
    tenants.drop = drop;
    clock.turn(601_000);
    await sweepLeftovers(world.app.deps);
    clock.turn(601_000);
    assertEquals(await control.leftovers.takeAbandoned(), []);
    assertEquals(await world.databases(), 1);
    // Of two processes that look at the same time one takes it away.
    const left = newId("db", clock.now());
    await control.databases.announce(left);
    clock.turn(601_000);
    const looks = [control.leftovers.takeAbandoned(), control.leftovers.takeAbandoned()];
    assertEquals((await Promise.all(looks)).flat().map(({ id }) => id), [left]);
  }, { clock });
});

test("what is deleted or refused is told as such, also where storage cannot be dropped, and a sweep drops it", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const { control, tenants } = world.app.deps;
    await world.claim();
    const make = tenants.create.bind(tenants);
    const drop = tenants.drop.bind(tenants);
    // Somebody else takes the slug while the storage is made.
    tenants.create = async (id) => {
      const storage = await make(id);
      tenants.create = make;
      await world.shop.createDatabase("late");
      return storage;
    };
    tenants.drop = () => Promise.reject(new AppError("store_unavailable"));
    const late = await world.app.request("POST", "/api/namespaces/acme/databases", {
      token: world.shop.token,
      body: { slug: "late" },
    });
    assertEquals([late.status, late.body.code], [409, "slug_taken"]);
    assertEquals((await world.call("DELETE", "branches/pr-1")).status, 200);
    assertEquals(await world.databases(), 4);
    tenants.drop = drop;
    clock.turn(601_000);
    await sweepLeftovers(world.app.deps);
    assertEquals(await world.databases(), 2);
    assertEquals(await control.leftovers.takeAbandoned(), []);
  }, { clock });
});

test("deleting a namespace takes its branches", async () => {
  await withBranches(async (world) => {
    await world.claim();
    const deleted = await world.app.request("DELETE", "/api/namespaces/acme", {
      token: world.app.operatorKey,
      body: { confirm: "acme" },
    });
    assertEquals(deleted.status, 200, deleted.text);
    assertEquals(await world.databases(), 0);
    assertEquals(await Array.fromAsync(world.app.deps.control.branches.stored({})), []);
  });
});

test("a ref that no branch can have is an unknown branch", async () => {
  await withBranches(async (world) => {
    for (const ref of ["A", "main", "..", "%2e%2e", "x".repeat(3000)]) {
      assertEquals((await world.call("GET", `branches/${ref}/diff`)).status, 404, ref);
      assertEquals(await statusOf(world, `main@${ref}@x`, world.shop.token), 404, ref);
    }
  });
});

test("a body that would be ignored stops a deletion and a reset, however it is meant; none and {} do not", async () => {
  await withBranches(async ({ branch, call, claim }) => {
    await claim();
    await branch("pr-1", "DELETE FROM items");
    const calls = [["DELETE", "branches/pr-1"], ["POST", "branches/pr-1/reset"]] as const;
    for (const [method, operation] of calls) {
      const meant = await call(method, operation, { dryRun: true });
      assertEquals([meant.status, meant.body.issues?.map(({ path }) => path)], [400, ["dryRun"]], meant.text);
      assertEquals((await call(method, operation, "{nope")).body.code, "invalid_json");
      assertEquals((await call(method, operation, " ".repeat(8 * 1024 * 1024 + 1))).status, 413);
    }
    assertEquals(await branch("pr-1", "SELECT count(*) FROM items"), [[0]]);
    assertEquals((await call("POST", "branches/pr-1/reset", {})).status, 200);
    assertEquals(await branch("pr-1", "SELECT count(*) FROM items"), [[3]]);
    assertEquals((await call("DELETE", "branches/pr-1")).status, 200);
  });
});

test("a branch that one instance has reset is compared, merged and deleted by another one as it is now", async () => {
  await withBranches(async (world) => {
    await using other = secondApp(world.app);
    const { path } = world.shop.database;
    const there = (method: string, operation: string, body?: unknown) =>
      other.request(method, `${path}/${operation}`, { token: world.shop.token, ...(body ? { body } : {}) });
    await world.claim();
    for (
      const [method, operation, body] of [
        ["GET", "branches/pr-1/diff"],
        ["POST", "branches/pr-1/merge", { mode: "data", onConflict: "abort" }],
        ["DELETE", "branches/pr-1"],
      ] as const
    ) {
      // What it knows of the branch is what was there before.
      assertEquals((await there("GET", "branches/pr-1/diff")).status, 200);
      assertEquals((await world.call("POST", "branches/pr-1/reset", {})).status, 200);
      const answer = await there(method, operation, body);
      assertEquals(answer.status, 200, answer.text);
    }
  });
});
