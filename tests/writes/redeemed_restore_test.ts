// What a restore and an import answer that a person has approved: the shape of the direct call, and true figures.
import { assert, assertEquals } from "@std/assert";
import { money } from "../money/money_world.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { strangersFile } from "../transfer/strangers_file.ts";
import { heldBy, writesIn, type WriteWorld } from "./write_world.ts";

const { run, test } = oneStore();
Deno.test("a restore that was approved", run);

/** Has the held call approved, and redeems it. */
async function approved({ decide, redeem }: WriteWorld, answer: ApiAnswer): Promise<ApiAnswer> {
  const held = heldBy(answer);
  assertEquals((await decide(held.id, "approve")).status, 200);
  const redeemed = await redeem(held.approvalToken);
  assertEquals(redeemed.status, 200, redeemed.text);
  return redeemed;
}

/** `meta` without the time it took, once that and its row in the query log are found right. */
async function figuresOf({ rows }: WriteWorld, { body: { meta } }: ApiAnswer): Promise<object> {
  assert(meta);
  const { durationMs, queryLogId, ...figures } = meta;
  assert(Number.isInteger(durationMs) && durationMs >= 0);
  assertEquals(
    await rows(
      `SELECT operation, status, rows_read, rows_written FROM _service_meta_query_log WHERE id = '${queryLogId}'`,
    ),
    [["restore", "ok", figures.rowsRead, figures.rowsWritten]],
  );
  return figures;
}

/** What the namespace has paid. */
async function used({ app, shop }: WriteWorld): Promise<number> {
  await app.deps.query.meter.tick();
  return (await money(app, shop)).used;
}

const figures = { rowsRead: 0, rowsWritten: 0, statementCount: 1, costUsd: 0 };

testSteps("redeem_approval answers", writesIn, {
  "as the restore, with figures of its row in the log": async (world) => {
    await world.setup("CREATE TABLE orders (v)", "INSERT INTO orders VALUES (1)");
    assertEquals((await world.post("snapshots", { label: "then" })).status, 201);
    const direct = (await world.post("restore", { snapshot: "then" })).body.data as object;
    await world.setup("DELETE FROM orders WHERE v = 1");
    await world.rule({ tableGlob: "orders", effect: "require_approval" });
    const held = await world.post("restore", { snapshot: "then" });
    const before = await used(world);
    assert(before > 0);
    const redeemed = await approved(world, held);
    assertEquals(await used(world), before);
    const { undo, ...data } = redeemed.body.data as { undo: string };
    assertEquals(data as unknown, { snapshot: "then", setAside: null });
    assertEquals(Object.keys(redeemed.body.data as object), Object.keys(direct));
    assertEquals(await figuresOf(world, redeemed), { ...figures, snapshot: undo });
    assertEquals(await world.rows("SELECT v FROM orders"), [[1]]);
  },
  "that there is another look to decide by, where it would bring back something else or a rule has come since":
    async (world) => {
      const { app, shop, post, rule, setup, decide, redeem, rows } = world;
      await setup("CREATE TABLE orders (v)", "CREATE TABLE other (v)", "INSERT INTO other VALUES (1)");
      await setup("INSERT INTO orders VALUES (1)");
      assertEquals((await post("snapshots", { label: "then" })).status, 201);
      await setup("UPDATE orders SET v = 2", "UPDATE other SET v = 2");
      await rule({ tableGlob: "orders", effect: "require_approval" });
      const { id, approvalToken } = heldBy(await post("restore", { snapshot: "then" }));
      const look = async () => {
        const path = `/api/namespaces/${shop.slug}/approvals/${id}/look`;
        const answer = await app.request("POST", path, { token: app.operatorKey });
        return JSON.parse(answer.text).data.look;
      };
      assertEquals(await look(), 0);
      await setup("INSERT INTO other VALUES (3)");
      assertEquals([await look(), await look()], [1, 1]);
      assertEquals((await decide(id, "approve", { look: 1 })).status, 200);
      await rule({ tableGlob: "other", effect: "require_approval" });
      assertEquals((await redeem(approvalToken)).body.code, "effect_changed");
      assertEquals(await rows("SELECT v FROM orders"), [[2]]);
      assertEquals((await decide(id, "approve", { look: 2 })).status, 200);
      assertEquals((await redeem(approvalToken)).status, 200);
      assertEquals(await rows("SELECT v FROM orders"), [[1]]);
    },
  "as the import, with what the file held and what was lost, also after another look": async (world) => {
    const { app, shop } = world;
    const migration = { name: "1_orders.sql", sql: "CREATE TABLE orders (v)" };
    assertEquals((await world.post("migrations", { files: [migration] })).status, 200);
    await world.rule({ tableGlob: "orders", effect: "require_approval" });
    const path = `${shop.database.path}/import?format=sqlite&mode=replace`;
    const file = strangersFile("CREATE TABLE orders (v); INSERT INTO orders VALUES (2), (3)");
    const held = await app.request("POST", path, { token: shop.token, body: file });
    await world.setup("CREATE TABLE more (v)", "INSERT INTO more VALUES (1)");
    const { id, approvalToken } = heldBy(held);
    assertEquals((await world.decide(id, "approve")).status, 200);
    assertEquals((await world.redeem(approvalToken)).body.code, "effect_changed");
    assertEquals((await world.decide(id, "approve", { look: 1 })).status, 200);
    const redeemed = await world.redeem(approvalToken);
    assertEquals(redeemed.status, 200, redeemed.text);
    const { snapshot, ...data } = redeemed.body.data as { snapshot: string };
    assertEquals(data as unknown, {
      tables: 1,
      rows: 2,
      notKept: ["the 1 records of migrations: record a baseline of the files that are in effect now"],
    });
    assertEquals(await figuresOf(world, redeemed), { ...figures, snapshot });
    assertEquals(await world.rows("SELECT v FROM orders"), [[2], [3]]);
  },
}, test);
