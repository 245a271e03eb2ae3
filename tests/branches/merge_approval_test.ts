// Merges that approval rules hold: a person sees what they would do, and what runs is what was seen.
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { assertReplay, step } from "../replay/keyed.ts";
import { money } from "../money/money_world.ts";
import { type Held, heldBy } from "../writes/write_world.ts";
import type { BranchWorld } from "./branch_world.ts";
import { reportOf } from "./branch_world.ts";
import { keys } from "../../lib/store/keys.ts";
import type { TokenRecord } from "../../lib/store/records.ts";
import { mergeBranch, onBranch, withBranch } from "./merge_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("merges that approval rules hold", run);

async function withRule(settings: object, body: (world: BranchWorld) => Promise<void>): Promise<void> {
  await withBranch(async (world) => {
    await addRule(world, settings);
    await body(world);
  });
}

async function addRule({ app, shop }: BranchWorld, settings: object): Promise<void> {
  const rule = { tableGlob: "items", effect: "require_approval", ...settings };
  const path = "/api/namespaces/acme/databases/main/rules";
  const answer = await app.request("POST", path, { token: shop.token, body: rule });
  assertEquals(answer.status, 201, answer.text);
}

function decide({ app }: BranchWorld, { id }: Held, verb: "approve" | "deny", more: ApiRequest = {}) {
  const path = `/api/namespaces/acme/approvals/${id}/${verb}`;
  return app.request("POST", path, { token: app.operatorKey, ...more });
}

async function approve(world: BranchWorld, held: Held, look = 0): Promise<void> {
  const answer = await decide(world, held, "approve", { body: { look } });
  assertEquals(answer.status, 200, answer.text);
}

function redeem({ call }: BranchWorld, { approvalToken }: Held, token?: string): Promise<ApiAnswer> {
  return call("POST", "redeem_approval", { approvalToken }, token);
}

function code({ status, body }: ApiAnswer): unknown[] {
  return [status, body.code];
}

const ids = "SELECT id FROM items ORDER BY id";

test("a merge that a rule holds waits for a person, who sees its report, and runs once for whoever asked", async () => {
  await withRule({ actions: ["delete"] }, async (world) => {
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const held = heldBy(await mergeBranch(world));
    assertEquals(await world.trunk(ids), [[1], [2], [3]]);
    const list = await world.app.request("GET", "/api/namespaces/acme/approvals?state=pending", {
      token: world.app.operatorKey,
    });
    const [shown] = JSON.parse(list.text).data;
    assertEquals([shown.id, shown.affectedRows, shown.statements], [held.id, 1, []]);
    const { branchRef, mode, onConflict, report } = shown.merge;
    assertEquals([branchRef, mode, onConflict], ["pr-1", "data", "abort"]);
    assertEquals([report.tables[0].removed, report.tables[0].rows.removed[0][0]], [1, 2]);
    assertEquals(code(await redeem(world, held)), [409, "approval_pending"]);
    assertEquals(code(await decide(world, held, "approve", world.shop)), [403, "person_required"]);
    await approve(world, held);
    const other = await world.shop.mint("admin");
    assertEquals(code(await redeem(world, held, other.token)), [403, "not_yours"]);
    const redeemed = await redeem(world, held);
    assertEquals(redeemed.status, 200, redeemed.text);
    assertEquals([reportOf(redeemed).rowsWritten, reportOf(redeemed).tables.length], [1, 1]);
    const { meta } = redeemed.body;
    assertEquals([meta?.rowsWritten, meta?.snapshot], [1, reportOf(redeemed).snapshot]);
    const log = "SELECT operation FROM _service_meta_query_log WHERE id = ?";
    assertEquals(await world.trunk(log, [meta?.queryLogId]), [["merge"]]);
    assertEquals(await world.trunk(ids), [[1], [3]]);
    assertEquals(code(await redeem(world, held)), [404, "approval_not_found"]);
    const { snapshot } = JSON.parse(redeemed.text).data;
    assertEquals((await world.call("POST", "restore", { snapshot })).status, 200);
    assertEquals(await world.trunk(ids), [[1], [2], [3]]);
  });
});

