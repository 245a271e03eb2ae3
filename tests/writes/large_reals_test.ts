// A REAL beyond 2^53 has an exponent wherever rows are shown, so that it may be sent back as it stands.
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { branchIn, mergeBranch } from "../branches/merge_world.ts";
import { connectMcp } from "../mcp/mcp_client.ts";
import { heldBy, withWrites } from "./write_world.ts";

const { run, test } = oneStore();
Deno.test("large REALs that are shown", run);

const [ONE, TWO, THREE] = ["1.2345678901234568e+18", "9.007199254740992e+15", "-4e+20"];
const TABLE = ["CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL)", `INSERT INTO t VALUES (1, ${ONE})`];
const UPDATE = `UPDATE t SET r = ${TWO}`;

function assertShown({ status, text }: ApiAnswer, wanted: number, ...rows: readonly string[]): void {
  assertEquals(status, wanted, text);
  for (const row of rows) assertStringIncludes(text, row);
}

test("propose, a dry run, and whatever a person is shown of a held write have it", async () => {
  await withWrites(async (world) => {
    const { app, decide, post, rule, setup, shop } = world;
    await setup(...TABLE);
    const shown = [`"before":[[1,${ONE}]]`, `"after":[[1,${TWO}]]`];
    assertShown(await post("propose", { sql: UPDATE }), 200, ...shown);
    const dry = { headers: { "x-dry-run": "1" } };
    assertShown(await shop.query(UPDATE, [], dry), 200, ...shown);
    assertShown(await shop.batch([[UPDATE]], dry), 200, ...shown);
    await using agent = await connectMcp(app.app, { token: shop.token });
    assertStringIncludes((await agent.call("propose_write", { sql: UPDATE })).text, shown.join(","));

    await rule({ tableGlob: "t", effect: "require_approval" });
    const body = `{"sql":"UPDATE t SET r = ?","params":[${TWO}]}`;
    const held = heldBy(
      await app.request("POST", `${shop.database.path}/query`, { token: shop.token, body }),
    );
    const approvals = `/api/namespaces/${shop.slug}/approvals`;
    const ask = (method: string, path: string) =>
      app.request(method, `${approvals}${path}`, { token: app.operatorKey });
    const params = `"params":[${TWO}]`;
    assertShown(await ask("GET", ""), 200, params);
    assertShown(await ask("GET", `/${held.id}`), 200, params, ...shown);
    assertShown(await ask("POST", `/${held.id}/look`), 200, params, ...shown);
    assertShown(await decide(held.id, "approve"), 200, params, ...shown);
  });
});

test("a batch that stopped part-way tells it in what was kept", async () => {
  await withWrites(async ({ setup, shop }) => {
    await setup(...TABLE);
    const stopped = await shop.batch([["SELECT r, 'ä' FROM t"], ["SELECT none"]]);
    assertShown(stopped, 400, `"rows":[[${ONE},"ä"]]`);
  });
});

test("a try of an endpoint has it in the body that it shows", async () => {
  await withWrites(async ({ app, setup, shop }) => {
    await setup(...TABLE);
    const endpoints = `/api/namespaces/${shop.slug}/databases/main/endpoints`;
    const post = (path: string, body: object) =>
      app.request("POST", `${endpoints}${path}`, { token: shop.token, body });
    const spec = { name: "Large", slug: "large", kind: "query", method: "GET", sql: "SELECT r FROM t" };
    const made = await post("", { ...spec, input: [], output: "rows", auth: "public" });
    assertEquals(made.status, 201, made.text);
    assertShown(await post("/large/test", {}), 200, ONE);
  });
});

test("diffs, and conflicts of a merge, have it in their rows", async () => {
  await using app = await startApp();
  const world = await branchIn(app, "acme", TABLE);
  await world.branch("pr-1", UPDATE);
  assertShown(await world.call("GET", "branches/pr-1/diff"), 200, `[1,${ONE}]`, `[1,${TWO}]`);
  assertShown(await mergeBranch(world, { dryRun: true }), 200, `[1,${TWO}]`);
  await world.trunk(`UPDATE t SET r = ${THREE}`);
  assertShown(await mergeBranch(world), 409, ...[ONE, TWO, THREE].map((real) => `[1,${real}]`));
  const dry = { files: [{ name: "1.sql", sql: `INSERT INTO t VALUES (2, ${TWO})` }], dryRun: true };
  assertShown(await world.call("POST", "migrations", dry), 200, `[2,${TWO}]`);
});
