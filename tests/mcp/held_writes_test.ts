// Writes that a rule holds: the answer names the page, only a person decides, and what was approved runs once. With
// clients that can open a page for their user, and with those that cannot.
import { assert, assertEquals } from "@std/assert";
import { secondApp } from "../replay/second_app.ts";
import { testSteps } from "../testing/cases.ts";
import { connectMcp, eras, type McpClient, type PageEnd, type Value } from "./mcp_client.ts";
import { assertUntouched, type McpWorld, mcpWorld } from "./mcp_world.ts";

const change = { statements: [{ sql: "UPDATE orders SET note = 'changed' WHERE id = 1" }] };
const changed = [["changed"], ["second"], ["third"]];

const heldWorld = async (...args: Parameters<typeof mcpWorld>): Promise<McpWorld> => {
  const world = await mcpWorld(...args);
  await world.rule({ tableGlob: "orders", effect: "require_approval", note: "Ask Ada" });
  return world;
};

/** A write that waits: its approval's id. */
async function hold(client: McpClient, tool = "write", args: object = change): Promise<string> {
  const { value, isError, marked } = await client.call(tool, args);
  assertEquals([isError, value["code"], marked], [true, "approval_required", true]);
  return String(value["approvalId"]);
}

const notes = ({ rows }: McpWorld) => rows("SELECT note FROM orders ORDER BY id");
const idIn = (url: string) => url.slice(url.lastIndexOf("/") + 1);