test("of many who redeem one approved merge at once exactly one merges", async () => {
  await withRule({}, async (world) => {
    await onBranch(world, "UPDATE items SET price = price + 1 WHERE id = 1");
    const held = heldBy(await mergeBranch(world));
    await approve(world, held);
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(world, held)));
    const statuses = answers.map(({ status }) => status).sort();
    assertEquals(statuses, [200, ...Array(19).fill(404)]);
    const log = await world.trunk("SELECT count(*) FROM _service_meta_audit WHERE operation = 'merge'");
    assertEquals(log, [[1]]);
  });
});

test("other changes of the branch, as many as were approved, wait for another look", async () => {
  await withRule({ actions: ["delete"] }, async (world) => {
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const held = heldBy(await mergeBranch(world));
    await approve(world, held);
    await onBranch(world, "INSERT INTO items VALUES (2, 'ink', 20)", "DELETE FROM items WHERE id = 3");
    const changed = await redeem(world, held);
    assertEquals(code(changed), [409, "effect_changed"], changed.text);
    assertEquals(await world.trunk(ids), [[1], [2], [3]]);
    assertEquals(code(await redeem(world, held)), [409, "approval_pending"]);
    const shown = JSON.parse((await decide(world, held, "approve", { body: { look: 1 } })).text).data;
    assertEquals(shown.merge.report.tables[0].rows.removed[0][0], 3);
    assertEquals((await redeem(world, held)).status, 200);
    assertEquals(await world.trunk(ids), [[1], [2]]);
  });
});

test("a trunk on which the merge would write another number of rows waits for another look", async () => {
  await withRule({}, async (world) => {
    await onBranch(world, "UPDATE items SET price = 77 WHERE id < 3");
    const held = heldBy(await mergeBranch(world, { onConflict: "ours" }));
    await approve(world, held);
    const approval = heldBy(
      await world.call("POST", "query", { sql: "UPDATE items SET price = 5 WHERE id = 1" }),
    );
    await approve(world, approval);
    assertEquals((await redeem(world, approval)).status, 200);
    const changed = await redeem(world, held);
    assertEquals(code(changed), [409, "effect_changed"], changed.text);
    assertEquals([JSON.parse(changed.text).approvedRows, JSON.parse(changed.text).affectedRows], [2, 1]);
    await approve(world, held, 1);
    assertEquals((await redeem(world, held)).status, 200);
    assertEquals(await world.trunk("SELECT price FROM items WHERE id < 3 ORDER BY id"), [[5], [77]]);
  });
});

for (const [tolerance, status] of [[0, 409], [1, 200]] as const) {
  const becomes = status === 200 ? "runs" : "waits for another look";
  test(`a merge that would write a row less, where ${tolerance} are tolerated, ${becomes}`, async () => {
    await withRule({ minRows: 2, tolerance }, async (world) => {
      await onBranch(world, "UPDATE items SET price = 77 WHERE id < 3");
      const held = heldBy(await mergeBranch(world));
      await approve(world, held);
      // What the branch has changed already: no conflict, and nothing to write.
      await world.trunk("UPDATE items SET price = 77 WHERE id = 1");
      const redeemed = await redeem(world, held);
      assertEquals(redeemed.status, status, redeemed.text);
    });
  });
}

test("a trunk on which the merge would write as many rows in other ways waits for another look", async () => {
  await withRule({ minRows: 2 }, async (world) => {
    const all = "SELECT name, price FROM items WHERE id IN (1, 50) ORDER BY id";
    await onBranch(
      world,
      "INSERT INTO items VALUES (50, 'nib', 1)",
      "UPDATE items SET price = 11 WHERE id = 1",
    );
    const held = heldBy(await mergeBranch(world, { onConflict: "theirs" }));
    await approve(world, held);
    await world.trunk("INSERT INTO items VALUES (50, 'own', 99)");
    const changed = await redeem(world, held);
    assertEquals(code(changed), [409, "effect_changed"], changed.text);
    assertEquals(await world.trunk(all), [["pen", 10], ["own", 99]]);
    const looked = await decide(world, held, "approve", { body: { look: 1 } });
    const { report } = JSON.parse(looked.text).data.merge;
    assertEquals(report.writes, [{ action: "update", table: "items", rows: 2 }]);
    assertEquals(report.conflicts.count, 1);
    assertEquals((await redeem(world, held)).status, 200);
    assertEquals(await world.trunk(all), [["pen", 11], ["nib", 1]]);
  });
});

