// What a look at a write costs that a rule asks for: nothing beside the write that then runs, a call's price where it stops.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { heldBy, withWrites } from "../writes/write_world.ts";
import { money, nano } from "./money_world.ts";

const { run, test } = oneStore();
Deno.test("looks", run);

const [REQUEST, READ, WRITTEN] = [500, 5, 2000];

test("a held write and one denied for its rows bill the request and what the look read; one that passes bills its run", async () => {
  await withWrites(async ({ app, decide, redeem, rule, setup, shop }) => {
    const thousand = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 1000)";
    await setup("CREATE TABLE t (a)", `${thousand} INSERT INTO t SELECT i FROM c`, "CREATE TABLE u (a)");
    await rule({ tableGlob: "t", effect: "require_approval", minRows: 500 });
    await rule({ tableGlob: "t", actions: ["delete"], effect: "deny", minRows: 900 });
    await rule({ tableGlob: "u", effect: "deny" });
    const costOf = async (call: () => Promise<ApiAnswer>) => {
      await app.deps.query.meter.tick();
      const { used } = await money(app, shop);
      const answer = await call();
      await app.deps.query.meter.tick();
      return { answer, cost: (await money(app, shop)).used - used };
    };
    const held = await costOf(() => shop.query("UPDATE t SET a = 0 WHERE a > 3"));
    const { id, approvalToken } = heldBy(held.answer);
    assertEquals(held.cost, REQUEST + 1000 * READ);
    const denied = await costOf(() => shop.query("DELETE FROM t WHERE a >= 0"));
    assertEquals([denied.answer.status, denied.answer.body.code], [403, "rule_denied"]);
    assertEquals(denied.cost, REQUEST + 1000 * READ);
    const plain = await costOf(() => shop.query("INSERT INTO u VALUES (1)"));
    assertEquals([plain.answer.body.code, plain.cost], ["rule_denied", 0], "no look, no price");
    const passed = await costOf(() => shop.query("UPDATE t SET a = 0 WHERE a <= 3"));
    assertEquals(passed.cost, nano(passed.answer.body.meta?.costUsd));
    assertEquals(passed.cost, REQUEST + 1000 * READ + 3 * WRITTEN);
    await decide(id, "approve");
    const redeemed = await costOf(() => redeem(approvalToken));
    assertEquals([redeemed.answer.status, redeemed.cost], [200, nano(redeemed.answer.body.meta?.costUsd)]);
    assertEquals(redeemed.cost, REQUEST + 1000 * READ + 997 * WRITTEN);
  });
});

test("without money a rule has no write looked at", async () => {
  await withWrites(async ({ app, rule, setup, shop }) => {
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    for (let calls = 0; calls < 100; calls++) {
      const answer = await shop.query("INSERT INTO t VALUES (1)");
      await app.deps.query.meter.tick();
      if (answer.status === 402) {
        assertEquals(answer.body.code, "balance_exhausted");
        return;
      }
      heldBy(answer);
    }
    throw new Error("the looks cost nothing");
  }, { settings: { WELCOME_CREDIT_USD: "0.00001" } });
});