testSteps("held writes", heldWorld, {
  "a client without pages gets the page's address, waits, and redeems once": async (world) => {
    for (const era of eras) {
      await using client = await world.connect("write", { era });
      const sql = `UPDATE orders SET total = total + 1 WHERE id = ${era === "current" ? 2 : 3}`;
      const { value } = await client.call("write", { statements: [{ sql }] });
      const { approvalId, approvalUrl, hits, expiresAt, hint } = value;
      assert(/^apv_/.test(String(approvalId)) && String(approvalUrl).endsWith(`/approvals/${approvalId}`));
      assert(JSON.stringify(hits).includes("Ask Ada") && !Number.isNaN(Date.parse(String(expiresAt))));
      assert(String(hint).includes("get_approval"));
      assert(!String(value["error"]).includes("token"), "there is no approval token here");
      const pending = await client.done("get_approval", { approvalId });
      assertEquals([pending["state"], pending["approvalUrl"]], ["pending", approvalUrl]);
      assertEquals(await client.fails("redeem_approval", { approvalId }), "approval_pending");
      await assertUntouched(world);
      const waiting = client.done("get_approval", { approvalId, waitSec: 25 });
      await world.decide(approvalId, "approve");
      assertEquals((await waiting)["state"], "approved");
      assertEquals((await client.done("redeem_approval", { approvalId }))["results"], [{ rowsWritten: 1 }]);
      const { value: { code, error } } = await client.call("redeem_approval", { approvalId });
      assertEquals([code, error], [
        "approval_not_found",
        "This approval has run already, has expired, or is unknown",
      ]);
    }
    assertEquals(await world.rows("SELECT total FROM orders ORDER BY id"), [[10], [21], [31]]);
  },

  "a denied write never runs": async (world) => {
    await using client = await world.connect("write");
    const approvalId = await hold(client);
    await world.decide(approvalId, "deny", "<b>Ask Ada</b>");
    assertEquals((await client.done("get_approval", { approvalId }))["state"], "denied");
    const { text, value } = await client.call("redeem_approval", { approvalId });
    assertEquals([value["code"], value["reason"]], ["approval_denied", "<b>Ask Ada</b>"]);
    // Words of others instruct nobody.
    assert(text.startsWith("Between <data-"), text);
    await assertUntouched(world);
  },

  "whoever waits for a decision with a token that was revoked meanwhile is not told it": async (world) => {
    const own = await world.shop.mint("write");
    await using client = await world.connect(own);
    const approvalId = await hold(client);
    const { approvals } = world.app.deps.query;
    const looked = Promise.withResolvers<void>();
    const byId = approvals.byId.bind(approvals);
    Object.assign(approvals, {
      byId: (...asked: Parameters<typeof byId>) => {
        looked.resolve();
        return byId(...asked);
      },
    });
    const waiting = client.call("get_approval", { approvalId, waitSec: 25 });
    await looked.promise;
    Reflect.deleteProperty(approvals, "byId");
    const path = `/api/namespaces/${world.shop.slug}/tokens/${own.id}`;
    assertEquals((await world.app.request("DELETE", path, { token: world.shop.token })).status, 200);
    await world.decide(approvalId, "approve");
    assertEquals((await waiting).value["code"], "invalid_bearer");
  },

  "an approval serves the token that asked, in its database, whoever knows its id": async (world) => {
    await using client = await world.connect("write");
    await using writer = await world.connect("write");
    await using admin = await world.connect();
    await world.shop.createDatabase("stock");
    const approvalId = await hold(client, "write", { ...change, database: "main" });
    await world.decide(approvalId, "approve");
    const main = { database: "main", approvalId };
    assertEquals(await writer.fails("get_approval", main), "not_yours");
    assertEquals((await admin.done("get_approval", main))["state"], "approved");
    for (const other of [writer, admin]) {
      assertEquals(await other.fails("redeem_approval", main), "not_yours");
    }
    assertEquals(
      await client.fails("redeem_approval", { database: "stock", approvalId }),
      "approval_not_found",
    );
    for (const wrong of ["", "apv_", "../apv", `${approvalId}x`, "appr_x"]) {
      assertEquals(
        await client.fails("redeem_approval", { ...main, approvalId: wrong }),
        "approval_not_found",
      );
    }
    await client.done("redeem_approval", main);
    assertEquals(await notes(world), changed);
  },

  "a client with pages is asked, and what a person approved there runs in the same call": async (world) => {
    const asked: string[] = [];
    await using client = await world.connect("write", {
      onPage: async (url): Promise<PageEnd> => {
        asked.push(url);
        await world.decide(idIn(url), "approve");
        return "accept";
      },
    });
    assertEquals((await client.done("write", change))["results"], [{ rowsWritten: 1 }]);
    assertEquals(asked.length, 1);
    assert(asked[0]?.includes(`/console/${world.shop.slug}/approvals/apv_`));
    assertEquals(await notes(world), changed);
  },

  "accept is no approval, and neither are decline and cancel": async (world) => {
    for (const action of ["accept", "decline", "cancel"] as const) {
      await using client = await world.connect("write", { onPage: () => action });
      const { isError, value } = await client.call("write", change);
      assertEquals([isError, value["code"]], [true, "approval_required"], action);
      assertEquals(
        (await client.done("get_approval", { approvalId: value["approvalId"] }))["state"],
        "pending",
      );
    }
    await assertUntouched(world);
    await using denied = await world.connect("write", {
      onPage: async (url): Promise<PageEnd> => {
        await world.decide(idIn(url), "deny");
        return "accept";
      },
    });
    assertEquals(await denied.fails("write", change), "approval_denied");
    await assertUntouched(world);
  },

  "the state of a question is good for its call and its token only": async (world) => {
    const token = await world.shop.mint("write");
    const forge = (own: { token: string }, edit: (params: Value) => Value) => resend(world, own, edit);
    const first = await forge(token, (params) => params);
    const approvalId = idIn(
      String(
        ((first["result"] as Value)["inputRequests"] as { approval: { params: { url: string } } }).approval
          .params.url,
      ),
    );
    await world.decide(approvalId, "approve");
    const requestState = String((first["result"] as Value)["requestState"]);
    const inputResponses = { approval: { action: "accept" } };
    const other = { statements: [{ sql: "DELETE FROM orders WHERE id = 1" }] };
    const wrong = [
      await forge(token, (params) => ({ ...params, arguments: other, requestState, inputResponses })),
      await forge(await world.shop.mint("write"), (params) => ({ ...params, requestState, inputResponses })),
      await forge(token, (params) => ({ ...params, requestState: `${requestState}x`, inputResponses })),
      await forge(token, (params) => ({ ...params, requestState: "v1.e30.e30", inputResponses })),
    ];
    for (const answer of wrong) assertEquals((answer["error"] as Value | undefined)?.["code"], -32602);
    await assertUntouched(world);
    const good = await forge(token, (params) => ({ ...params, requestState, inputResponses }));
    assertEquals((good["result"] as Value)["isError"], undefined, JSON.stringify(good));
    assertEquals(await notes(world), changed);
    const again = await forge(token, (params) => ({ ...params, requestState, inputResponses }));
    assert(JSON.stringify(again).includes("approval_not_found"));
  },

  "what is proposed, merged and restored is held and redeemed like what is written": async (world) => {
    await using client = await world.connect();
    const { executionToken, rule } = await client.done("propose_write", change.statements[0]);
    assertEquals(rule, "require_approval");
    const applied = await hold(client, "apply_write", { executionToken });
    await world.decide(applied, "approve");
    await client.done("redeem_approval", { approvalId: applied });
    assertEquals(await notes(world), changed);
    const { database, branchRef } = await client.done("create_branch", { purpose: "merge me" });
    const note = { sql: "UPDATE orders SET note = 'merged' WHERE id = 2" };
    // A branch has rules of its own: none.
    await client.done("write", { database, statements: [note] });
    const merge = { branchRef, mode: "data", onConflict: "abort" };
    await client.done("merge_branch", { ...merge, dryRun: true });
    const merged = await hold(client, "merge_branch", merge);
    await world.decide(merged, "approve");
    assertEquals((await client.done("redeem_approval", { approvalId: merged }))["rowsWritten"], 1);
    assertEquals(await notes(world), [["changed"], ["merged"], ["third"]]);
    const taken = await world.app.request("POST", `${world.shop.database.path}/snapshots`, {
      token: world.shop.token,
      body: { label: "before-restore" },
    });
    assertEquals(taken.status, 201);
    const dropped = await hold(client, "write", { statements: [{ sql: "DELETE FROM orders WHERE id = 3" }] });
    await world.decide(dropped, "approve");
    await client.done("redeem_approval", { approvalId: dropped });
    const restored = await hold(client, "restore_snapshot", { snapshot: "before-restore" });
    await world.decide(restored, "approve");
    assertEquals(
      (await client.done("redeem_approval", { approvalId: restored }))["snapshot"],
      "before-restore",
    );
    assertEquals(await notes(world), [["changed"], ["merged"], ["third"]]);
  },

  "rows that have changed since the look send an approved write back to the person": async (world) => {
    await using client = await world.connect("write");
    const approvalId = await hold(client, "write", {
      statements: [{ sql: "DELETE FROM orders WHERE total >= 20" }],
    });
    await world.decide(approvalId, "approve");
    await using admin = await world.connect();
    const other = await hold(admin, "write", {
      statements: [{ sql: "UPDATE orders SET note = 'new' WHERE id = 2" }],
    });
    await world.decide(other, "approve");
    await admin.done("redeem_approval", { approvalId: other });
    assertEquals(await client.fails("redeem_approval", { approvalId }), "effect_changed");
    assertEquals((await client.done("get_approval", { approvalId }))["state"], "pending");
    assertEquals(await world.rows("SELECT count(*) FROM orders"), [[3]]);
  },

  "a rule that denies is told as one, with no way round": async (world) => {
    await world.rule({ tableGlob: "orders", actions: ["delete"], effect: "deny" });
    await using client = await world.connect("write", { onPage: () => "accept" });
    const { value } = await client.call("write", { statements: [{ sql: "DELETE FROM orders" }] });
    assertEquals([value["code"], value["approvalId"]], ["rule_denied", undefined]);
    await assertUntouched(world);
  },

  "a question of one instance is answered by another": async (world) => {
    await using second = secondApp(world.app);
    const { token } = await world.shop.mint("write");
    let messages = 0;
    const between = {
      request: (path: string, init: RequestInit) =>
        (messages++ % 2 === 0 ? world.app.app : second.app).request(path, init),
    };
    for (const id of [1, 2]) {
      await using client = await connectMcp(between, {
        token,
        onPage: async (url): Promise<PageEnd> => {
          messages = id;
          await world.decide(idIn(url), "approve");
          return "accept";
        },
      });
      messages = id + 1;
      const sql = `UPDATE orders SET note = 'by ${id}' WHERE id = ${id}`;
      await client.done("write", { statements: [{ sql }] });
    }
    assertEquals(await notes(world), [["by 1"], ["by 2"], ["third"]]);
  },
});

/** One message of a client with pages that calls `write`, changed on its way: the answer's JSON. */
async function resend(
  { app }: McpWorld,
  { token }: { readonly token: string },
  edit: (params: Value) => Value,
): Promise<Value> {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
  };
  const params = edit({ name: "write", arguments: change, _meta });
  const answer = await app.request("POST", "/mcp", {
    token,
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    headers: {
      "accept": "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": "write",
    },
  });
  return JSON.parse(answer.text) as Value;
}
