// Approval rules: what they hold, who decides, and that what runs is what was approved.
import { assert, assertEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("held writes", run);

async function withShop(body: (shop: TestNamespace, app: StartedApp) => Promise<void>): Promise<void> {
  await using app = await startApp();
  const shop = await app.namespace();
  await shop.batch([
    ["CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER)"],
    ["CREATE VIEW all_orders AS SELECT * FROM orders"],
    ["CREATE TRIGGER through INSTEAD OF DELETE ON all_orders BEGIN DELETE FROM orders WHERE id = old.id; END"],
    ["INSERT INTO orders VALUES (1, 10), (2, 20), (3, 30)"],
  ]);
  await body(shop, app);
}

async function rule(app: StartedApp, shop: TestNamespace, settings: unknown): Promise<void> {
  const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
  const answer = await app.request("POST", path, { token: shop.token, body: settings });
  assertEquals(answer.status, 201, answer.text);
}

function envelope(answer: ApiAnswer): { approvalToken: string; id: string } {
  assertEquals([answer.status, answer.body.code], [403, "approval_required"], answer.text);
  const { approvalToken, approvalUrl, hits, expiresAt } = JSON.parse(answer.text);
  assert(approvalToken.startsWith("appr_") && hits.length > 0 && expiresAt);
  return { approvalToken, id: approvalUrl.split("/").at(-1) };
}

function decide(app: StartedApp, shop: TestNamespace, id: string, verb: string, more: ApiRequest = {}) {
  const path = `/api/namespaces/${shop.slug}/approvals/${id}/${verb}`;
  return app.request("POST", path, { token: app.operatorKey, ...more });
}

function redeem(app: StartedApp, shop: TestNamespace, approvalToken: string, token = shop.token) {
  return app.request("POST", `${shop.database.path}/redeem_approval`, { token, body: { approvalToken } });
}

const count = async (shop: TestNamespace) => rowsOf(await shop.query("SELECT count(*) FROM orders"))[0]?.[0];

test("a write that a rule matches is held, approved by a person, and runs once for whoever asked", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "ord*", actions: ["delete"], effect: "require_approval" });
    const held = envelope(await shop.query("DELETE FROM orders WHERE id = ?", [2]));
    assertEquals(await count(shop), 3);
    assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "approval_pending");
    const byAgent = await decide(app, shop, held.id, "approve", { token: shop.token });
    assertEquals([byAgent.status, byAgent.body.code], [403, "person_required"]);
    const approved = await decide(app, shop, held.id, "approve");
    assertEquals(approved.status, 200, approved.text);
    const shown = JSON.parse(approved.text).data;
    assertEquals([shown.state, shown.affectedRows, shown.statements[0].params], ["approved", 1, [2]]);
    assertEquals(shown.effects[0].preview.before, [[2, 20]]);
    const other = await shop.mint("admin");
    assertEquals((await redeem(app, shop, held.approvalToken, other.token)).body.code, "not_yours");
    const ran = await redeem(app, shop, held.approvalToken);
    assertEquals([ran.status, ran.body.meta?.rowsWritten], [200, 1], ran.text);
    assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "approval_not_found");
    assertEquals(await count(shop), 2);
  });
});

test("a held write that is sent again under its key after it has run gets what ran", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", actions: ["insert"], effect: "require_approval" });
    const headers = { "Idempotency-Key": "order-9" };
    const send = (total: number) =>
      shop.query("INSERT INTO orders (total) VALUES (?) RETURNING id", [total], { headers });
    const held = envelope(await send(90));
    assertEquals(envelope(await send(90)), held);
    await decide(app, shop, held.id, "approve");
    const ran = await redeem(app, shop, held.approvalToken);
    assertEquals([ran.status, ran.headers.get("idempotency-replayed")], [200, null], ran.text);
    const again = await send(90);
    assertEquals([again.text, again.headers.get("idempotency-replayed")], [ran.text, "true"]);
    assertEquals((await send(91)).body.code, "replay_mismatch");
    assertEquals(await count(shop), 4);
  });
});

