// Work on a branch: made, changed, compared, merged and deleted, also by a token that reaches one database only.
import { assert, assertEquals } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { eras } from "./mcp_client.ts";
import { assertUntouched, mcpWorld, queried } from "./mcp_world.ts";

const sale = { statements: [{ sql: "UPDATE orders SET total = total / 2 WHERE id = 1" }] };
const totals = "SELECT total FROM orders ORDER BY id";

testSteps("branches", mcpWorld, {
  "a branch is made, changed, compared, merged and deleted": async (world) => {
    for (const era of eras) {
      await using client = await world.connect(undefined, { era });
      const { database, branchRef, expiresAt, ...others } = await client.done("create_branch", {
        purpose: "Sale",
      });
      assertEquals([others, database], [{}, `main@${branchRef}`]);
      assert(String(branchRef).startsWith("sale-") && !Number.isNaN(Date.parse(String(expiresAt))));
      const ids = { statements: [{ sql: "INSERT INTO orders (note, total) VALUES (?, 1)", params: [era] }] };
      await client.done("write", { database, ...ids });
      await assertOrders(client, 3 + eras.indexOf(era));
      const diff = await client.done("diff_branch", { branchRef });
      assertEquals((diff["tables"] as { added: number }[]).map(({ added }) => added), [1]);
      const merge = { branchRef, mode: "data", onConflict: "abort" };
      assertEquals((await client.done("merge_branch", { ...merge, dryRun: true }))["rowsWritten"], 1);
      await assertOrders(client, 3 + eras.indexOf(era));
      const merged = await client.done("merge_branch", merge);
      assertEquals(merged["rowsWritten"], 1);
      // The rows were shown by diff_branch: an agent asks for a merge again and again.
      assertEquals((merged["tables"] as object[]).map((one) => "rows" in one), [false]);
      await assertOrders(client, 4 + eras.indexOf(era));
      assertEquals((await client.done("delete_branch", { branchRef }))["deleted"], database);
      const { text, value: { code } } = await client.call("query", { database, sql: "SELECT 1" });
      assertEquals(code, "branch_not_found");
      // What this door does not have is not named.
      assert(text.includes("create_branch") && !text.includes("claim_branch"), text);
      assertEquals((await client.done("list_branches"))["branches"], []);
    }
  },

  "a conflict is told with its rows, and nothing is merged": async (world) => {
    await using client = await world.connect();
    const { database, branchRef } = await client.done("create_branch", { purpose: "conflict" });
    const note = (text: string) => ({
      statements: [{ sql: "UPDATE orders SET note = ? WHERE id = 1", params: [text] }],
    });
    await client.done("write", { database, ...note("branch") });
    await client.done("write", note("trunk"));
    const merge = { branchRef, mode: "data", onConflict: "abort" };
    const { value, marked } = await client.call("merge_branch", merge);
    assertEquals([value["code"], marked], ["merge_conflict", true]);
    assert(JSON.stringify(value["data"]).includes('"trunk"') && String(value["hint"]).includes("onConflict"));
    assertEquals(await world.rows("SELECT note FROM orders WHERE id = 1"), [["trunk"]]);
    await client.done("merge_branch", { ...merge, onConflict: "theirs" });
    assertEquals(await world.rows("SELECT note FROM orders WHERE id = 1"), [["branch"]]);
  },

  "a scoped admin uses the branches that it has claimed, here and under /v1, and no others": async (
    world,
  ) => {
    const { app, shop } = world;
    const row = { databaseId: shop.database.id, branchRef: "main", role: "admin" as const };
    const token = await world.scoped("admin", row);
    await using client = await world.connect(token);
    const { database, branchRef } = await client.done("create_branch", { purpose: "mine" });
    await client.done("write", { database, ...sale });
    assertEquals(await queried(client, totals, { database }), [[5], [20], [30]]);
    assertEquals((await client.done("list_databases"))["databases"], [
      { database: "main", name: "main", role: "admin" },
      { database, name: "main", role: "admin" },
    ]);
    // It is one database all the same: the trunk need not be named.
    assertEquals(await queried(client, totals), [[10], [20], [30]]);
    const path = `/v1/db/${shop.slug}/${database}/query`;
    const read = (token: string) => app.request("POST", path, { token, body: { sql: totals } });
    assertEquals((await read(token.token)).status, 200);
    for (
      const stranger of [
        await world.scoped("admin", row),
        await world.scoped("write", { ...row, role: "write" }),
      ]
    ) {
      const { status, body } = await read(stranger.token);
      assertEquals([status, body.code], [403, "out_of_scope"]);
      await using other = await world.connect(stranger);
      assertEquals(await other.fails("query", { database, sql: totals }), "out_of_scope");
      const { databases } = await other.done("list_databases");
      assertEquals((databases as unknown[]).length, 1);
    }
    // A reset is a fresh copy of the same branch; whoever claims the ref anew takes it over.
    const branches = `${shop.database.path}/branches/${branchRef}`;
    assertEquals((await app.request("POST", `${branches}/reset`, { token: shop.token })).status, 200);
    assertEquals(await queried(client, totals, { database }), [[10], [20], [30]]);
    const claim = { token: shop.token, body: { purpose: "mine now", ref: branchRef } };
    assertEquals((await app.request("POST", `${shop.database.path}/claim_branch`, claim)).status, 200);
    assertEquals((await read(token.token)).body.code, "out_of_scope");
    await assertUntouched(world);
  },

  "a branch's own address narrows to it, and what is about trunks says so": async (world) => {
    await using client = await world.connect();
    const { database, branchRef } = await client.done("create_branch", { purpose: "narrow" });
    assertEquals(await client.fails("create_branch", { database, purpose: "deeper" }), "trunk_required");
    assertEquals(
      await client.fails("merge_branch", { branchRef: "none", mode: "data", onConflict: "abort" }),
      "branch_not_found",
    );
    await using narrow = await world.connect(undefined, {
      query: `?database=${encodeURIComponent(String(database))}`,
    });
    const trunkTools = ["list_branches", "diff_branch", "create_branch", "merge_branch", "delete_branch"];
    assertEquals(
      await narrow.toolNames(),
      (await client.toolNames()).filter((one) => !trunkTools.includes(one)),
    );
    await narrow.done("write", sale);
    assertEquals(await queried(client, totals, { database }), [[5], [20], [30]]);
    const handed = await narrow.done("hand_off", { role: "read", ttlSec: 60 });
    const body = { token: handed["token"], name: "Reader" };
    const redeemed = await world.app.request("POST", "/v1/handoff/redeem", { body });
    assertEquals((redeemed.body.data as { branchRef: string; role: string }).branchRef, branchRef);
    await assertUntouched(world);
  },
});

async function assertOrders(client: Parameters<typeof queried>[0], count: number): Promise<void> {
  assertEquals(await queried(client, "SELECT count(*) FROM orders"), [[count]]);
}
