// X-Integers: string on every call that answers with rows of a database.
import { assertEquals } from "@std/assert";
import { reportOf } from "../branches/branch_world.ts";
import { mergeBranch, withBranch } from "../branches/merge_world.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { heldBy, withWrites } from "../writes/write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("integers as strings", run);

const AS_STRINGS = { headers: { "x-integers": "string" } };
const ODD = { headers: { "x-integers": "text" } };
const T = ["CREATE TABLE t (id INTEGER PRIMARY KEY, v REAL)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"];
const UPDATE = "UPDATE t SET v = v + 1 WHERE id = 1 RETURNING id, v";

function assertNamed({ status, body }: ApiAnswer): void {
  assertEquals([status, body.issues?.map(({ path }) => path)], [400, ["X-Integers"]]);
}

test("apply answers as its own request asks, or as the proposal did", async () => {
  await withWrites(async ({ apply, propose, setup }) => {
    await setup(...T);
    const { executionToken } = await propose(UPDATE);
    assertNamed(await apply(executionToken, ODD));
    assertEquals(rowsOf(await apply(executionToken, AS_STRINGS)), [["1", 2]]);
    const asked = await propose(UPDATE, [], AS_STRINGS);
    assertEquals(rowsOf(await apply(asked.executionToken)), [["1", 3]]);
    assertEquals(rowsOf(await apply((await propose(UPDATE)).executionToken)), [[1, 4]]);
  });
});

test("redeem_approval answers as its own request asks, or as the held call did", async () => {
  await withWrites(async ({ decide, post, redeem, rule, setup }) => {
    await setup(...T);
    await rule({ tableGlob: "t", effect: "require_approval" });
    for (
      const [asked, redeemed, id] of [[{}, AS_STRINGS, "1"], [AS_STRINGS, {}, "1"], [{}, {}, 1]] as const
    ) {
      const held = heldBy(await post("query", { sql: UPDATE }, asked));
      await decide(held.id, "approve");
      const answer = await redeem(held.approvalToken, redeemed);
      assertEquals(rowsOf(answer)[0]?.[0], id, answer.text);
    }
  });
});

test("a diff and the reports of merges show rows as the request asks", async () => {
  await withBranch(async (world) => {
    const { app, branch, shop, trunk } = world;
    await branch("pr-1", "INSERT INTO items VALUES (4, 'nib', 5)");
    await branch("pr-1", "DELETE FROM items WHERE id = 3");
    await branch("pr-1", "UPDATE items SET price = 11 WHERE id = 1");
    await trunk("UPDATE items SET price = 12 WHERE id = 1");
    const send = (method: string, operation: string, body?: unknown, options = AS_STRINGS) =>
      app.request(method, `${shop.database.path}/branches/pr-1/${operation}`, {
        ...{ ...options, token: shop.token },
        ...(body === undefined ? {} : { body }),
      });
    const rows = {
      added: [["4", "nib", "5"]],
      removed: [["3", "cap", "30"]],
      changed: [{ before: ["1", "pen", "10"], after: ["1", "pen", "11"] }],
    };
    const [table] = reportOf(await send("GET", "diff")).tables;
    assertEquals([table?.rows, table?.added], [rows, 1]);
    const [plain] = (await world.diff("pr-1")).tables;
    // The same changes, whatever they are shown as.
    assertEquals([plain?.rows.added, plain?.digest], [[[4, "nib", 5]], table?.digest]);
    const merge = { mode: "data", onConflict: "abort" };
    assertNamed(await send("POST", "merge", merge, ODD));
    for (const dryRun of [true, false]) {
      const answer = await send("POST", "merge", { ...merge, dryRun });
      assertEquals(answer.status, dryRun ? 200 : 409, answer.text);
      const { conflicts: { items: [conflict] }, tables: [table] } = reportOf(answer);
      assertEquals(table?.rows, rows);
      assertEquals([conflict?.key, conflict?.ours], [["1"], ["1", "pen", "12"]]);
    }
    const merged = reportOf(await send("POST", "merge", { ...merge, onConflict: "theirs" }));
    assertEquals([merged.tables[0]?.rows, merged.rowsWritten], [rows, 3]);
  });
});

test("a redeemed merge shows rows as the redeeming request asks, or as the held one did", async () => {
  await withBranch(async (world) => {
    const { app, branch, call, shop } = world;
    const body = { tableGlob: "items", effect: "require_approval" };
    const rules = "/api/namespaces/acme/databases/main/rules";
    assertEquals((await app.request("POST", rules, { token: shop.token, body })).status, 201);
    const post = (operation: string, body: unknown, options: typeof AS_STRINGS) =>
      app.request("POST", `${shop.database.path}/${operation}`, { token: shop.token, ...options, body });
    let id = 4;
    for (const asked of [false, true]) {
      await branch("pr-1", "INSERT INTO items (id, name) VALUES (?, 'nib')", [id]);
      const how = { mode: "data", onConflict: "abort" };
      const held = heldBy(
        asked ? await post("branches/pr-1/merge", how, AS_STRINGS) : await mergeBranch(world),
      );
      const path = `/api/namespaces/acme/approvals/${held.id}/approve`;
      assertEquals((await app.request("POST", path, { token: app.operatorKey })).status, 200);
      const token = { approvalToken: held.approvalToken };
      const answer = asked
        ? await call("POST", "redeem_approval", token)
        : await post("redeem_approval", token, AS_STRINGS);
      assertEquals(reportOf(answer).tables[0]?.rows.added.at(-1), [String(id++), "nib", null], answer.text);
    }
  });
});