test("a held write that ran without the rule, under its key, does not run again when its approval is redeemed", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", actions: ["insert"], effect: "require_approval" });
    const send = () =>
      shop.query("INSERT INTO orders (total) VALUES (90)", [], { headers: { "Idempotency-Key": "order-9" } });
    const held = envelope(await send());
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const { body: { data } } = await app.request("GET", path, { token: shop.token });
    const [{ id }] = data as [{ id: string }];
    assertEquals((await app.request("DELETE", `${path}/${id}`, { token: shop.token })).status, 200);
    const ran = await send();
    assertEquals(ran.status, 200, ran.text);
    await decide(app, shop, held.id, "approve");
    const redeemed = await redeem(app, shop, held.approvalToken);
    assertEquals([redeemed.text, redeemed.headers.get("idempotency-replayed")], [ran.text, "true"]);
    assertEquals(await count(shop), 4);
  });
});

test("views, triggers, CTEs and batches do not get round a rule", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "ORDERS", effect: "deny" });
    for (
      const sql of [
        "DELETE FROM all_orders WHERE id = 1",
        "WITH x AS (SELECT 1 AS id) DELETE FROM orders WHERE id IN (SELECT id FROM x)",
        "REPLACE INTO orders VALUES (1, 0)",
        "DROP TABLE orders",
      ]
    ) {
      const answer = await shop.query(sql);
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], sql);
      assertEquals(JSON.parse(answer.text).approvalToken, undefined);
    }
    const batch = await shop.batch([["CREATE TABLE free (a)"], ["DELETE FROM orders"]]);
    assertEquals(batch.body.code, "rule_denied");
    assertEquals((await shop.query("SELECT * FROM free")).body.errorDetail?.kind, "unknown_table");
    assertEquals(await count(shop), 3);
  });
});

test("a rule from so many rows on lets less pass and holds the rest", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "*", effect: "require_approval", minRows: 2 });
    assertEquals((await shop.query("DELETE FROM orders WHERE id = 1")).status, 200);
    envelope(await shop.query("DELETE FROM orders WHERE id > 1"));
    assertEquals(await count(shop), 2);
  });
});

test("a rule does not hold what changes more rows than X-Max-Affected, and redeeming keeps to that too", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, {
      ...{ tableGlob: "orders", actions: ["delete"], effect: "require_approval", tolerance: 5 },
    });
    const atMost = (rows: number) => ({ headers: { "x-max-affected": String(rows) } });
    const refused = await shop.query("DELETE FROM orders", [], atMost(2));
    assertEquals([refused.status, refused.body.code], [400, "too_many_affected"], refused.text);
    assertEquals([JSON.parse(refused.text).affected, JSON.parse(refused.text).approvalToken], [3, undefined]);
    const batch = await shop.batch([["DELETE FROM orders WHERE id = 1"], ["DELETE FROM orders"]], atMost(2));
    assertEquals([batch.body.code, batch.body.failedIndex, batch.body.data], ["too_many_affected", 1, []]);
    assertEquals(await count(shop), 3);
    const held = envelope(await shop.query("DELETE FROM orders WHERE total >= 20", [], atMost(2)));
    await decide(app, shop, held.id, "approve");
    await shop.query("INSERT INTO orders VALUES (4, 40)");
    // Within what the rule tolerates, and more than the caller wants.
    const more = await redeem(app, shop, held.approvalToken);
    assertEquals([more.status, more.body.code], [400, "too_many_affected"], more.text);
    assertEquals(await count(shop), 4);
    const shown = await app.request("GET", `/api/namespaces/${shop.slug}/approvals/${held.id}`, {
      token: shop.token,
    });
    assertEquals(JSON.parse(shown.text).data.outcome?.code, "too_many_affected", shown.text);
    const again = envelope(await shop.query("DELETE FROM orders WHERE total >= 20", [], atMost(3)));
    await decide(app, shop, again.id, "approve");
    assertEquals((await redeem(app, shop, again.approvalToken)).status, 200);
    assertEquals(await count(shop), 1);
  });
});