test("another row of the trunk that the merge would overwrite waits for another look, also where a report does not show it", async () => {
  await withBranch(async (world) => {
    await onBranch(world, "UPDATE items SET price = 77");
    await world.trunk("UPDATE items SET price = 5");
    await addRule(world, { minRows: 2 });
    const held = heldBy(await mergeBranch(world, { onConflict: "theirs" }));
    await approve(world, held);
    await world.trunk("UPDATE items SET price = 6 WHERE id = 150");
    const changed = await redeem(world, held);
    assertEquals(code(changed), [409, "effect_changed"], changed.text);
    assertEquals(await world.trunk("SELECT count(*) FROM items WHERE price = 77"), [[0]]);
    const looked = await decide(world, held, "approve", { body: { look: 1 } });
    const { conflicts } = JSON.parse(looked.text).data.merge.report;
    assertEquals([conflicts.count, conflicts.items.length], [150, 100]);
    assertEquals((await redeem(world, held)).status, 200);
    assertEquals(await world.trunk("SELECT count(*) FROM items WHERE price = 77"), [[150]]);
  }, [
    "WITH RECURSIVE n(id) AS (SELECT 4 UNION ALL SELECT id + 1 FROM n WHERE id < 150) INSERT INTO items SELECT id, 'one', 1 FROM n",
  ]);
});

test("an approved change that has become another action for the same rule waits for another look, and runs after it", async () => {
  await withRule({ actions: ["update", "insert"] }, async (world) => {
    await onBranch(world, "UPDATE items SET price = 11 WHERE id = 1");
    const held = heldBy(await mergeBranch(world, { onConflict: "theirs" }));
    await approve(world, held);
    await world.trunk("DELETE FROM items WHERE id = 1");
    const changed = await redeem(world, held);
    assertEquals(code(changed), [409, "effect_changed"], changed.text);
    assertEquals(code(await redeem(world, held)), [409, "approval_pending"]);
    const looked = await decide(world, held, "approve", { body: { look: 1 } });
    const { state, hits } = JSON.parse(looked.text).data;
    assertEquals([state, hits.length, hits[0].action], ["approved", 1, "insert"]);
    const redeemed = await redeem(world, held);
    assertEquals(redeemed.status, 200, redeemed.text);
    assertEquals(await world.trunk("SELECT price FROM items WHERE id = 1"), [[11]]);
  });
});

test("a held merge that is repeated as its step of a plan waits for the same approval, until the branch is another one", async () => {
  await withRule({ actions: ["delete"] }, async (world) => {
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const merge = () =>
      world.app.request("POST", `${world.shop.database.path}/branches/pr-1/merge`, {
        ...step("plan", "merge", { token: world.shop.token }),
        body: { mode: "data", onConflict: "abort" },
      });
    const held = heldBy(await merge());
    assertEquals(heldBy(await merge()), held);
    assertNotEquals(heldBy(await mergeBranch(world)).id, held.id);
    assertEquals((await world.call("POST", "branches/pr-1/reset")).status, 200);
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    assertNotEquals(heldBy(await merge()).id, held.id);
  });
});

test("a held merge that is sent again as its step of a plan after it has run gets what ran", async () => {
  await withRule({ actions: ["delete"] }, async (world) => {
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const merge = () =>
      world.app.request("POST", `${world.shop.database.path}/branches/pr-1/merge`, {
        ...step("plan", "merge", { token: world.shop.token }),
        body: { mode: "data", onConflict: "abort" },
      });
    const redemption = (held: Held) =>
      world.app.request("POST", `${world.shop.database.path}/redeem_approval`, {
        ...step("plan", "redeem", { token: world.shop.token }),
        body: { approvalToken: held.approvalToken },
      });
    const held = heldBy(await merge());
    await approve(world, held);
    const ran = await redemption(held);
    assertEquals(reportOf(ran).rowsWritten, 1);
    await world.trunk("INSERT INTO items (id, name) VALUES (2, 'again')");
    for (let n = 0; n < 2; n++) {
      assertReplay(ran, await merge(), "plan-replayed");
      assertReplay(ran, await redemption(held), "plan-replayed");
    }
    assertEquals(await world.trunk(ids), [[1], [2], [3]]);
    assertEquals((await world.call("POST", "branches/pr-1/reset")).status, 200);
    assertReplay(ran, await merge(), "plan-replayed");
  });
});

