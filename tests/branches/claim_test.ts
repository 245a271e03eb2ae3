// Claiming branches: what a claim gives, whom its token reaches, when it ends.
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type BranchWorld, claimOf, dataOf, withBranches } from "./branch_world.ts";

const COUNT = "SELECT count(*) FROM items";

/** Status of a statement under a database path such as `main@pr-1`. */
async function status(
  { app, shop }: BranchWorld,
  database: string,
  token: string,
  sql = COUNT,
): Promise<number> {
  const path = `/v1/db/${shop.slug}/${database}/query`;
  return (await app.request("POST", path, { token, body: { sql } })).status;
}

Deno.test("a claim answers 201 with every member of the branch claim result and a copy of the trunk", async () => {
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
  });
});

Deno.test("a branch and its trunk do not see each other's writes, schema, log or descriptions", async () => {
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

Deno.test("a branch's token reaches the branch by both names, and neither the trunk nor another branch", async () => {
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
      assertEquals(await status(world, name, one.token), 403, name);
    }
    assertEquals(await status(world, "main", one.token, "INSERT INTO items VALUES (10, 'x', 1)"), 200);
    assertEquals(await world.trunk(COUNT), [[3]]);
    assertEquals(await world.branch("one", COUNT), [[5]]);
    assertEquals(await status(world, "main", one.token, "DROP TABLE items"), 403);
    const list = await world.app.request("GET", "/api/namespaces/acme/databases", { token: one.token });
    assertEquals(list.status, 403);
  });
});

Deno.test("claiming a ref again makes a fresh copy and revokes the token of the earlier claim", async () => {
  await withBranches(async (world) => {
    const first = await world.claim();
    await world.branch("pr-1", "DELETE FROM items");
    const second = await world.claim({ role: "read" });
    assertEquals([first.outcome, second.outcome], ["created", "reset"]);
    assertNotEquals(first.databaseId, second.databaseId);
    assertEquals(await world.branch("pr-1", COUNT), [[3]]);
    assertEquals(await status(world, "main@pr-1", first.token), 401);
    assertEquals(await status(world, "main@pr-1", second.token), 200);
    assertEquals(await status(world, "main@pr-1", second.token, "DELETE FROM items"), 403);
  });
});

Deno.test("a reset makes a fresh copy, keeps the deadline and revokes the claim's token", async () => {
  await withBranches(async (world) => {
    const claim = await world.claim({ ttlSec: 900 });
    await world.branch("pr-1", "DELETE FROM items");
    await world.trunk("DELETE FROM items WHERE id = 3");
    const answer = await world.call("POST", "branches/pr-1/reset");
    assertEquals(answer.status, 200, answer.text);
    assertEquals(dataOf<{ expiresAt: string }>(answer).expiresAt, claim.expiresAt);
    assertEquals(await world.branch("pr-1", COUNT), [[2]]);
    assertEquals(await status(world, "main@pr-1", claim.token), 401);
    assertEquals((await world.call("POST", "branches/none/reset")).body.code, "branch_not_found");
  });
});

Deno.test("of twenty claims of one ref at once one creates it and only the last one's token stays", async () => {
  await withBranches(async (world) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.call("POST", "claim_branch", { purpose: "race", ref: "race" })),
    );
    const claims = answers.map(claimOf);
    assertEquals(claims.filter(({ outcome }) => outcome === "created").length, 1);
    assertEquals(answers.filter((answer) => answer.status === 201).length, 1);
    const statuses = await Promise.all(claims.map(({ token }) => status(world, "main@race", token)));
    assertEquals(statuses.filter((one) => one === 200).length, 1, statuses.join());
    assertEquals(statuses.filter((one) => one === 401).length, 19);
    const listed = dataOf<{ databaseId: string }[]>(await world.call("GET", "branches"));
    assertEquals(listed.map(({ databaseId }) => databaseId), [claims[statuses.indexOf(200)]?.databaseId]);
    assertEquals(await databaseFiles(world), 2);
  });
});

Deno.test("a branch made while the trunk is written holds one state of it: all of a transaction or nothing", async () => {
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

Deno.test("when its time is over a branch is gone at once, and its storage goes with the next sweep", async () => {
  const clock = new TurnableClock();
  await withBranches(async (world) => {
    const claim = await world.claim({ ttlSec: 60 });
    assertEquals(await world.branch("pr-1", COUNT), [[3]]);
    assertEquals(await databaseFiles(world), 2);
    clock.turn(61_000);
    assertEquals(await status(world, "main@pr-1", claim.token), 401);
    assertEquals(await status(world, "main@pr-1", world.shop.token), 404);
    assertEquals((await world.call("GET", "branches/pr-1/diff")).body.code, "branch_not_found");
    assertEquals(dataOf<unknown[]>(await world.call("GET", "branches")), []);
    await sweep(world);
    assertEquals(await databaseFiles(world), 1);
    assertEquals((await world.claim()).outcome, "created");
  }, { clock });
});

Deno.test("deleting a branch takes its token and its storage; deleting the trunk takes all branches", async () => {
  await withBranches(async (world) => {
    const one = await world.claim({ ref: "one" });
    const two = await world.claim({ ref: "two" });
    assertEquals((await world.call("DELETE", "branches/one")).status, 200);
    assertEquals(await status(world, "main@one", one.token), 401);
    assertEquals(await status(world, "main@one", world.shop.token), 404);
    assertEquals((await world.call("DELETE", "branches/one")).body.code, "branch_not_found");
    assertEquals(await databaseFiles(world), 2);
    const deleted = await world.app.request("DELETE", "/api/namespaces/acme/databases/main", {
      token: world.shop.token,
      body: { confirm: "main" },
    });
    assertEquals(deleted.status, 200);
    assertEquals(await status(world, "main@two", two.token), 401);
    assertEquals(await databaseFiles(world), 1);
  });
});

Deno.test("branches are no databases of the namespace and have no branches", async () => {
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

Deno.test("what a claim asks for is checked, and only an admin claims", async () => {
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
    assertEquals((await world.call("POST", "claim_branch", { purpose: "!!!" })).status, 201);
  });
});

Deno.test("a branch is paid by its namespace and its usage stands under its own id", async () => {
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

Deno.test("a token can be made for a branch by its id and ref", async () => {
  await withBranches(async (world) => {
    const { databaseId } = await world.claim();
    const scopes = [{ databaseId, branchRef: "pr-1", role: "read" as const }];
    const { token } = await world.shop.mint("admin", { scopes });
    assertEquals(await status(world, "main@pr-1", token), 200);
    assertEquals(await status(world, "main@main", token), 403);
    const wrong = await world.app.request("POST", "/api/namespaces/acme/tokens", {
      token: world.shop.token,
      body: { name: "x", role: "read", scopes: [{ databaseId, branchRef: "main", role: "read" }] },
    });
    assertEquals(wrong.status, 400);
  });
});

async function sweep({ app }: BranchWorld): Promise<void> {
  const { sweepLeftovers } = await import("../../lib/services/sweep_leftovers.ts");
  await sweepLeftovers(app.deps);
}

/** Database files in the tenants' folder, ancestors and snapshots aside. */
async function databaseFiles({ app }: BranchWorld): Promise<number> {
  const tenants = `${app.deps.config.dataDir}/tenants`;
  let count = 0;
  for await (const folder of Deno.readDir(tenants)) {
    for await (const entry of Deno.readDir(`${tenants}/${folder.name}`)) {
      if (/^db_\w+\.db$/.test(entry.name)) count++;
      if (entry.name.includes(".ancestor.") && !entry.name.endsWith(".ancestor.db")) count += 100;
    }
  }
  return count;
}