test("an approved write whose effect has changed waits for another look", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", actions: ["delete"], effect: "require_approval" });
    // What the strictest rule tolerates counts.
    const lenient = { tableGlob: "*", actions: ["delete"], effect: "require_approval", tolerance: 5 };
    await rule(app, shop, lenient);
    const held = envelope(await shop.query("DELETE FROM orders WHERE total >= 20"));
    await decide(app, shop, held.id, "approve");
    await shop.query("INSERT INTO orders VALUES (4, 40)");
    const changed = await redeem(app, shop, held.approvalToken);
    assertEquals([changed.status, changed.body.code], [409, "effect_changed"], changed.text);
    const { approvedRows, affectedRows } = JSON.parse(changed.text);
    assertEquals([approvedRows, affectedRows, await count(shop)], [2, 3, 4]);
    const logged = await shop.query(
      "SELECT error_kind, rows_written FROM _service_meta_query_log WHERE operation = 'redeem_approval'",
    );
    assertEquals(rowsOf(logged), [["effect_changed", 3]]);
    assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "approval_pending");
    await decide(app, shop, held.id, "approve", { body: { look: 1 } });
    assertEquals((await redeem(app, shop, held.approvalToken)).status, 200);
    assertEquals(await count(shop), 1);
  });
});

test("a repeated approval does not approve what has changed since: the last look has to be named", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", actions: ["delete"], effect: "require_approval" });
    const held = envelope(await shop.query("DELETE FROM orders WHERE total >= 20"));
    const approve = (body?: object) => decide(app, shop, held.id, "approve", body ? { body } : {});
    const first = JSON.parse((await approve()).text).data;
    assertEquals([first.state, first.affectedRows, first.look], ["approved", 2, 0]);
    assertEquals((await approve({ look: 0 })).status, 200);
    await shop.query("INSERT INTO orders SELECT value, 40 FROM json_each('[4, 5, 6, 7, 8, 9]')");
    assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "effect_changed");
    for (const body of [undefined, {}, { look: 0 }, { look: 2 }]) {
      const stale = await approve(body);
      assertEquals([stale.status, stale.body.code], [409, "effect_changed"], stale.text);
      assertEquals([JSON.parse(stale.text).affectedRows, JSON.parse(stale.text).look], [8, 1]);
    }
    assertEquals((await approve({ looks: 1 })).status, 400);
    assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "approval_pending");
    assertEquals(await count(shop), 9);
    const list = await app.request("GET", `/api/namespaces/${shop.slug}/approvals`, { token: shop.token });
    const [{ look }] = JSON.parse(list.text).data;
    assertEquals((await approve({ look })).status, 200);
    assertEquals((await redeem(app, shop, held.approvalToken)).status, 200);
    assertEquals(await count(shop), 1);
  });
});

for (const verb of ["approve", "deny"]) {
  Deno.test(`who decides while the write waits for another look anew is told so: ${verb}`, async () => {
    await withShop(async (shop, app) => {
      await rule(app, shop, { tableGlob: "orders", actions: ["delete"], effect: "require_approval" });
      const held = envelope(await shop.query("DELETE FROM orders WHERE total >= 20"));
      beforeTheMove(app, async () => {
        assertEquals((await decide(app, shop, held.id, "approve")).status, 200);
        await shop.query("INSERT INTO orders VALUES (4, 40)");
        assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "effect_changed");
      });
      const late = await decide(app, shop, held.id, verb);
      assertEquals([late.status, late.body.code], [409, "effect_changed"], late.text);
      assertEquals([JSON.parse(late.text).affectedRows, JSON.parse(late.text).look], [3, 1]);
      const again = await decide(app, shop, held.id, verb, verb === "approve" ? { body: { look: 1 } } : {});
      assertEquals(again.status, 200, again.text);
    });
  });
}

test("two people who decide the same at once are both told so, and who decides otherwise that it is decided", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", actions: ["delete"], effect: "require_approval" });
    for (const verb of ["approve", "deny"]) {
      const held = envelope(await shop.query("DELETE FROM orders WHERE total >= 20"));
      beforeTheMove(app, () => decide(app, shop, held.id, "approve"));
      const late = await decide(app, shop, held.id, verb);
      const told = verb === "approve" ? [200, undefined] : [409, "approval_decided"];
      assertEquals([late.status, late.body.code], told, late.text);
    }
  });
});

