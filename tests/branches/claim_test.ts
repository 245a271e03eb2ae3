// Claiming branches: what a claim gives, whom its token reaches, and claims that meet.
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { sweepLeftovers } from "../../lib/services/removal/remove_records.ts";
import { dyingKv, secondApp } from "../replay/second_app.ts";
import { handedOff } from "../handoff/handoffs.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { claimOf, dataOf, statusOf, withBranches } from "./branch_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("claiming branches", run);

const COUNT = "SELECT count(*) FROM items";

test("a claim answers 201 with every member of the branch claim result and a copy of the trunk", async () => {
  await withBranches(async (world) => {
    const answer = await world.call("POST", "claim_branch", { purpose: "Try the new Index!", ttlSec: 600 });
    assertEquals(answer.status, 201, answer.text);
    const data = dataOf<Record<string, unknown>>(answer);
    assertEquals(Object.keys(data).sort(), [
      ...["branchRef", "databaseId", "databaseSlug", "expiresAt", "namespaceSlug"],
      ...["outcome", "role", "token", "tokenId"],
    ]);
    assertMatch(String(data["branchRef"]), /^try-the-new-index-[a-z0-9]{5}$/);
    assertEquals(data["databaseSlug"], `main@${data["branchRef"]}`);
    assertEquals([data["namespaceSlug"], data["role"], data["outcome"]], ["acme", "write", "created"]);
    assertMatch(String(data["token"]), /^cub_live_/);
    assertEquals(await world.branch(String(data["branchRef"]), COUNT), [[3]]);
    for (
      const [purpose, ref] of [["Größe prüfen: ÉTÉ", /^grosse-prufen-ete-.{5}$/], [
        "試す",
        /^branch-.{5}$/,
      ]] as const
    ) {
      const claim = claimOf(await world.call("POST", "claim_branch", { purpose }));
      assertMatch(claim.ref, ref);
    }
  });
});

test("a branch and its trunk do not see each other's writes, schema, log or descriptions", async () => {
  await withBranches(async (world) => {
    await world.call("PUT", "describe", { databaseDescription: "A shop" });
    const { ref } = await world.claim();
    await world.branch(ref, "DELETE FROM items");
    await world.branch(ref, "CREATE TABLE extra (a)");
    await world.trunk("INSERT INTO items VALUES (4, 'nib', 5)");
    assertEquals(await world.trunk(COUNT), [[4]]);
    assertEquals(await world.branch(ref, COUNT), [[0]]);
    assertEquals(await world.trunk("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), [[0]]);
    const audit = "SELECT operation, tables FROM _service_meta_audit ORDER BY id";
    assertEquals((await world.branch(ref, audit)).length, 2);
    assertEquals((await world.trunk(audit)).length, 3);
    const described = await world.app.request("GET", `${world.shop.database.path}@${ref}/describe`, {
      token: world.shop.token,
    });
    assert(described.text.includes("A shop"));
    const path = `${world.shop.database.path}@${ref}/describe`;
    await world.app.request("PUT", path, {
      token: world.shop.token,
      body: { databaseDescription: "A copy" },
    });
    assert(!(await world.call("GET", "describe")).text.includes("A copy"));
  });
});

test("a branch's token reaches the branch by both names, and neither the trunk nor another branch", async () => {
  await withBranches(async (world) => {
    const one = await world.claim({ ref: "one" });
    await world.claim({ ref: "two" });
    await world.shop.createDatabase("other");
    await world.branch("one", "INSERT INTO items VALUES (9, 'only here', 1)");
    for (const name of ["main@one", "main%40one", "main"]) {
      const path = `/v1/db/acme/${name}/query`;
      const answer = await world.app.request("POST", path, { token: one.token, body: { sql: COUNT } });
      assertEquals([answer.status, rowsOf(answer)], [200, [[4]]], name);
    }
    for (const name of ["main@main", "main@two", "other"]) {
      assertEquals(await statusOf(world, name, one.token), 403, name);
    }
    assertEquals(await statusOf(world, "main", one.token, "INSERT INTO items VALUES (10, 'x', 1)"), 200);
    assertEquals(await world.trunk(COUNT), [[3]]);
    assertEquals(await world.branch("one", COUNT), [[5]]);
    assertEquals(await statusOf(world, "main", one.token, "DROP TABLE items"), 403);
    const list = await world.app.request("GET", "/api/namespaces/acme/databases", { token: one.token });
    assertEquals(list.status, 403);
  });
});

test("claiming a ref again makes a fresh copy and revokes the token of the earlier claim", async () => {
  await withBranches(async (world) => {
    const first = await world.claim();
    await world.branch("pr-1", "DELETE FROM items");
    const second = await world.claim({ role: "read" });
    assertEquals([first.outcome, second.outcome], ["created", "reset"]);
    assertNotEquals(first.databaseId, second.databaseId);
    assertEquals(await world.branch("pr-1", COUNT), [[3]]);
    assertEquals(await statusOf(world, "main@pr-1", first.token), 401);
    assertEquals(await statusOf(world, "main@pr-1", second.token), 200);
    assertEquals(await statusOf(world, "main@pr-1", second.token, "DELETE FROM items"), 403);
  });
});

test("a claim's token dies with the token that claimed and expires no later, and the branch lives on", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const claimer = await world.shop.mint("admin", { expiresInSec: 100 });
    const me = await world.app.request("GET", "/v1/me", { token: claimer.token });
    const claimBy = async (token: string, ref: string) =>
      claimOf(await world.call("POST", "claim_branch", { purpose: "a test", ref, ttlSec: 2_592_000 }, token));
    const short = await claimBy(claimer.token, "short");
    assertEquals(short.expiresAt, dataOf<{ expiresAt: string }>(me).expiresAt);
    const listed = dataOf<{ expiresAt: string }[]>(await world.call("GET", "branches"));
    assertEquals(Date.parse(listed[0]?.expiresAt ?? "") - clock.now() > 2_591_000_000, true);

    const revoked = await world.shop.mint("admin");
    const one = await claimBy(revoked.token, "one");
    const handed = await handedOff(world.app, revoked.token, "admin");
    const two = await claimBy(handed.token, "two");
    // Reset by another claimer: what the first one had is gone, and this one does not hang on it.
    await claimBy(revoked.token, "three");
    const three = await claimBy(world.shop.token, "three");
    assertEquals(three.outcome, "reset");
    for (const { ref, token } of [short, one, two, three]) {
      assertEquals(await statusOf(world, `main@${ref}`, token), 200, ref);
    }
    await world.app.request("DELETE", `/api/namespaces/acme/tokens/${revoked.id}`, {
      token: world.shop.token,
    });
    assertEquals(await statusOf(world, "main@one", one.token), 401);
    assertEquals(await statusOf(world, "main@two", two.token), 401);
    assertEquals(await statusOf(world, "main@three", three.token), 200);
    clock.turn(100_000);
    assertEquals(await statusOf(world, "main@short", short.token), 401);
    for (const ref of ["short", "one", "two"]) assertEquals(await world.branch(ref, COUNT), [[3]]);
  }, { clock });
});