test("a rule that holds an approved merge and has come since is told at another look, and then approved too, with what it tolerates", async () => {
  await withRule({ note: "first", minRows: 2, tolerance: 5 }, async (world) => {
    await onBranch(world, "UPDATE items SET price = 11");
    const held = heldBy(await mergeBranch(world));
    await approve(world, held);
    await addRule(world, { note: "second", minRows: 2 });
    assertEquals(code(await redeem(world, held)), [409, "effect_changed"]);
    const looked = await decide(world, held, "approve", { body: { look: 1 } });
    const { hits } = JSON.parse(looked.text).data;
    assertEquals(hits.map(({ note }: { note: string }) => note), ["second", "first"]);
    // A row less, which the first rule alone tolerates.
    await world.trunk("UPDATE items SET price = 11 WHERE id = 2");
    assertEquals(code(await redeem(world, held)), [409, "effect_changed"]);
    await approve(world, held, 2);
    assertEquals((await redeem(world, held)).status, 200);
    const log = "SELECT error_kind FROM _service_meta_query_log WHERE operation = 'merge' ORDER BY ts, id";
    assertEquals(await world.trunk(log), [
      ...[["approval_required"], ["effect_changed"], ["effect_changed"], [null]],
    ]);
    assertEquals(await world.trunk("SELECT price FROM items WHERE id = 1"), [[11]]);
  });
});

test("a merge that was held before its report told writes and conflicts waits for another look", async () => {
  await withRule({}, async (world) => {
    await onBranch(world, "UPDATE items SET price = 11 WHERE id = 1");
    const held = heldBy(await mergeBranch(world));
    const { query } = world.app.deps;
    const text = await query.held.read(held.id, 1);
    assert(text !== null);
    const kept = JSON.parse(text);
    const { writes: _writes, conflicts: { digest: _digest, ...conflicts }, ...report } = kept.merge.report;
    const { schema, tables } = report;
    const digests = tables.map((one: { table: string; digest: string }) => [one.table, one.digest]);
    const effect = JSON.stringify([schema.statements, digests]);
    const older = { ...kept, merge: { ...kept.merge, effect, report: { ...report, conflicts } } };
    const call = { namespaceId: "of a test", text: JSON.stringify(older) };
    await query.held.keep(held.id, call, query.clock.now() + 60_000);
    await approve(world, held);
    const changed = await redeem(world, held);
    assertEquals(code(changed), [409, "effect_changed"], changed.text);
    await approve(world, held, 1);
    assertEquals((await redeem(world, held)).status, 200);
  });
});

test("who asked and is no admin any more merges nothing, and the approval stays good for when he is", async () => {
  await withRule({ actions: ["delete"] }, async (world) => {
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const held = heldBy(await mergeBranch(world));
    await approve(world, held);
    const { kv, control: { tokens, namespaces } } = world.app.deps;
    const namespace = await namespaces.bySlug("acme");
    const key = keys.token(namespace?.id ?? "", world.shop.id);
    const { value: token } = await kv.get<TokenRecord>(key);
    for (const [role, status] of [["write", 403], ["admin", 200]] as const) {
      await kv.set(key, { ...token, role });
      tokens.forgetAll();
      const redeemed = await redeem(world, held);
      assertEquals([redeemed.status, redeemed.body.code], [
        status,
        status === 403 ? "role_too_low" : undefined,
      ]);
    }
    assertEquals(await world.trunk(ids), [[1], [3]]);
  });
});

test("another look at a held merge is the same one until it would do something else, or the branch is another one", async () => {
  await withRule({ actions: ["delete"] }, async (world) => {
    const change = "DELETE FROM items WHERE id = 2";
    await onBranch(world, change);
    const { id } = heldBy(await mergeBranch(world));
    const look = async () => {
      const path = `/api/namespaces/acme/approvals/${id}/look`;
      const answer = await world.app.request("POST", path, { token: world.app.operatorKey });
      const { data } = JSON.parse(answer.text);
      return [answer.status, data.look, data.merge.report.tables[0].rows.removed];
    };
    const [, , first] = await look();
    assertEquals(await look(), [200, 0, first]);
    await onBranch(world, "DELETE FROM items WHERE id = 3");
    const [status, number, rows] = await look();
    assertEquals([status, number, rows.length], [200, 1, 2]);
    assertEquals((await world.call("POST", "branches/pr-1/reset")).status, 200);
    await onBranch(world, change);
    assertEquals(await look(), [200, 2, first]);
    assertEquals((await world.call("POST", "branches/pr-1/reset")).status, 200);
    await onBranch(world, change);
    assertEquals(await look(), [200, 3, first]);
  });
});