/** Does something right before the next approval is moved. */
function beforeTheMove(app: StartedApp, work: () => Promise<unknown>): void {
  const { approvals } = app.deps.query;
  const move = approvals.move.bind(approvals);
  approvals.move = async (record, from, change) => {
    approvals.move = move;
    await work();
    return move(record, from, change);
  };
}

test("a process that dies while it looks at an approved write again leaves the list of approvals readable", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", actions: ["delete"], effect: "require_approval" });
    const held = envelope(await shop.query("DELETE FROM orders WHERE total >= 20"));
    await decide(app, shop, held.id, "approve");
    // What it would do now takes more pieces than what was held.
    await shop.query("ALTER TABLE orders ADD COLUMN note TEXT");
    await shop.query(
      "INSERT INTO orders SELECT value, 40, hex(zeroblob(20000)) FROM json_each('[4, 5, 6, 7]')",
    );
    const { approvals } = app.deps.query;
    const move = approvals.move.bind(approvals);
    approvals.move = (record, from, change) =>
      from === "redeemed" ? Promise.reject(new Error("killed")) : move(record, from, change);
    assertEquals((await redeem(app, shop, held.approvalToken)).status, 500);
    approvals.move = move;
    const path = `/api/namespaces/${shop.slug}/approvals`;
    const list = await app.request("GET", path, { token: shop.token });
    assertEquals(list.status, 200, list.text);
    const [shown] = JSON.parse(list.text).data;
    assertEquals([shown.id, shown.affectedRows, shown.effects[0].preview.before.length], [held.id, 2, 2]);
  });
});

test("a denied write never runs, and its requester hears why", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", effect: "require_approval", unboundedOnly: true });
    const held = envelope(await shop.query("UPDATE orders SET total = 0"));
    const path = `${shop.database.path}/approvals/${held.approvalToken}`;
    const waiting = app.request("GET", `${path}?waitSec=5`, { token: shop.token });
    const denied = await app.request("POST", `/api/namespaces/${shop.slug}/approvals/${held.id}/deny`, {
      token: app.operatorKey,
      body: { reason: "not on a Friday" },
    });
    assertEquals(denied.status, 200);
    const { state, reason } = JSON.parse((await waiting).text).data;
    assertEquals([state, reason], ["denied", "not on a Friday"]);
    assertEquals((await redeem(app, shop, held.approvalToken)).body.code, "approval_denied");
    assertEquals((await shop.query("UPDATE orders SET total = 0 WHERE id = 1")).status, 200);
  });
});

test("apply meets the rules too, and the approval carries the write from then on", async () => {
  await withShop(async (shop, app) => {
    const proposed = await app.request("POST", `${shop.database.path}/propose`, {
      token: shop.token,
      body: { sql: "DELETE FROM orders WHERE id = 1" },
    });
    const { executionToken } = JSON.parse(proposed.text).data;
    await rule(app, shop, { tableGlob: "orders", effect: "require_approval" });
    const apply = () =>
      app.request("POST", `${shop.database.path}/apply`, { token: shop.token, body: { executionToken } });
    const held = envelope(await apply());
    assertEquals((await apply()).status, 404);
    await decide(app, shop, held.id, "approve");
    assertEquals((await redeem(app, shop, held.approvalToken)).status, 200);
    assertEquals(await count(shop), 2);
  });
});

test("a call that can only fail is told so at once and is not held for a person", async () => {
  await withShop(async (shop, app) => {
    await rule(app, shop, { tableGlob: "orders", effect: "require_approval" });
    const hopeless = await shop.batch([["DELETE FROM orders"], ["SELEC 1"]], { transaction: true });
    assertEquals([hopeless.status, hopeless.body.failedIndex], [400, 1], hopeless.text);
    const waiting = await app.request("GET", `/api/namespaces/${shop.slug}/approvals`, { token: shop.token });
    assertEquals(JSON.parse(waiting.text).data, []);
    assertEquals(await count(shop), 3);
  });
});