test("revoking the claimer while it claims leaves no token of the branch that works", async () => {
  await withBranches(async (world) => {
    for (let round = 0; round < 5; round++) {
      const claimer = await world.shop.mint("admin");
      const [answer] = await Promise.all([
        world.call("POST", "claim_branch", { purpose: "race", ref: `race-${round}` }, claimer.token),
        world.app.request("DELETE", `/api/namespaces/acme/tokens/${claimer.id}`, { token: world.shop.token }),
      ]);
      if (answer.status === 201) {
        assertEquals(await statusOf(world, `main@race-${round}`, claimOf(answer).token), 401);
      } else assertEquals([answer.status, answer.body.code], [401, "invalid_bearer"], answer.text);
    }
  });
});

test("a claim whose instance dies behind any of its commits leaves a branch with its token, or neither", async () => {
  await withBranches(async ({ app, shop }) => {
    const { token, database: { path } } = shop;
    const names = async (of: string, name: string) => {
      const { body } = await app.request("GET", of, { token });
      return (body.data as Record<string, string>[]).map((one) => String(one[name]));
    };
    let claimed = 0;
    for (let lasts = 0; claimed === 0; lasts++) {
      const kv = dyingKv(app.deps.kv, lasts);
      await using dying = secondApp({ ...app, deps: { ...app.deps, kv } });
      const ref = `dies-${lasts}`;
      const body = { purpose: "a test", ref };
      const { status } = await dying.request("POST", `${path}/claim_branch`, { token, body });
      const branches = (await names(`${path}/branches`, "branchRef")).filter((one) => one === ref);
      const tokens = (await names("/api/namespaces/acme/tokens", "name")).filter((one) =>
        one === `Branch ${ref}`
      );
      assertEquals([lasts, tokens.length], [lasts, branches.length]);
      if (status === 201) claimed++;
    }
  });
});