test("whoever looks at a held merge is told that it cannot be merged any more, or that its branch is gone", async () => {
  await withBranch(async (world) => {
    await addRule(world, { actions: ["delete"] });
    await onBranch(world, "DELETE FROM items WHERE id = 2");
    const { id } = heldBy(await mergeBranch(world));
    const look = async () => {
      const path = `/api/namespaces/acme/approvals/${id}/look`;
      return code(await world.app.request("POST", path, { token: world.app.operatorKey }));
    };
    await onBranch(world, "INSERT INTO keyless VALUES ('two')");
    assertEquals(await look(), [400, "merge_refused"]);
    assertEquals((await world.call("DELETE", "branches/pr-1")).status, 200);
    assertEquals(await look(), [404, "branch_not_found"]);
  }, ["CREATE TABLE keyless (a)"]);
});

test("a rule that denies and has come since stops an approved merge, and a denied one never runs", async () => {
  await withRule({ actions: ["update"] }, async (world) => {
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 1");
    const [held, refused] = [heldBy(await mergeBranch(world)), heldBy(await mergeBranch(world))];
    assertEquals((await decide(world, refused, "deny")).status, 200);
    assertEquals(code(await redeem(world, refused)), [403, "approval_denied"]);
    await approve(world, held);
    const before = await world.trunk("SELECT price FROM items WHERE id = 1");
    await addRule(world, { effect: "deny" });
    assertEquals(code(await redeem(world, held)), [403, "rule_denied"]);
    assertEquals(code(await redeem(world, held)), [403, "approval_denied"]);
    assertEquals(await world.trunk("SELECT price FROM items WHERE id = 1"), before);
  });
});

test("a merge that can only fail, or that is small enough, is not held", async () => {
  await withRule({ minRows: 2 }, async (world) => {
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 1");
    assertEquals((await mergeBranch(world)).status, 200);
    await onBranch(world, "UPDATE items SET price = 2 WHERE id < 3");
    assertEquals(
      (await world.call("POST", "query", { sql: "UPDATE items SET price = 9 WHERE id = 2" })).status,
      200,
    );
    assertEquals(code(await mergeBranch(world)), [409, "merge_conflict"]);
    assert(heldBy(await mergeBranch(world, { onConflict: "theirs" })).approvalToken);
  });
});

test("a change of the schema by a merge is held and redeemed", async () => {
  await withRule({ tableGlob: "tags", actions: ["schema"] }, async (world) => {
    await onBranch(world, "CREATE TABLE tags (id INTEGER PRIMARY KEY, tag TEXT)");
    const held = heldBy(await mergeBranch(world, { mode: "schema" }));
    await approve(world, held);
    const redeemed = await redeem(world, held);
    assertEquals([redeemed.status, reportOf(redeemed).statementsRun], [200, 1], redeemed.text);
    assertEquals(await world.trunk("SELECT count(*) FROM tags"), [[0]]);
  });
});

test("holding a merge bills the request and what was read; redeeming it bills one call", async () => {
  await withRule({}, async (world) => {
    await onBranch(world, "UPDATE items SET price = 1 WHERE id = 1");
    const spent = async () => {
      await world.app.deps.query.meter.tick();
      return (await money(world.app, world.shop)).used;
    };
    const start = await spent();
    const held = heldBy(await mergeBranch(world));
    const afterHold = await spent();
    assert(afterHold - start >= 500 && afterHold - start < 500 + 2000, `${afterHold - start}`);
    await approve(world, held);
    assertEquals((await redeem(world, held)).status, 200);
    const redeemed = await spent() - afterHold;
    assert(redeemed >= 500 + 2000 && redeemed < 2 * (500 + 2000), `${redeemed}`);
  });
});