test("a reset makes a fresh copy, keeps the deadline and revokes the claim's token", async () => {
  await withBranches(async (world) => {
    const claim = await world.claim({ ttlSec: 900 });
    await world.branch("pr-1", "DELETE FROM items");
    await world.trunk("DELETE FROM items WHERE id = 3");
    const answer = await world.call("POST", "branches/pr-1/reset");
    assertEquals(answer.status, 200, answer.text);
    assertEquals(dataOf<{ expiresAt: string }>(answer).expiresAt, claim.expiresAt);
    assertEquals(await world.branch("pr-1", COUNT), [[2]]);
    assertEquals(await statusOf(world, "main@pr-1", claim.token), 401);
    assertEquals((await world.call("POST", "branches/none/reset")).body.code, "branch_not_found");
  });
});

test("a claim and a reset that cannot drop the earlier copy succeed all the same, and a sweep drops it", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const first = await world.claim();
    const { tenants } = world.app.deps;
    const drop = tenants.drop.bind(tenants);
    tenants.drop = () => Promise.reject(new AppError("store_unavailable"));
    const second = await world.claim();
    assertEquals(second.outcome, "reset");
    assertEquals(await statusOf(world, "main@pr-1", first.token), 401);
    assertEquals(await statusOf(world, "main@pr-1", second.token), 200);
    assertEquals((await world.call("POST", "branches/pr-1/reset")).status, 200);
    tenants.drop = drop;
    assertEquals(await world.databases(), 4);
    clock.turn(601_000);
    await sweepLeftovers(world.app.deps);
    assertEquals(await world.databases(), 2);
    assertEquals(await world.branch("pr-1", COUNT), [[3]]);
  }, { clock });
});

test("of twenty claims of one ref at once one creates it and only the last one's token stays", async () => {
  await withBranches(async (world) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.call("POST", "claim_branch", { purpose: "race", ref: "race" })),
    );
    const claims = answers.map(claimOf);
    assertEquals(claims.filter(({ outcome }) => outcome === "created").length, 1);
    assertEquals(answers.filter((answer) => answer.status === 201).length, 1);
    const statuses = await Promise.all(claims.map(({ token }) => statusOf(world, "main@race", token)));
    assertEquals(statuses.filter((one) => one === 200).length, 1, statuses.join());
    assertEquals(statuses.filter((one) => one === 401).length, 19);
    const listed = dataOf<{ databaseId: string }[]>(await world.call("GET", "branches"));
    assertEquals(listed.map(({ databaseId }) => databaseId), [claims[statuses.indexOf(200)]?.databaseId]);
    assertEquals(await world.databases(), 2);
  });
});

test("a branch made while the trunk is written holds one state of it: all of a transaction or nothing", async () => {
  await withBranches(async (world) => {
    await world.trunk("CREATE TABLE pairs (id INTEGER PRIMARY KEY, side TEXT)");
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n++) {
        const answer = await world.shop.batch([
          ["INSERT INTO pairs VALUES (?, 'left')", n * 2],
          ["INSERT INTO pairs VALUES (?, 'right')", n * 2 + 1],
        ], { transaction: true });
        assertEquals(answer.status, 200, answer.text);
      }
    })();
    for (let n = 0; n < 8; n++) {
      const { ref } = await world.claim({ ref: `at-${n}` });
      const [row] = await world.branch(
        ref,
        "SELECT sum(side = 'left') - sum(side = 'right'), count(*) - 1 - max(id) FROM pairs",
      );
      if (row?.[0] !== null) assertEquals(row, [0, 0]);
      assertEquals(await world.branch(ref, "PRAGMA quick_check"), [["ok"]]);
      assertEquals((await world.diff(ref)).tables, []);
    }
    writing = false;
    await writer;
  });
});

test("what a claim asks for is checked, and only an admin claims, resets and deletes", async () => {
  await withBranches(async (world) => {
    for (
      const body of [
        {},
        { purpose: "" },
        { purpose: "x", ttlSec: 59 },
        { purpose: "x", ttlSec: 2_592_001 },
        { purpose: "x", role: "owner" },
        { purpose: "x", ref: "main" },
        { purpose: "x", ref: "A" },
        { purpose: "x", ref: "../x" },
        { purpose: "x", refs: "typo" },
      ]
    ) {
      const answer = await world.call("POST", "claim_branch", body);
      assertEquals([answer.status, answer.body.code], [400, "validation_failed"], JSON.stringify(body));
    }
    const writer = await world.shop.mint("write");
    assertEquals((await world.call("POST", "claim_branch", { purpose: "x" }, writer.token)).status, 403);
    const { ref } = await world.claim();
    for (
      const [method, operation] of [["POST", `branches/${ref}/reset`], ["DELETE", `branches/${ref}`]] as const
    ) {
      const answer = await world.call(method, operation, undefined, writer.token);
      assertEquals([answer.status, answer.body.code], [403, "role_too_low"], operation);
    }
    assertEquals((await world.call("POST", "claim_branch", { purpose: "!!!" })).status, 201);
  });
});
