// Attempts to run something else, somewhere else, by somebody else or more often than a person has approved.
import { assert, assertEquals } from "@std/assert";
import { DAY_MS } from "../../lib/core/clock.ts";
import { keys } from "../../lib/store/keys.ts";
import { sweepLifetimes } from "../../lib/store/lifetimes.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type Held, heldBy, withWrites, type WriteWorld } from "../writes/write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("attempts to run something else", run);

async function withHeld(
  body: (world: WriteWorld, held: Held) => Promise<void>,
  options: {
    readonly clock?: TurnableClock;
    readonly kvOnDisk?: true;
    readonly rule?: object;
    readonly sql?: string;
  } = {},
): Promise<void> {
  await withWrites(async (world) => {
    await world.setup(
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER)",
      "CREATE TABLE payments (id INTEGER PRIMARY KEY)",
      "INSERT INTO orders VALUES (1, 10), (2, 20), (3, 30)",
      "INSERT INTO payments VALUES (1), (2)",
      "CREATE VIEW old AS SELECT * FROM orders",
      "CREATE TRIGGER old_gone INSTEAD OF DELETE ON old BEGIN DELETE FROM orders WHERE id = old.id; END",
    );
    await world.rule({
      tableGlob: "orders",
      actions: ["delete"],
      effect: "require_approval",
      ...options.rule,
    });
    await world.rule({ tableGlob: "payments", effect: "require_approval" });
    await body(world, heldBy(await world.shop.query(options.sql ?? "DELETE FROM orders WHERE id = 2")));
  }, {
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.kvOnDisk ? { kvOnDisk: true } : {}),
  });
}

const ids = (world: WriteWorld) => world.rows("SELECT group_concat(id) FROM orders");

test("an API token never decides: admin, operator-minted, handed off, or by a plan's replay", async () => {
  await withHeld(async (world, held) => {
    const { app, shop, redeem } = world;
    const handed = await world.post("handoff", { role: "admin", ttlSec: 600 });
    const handoff = JSON.parse(handed.text).data;
    const redeemed = await app.request("POST", "/v1/handoff/redeem", {
      body: { token: handoff.handoffToken ?? handoff.token, name: "agent" },
    });
    assertEquals(redeemed.status, 201, redeemed.text);
    const agents = [shop.token, (await shop.mint("admin")).token, JSON.parse(redeemed.text).data.token];
    for (const token of agents) {
      for (const verb of ["approve", "deny"]) {
        const path = `/api/namespaces/${shop.slug}/approvals/${held.id}/${verb}`;
        const answer = await app.request("POST", path, { token });
        assert([401, 403].includes(answer.status), `${verb}: ${answer.text}`);
        const headers = { "plan-key": "p", "plan-step": verb };
        const planned = await app.request("POST", path, { token, headers });
        assertEquals([planned.status, planned.body.issues?.[0]?.path], [400, "Plan-Key"], planned.text);
      }
    }
    assertEquals((await redeem(held.approvalToken)).body.code, "approval_pending");
    // The operator decides nothing through the data API either.
    assertEquals((await redeem(held.approvalToken, { token: app.operatorKey })).status, 401);
  });
});

test("an approval is good for one token, in one database, in its namespace", async () => {
  await withHeld(async (world, held) => {
    const { app, shop, decide, redeem } = world;
    await decide(held.id, "approve");
    const other = await shop.mint("admin");
    assertEquals((await redeem(held.approvalToken, { token: other.token })).body.code, "not_yours");
    const second = await shop.createDatabase("second");
    const elsewhere = await app.request("POST", `${second.path}/redeem_approval`, {
      token: shop.token,
      body: { approvalToken: held.approvalToken },
    });
    assertEquals([elsewhere.status, elsewhere.body.code], [404, "approval_not_found"]);
    const rival = await app.namespace("rival");
    const foreign = await app.request("POST", `/api/namespaces/rival/approvals/${held.id}/deny`, {
      token: app.operatorKey,
    });
    assertEquals(foreign.status, 404);
    const peek = await app.request("GET", `${rival.database.path}/approvals/${held.approvalToken}`, {
      token: rival.token,
    });
    assertEquals(peek.status, 404);
    for (const made of ["appr_", `appr_${"a".repeat(38)}`, "pmut_x", held.id, `${held.approvalToken}x`]) {
      assertEquals((await redeem(made)).status, 404, made);
    }
    assertEquals((await redeem(held.approvalToken)).status, 200);
  });
});

test("a writer sees an approval of its own only, an admin any, a reader none", async () => {
  await withHeld(async ({ app, shop }, held) => {
    const path = `${shop.database.path}/approvals/${held.approvalToken}`;
    const writer = await shop.mint("write");
    const admin = await shop.mint("admin");
    const status = async (token: string) => (await app.request("GET", path, { token })).status;
    assertEquals([await status(writer.token), await status(admin.token), await status(shop.token)], [
      403,
      200,
      200,
    ]);
    const list = await app.request("GET", `/api/namespaces/${shop.slug}/approvals`, { token: writer.token });
    assertEquals(list.status, 403);
  });
});

test("of 200 who redeem one approval at once exactly one writes", async () => {
  await withHeld(async ({ decide, redeem, rows }, held) => {
    await decide(held.id, "approve");
    const answers = await Promise.all(Array.from({ length: 200 }, () => redeem(held.approvalToken)));
    assertEquals(answers.filter(({ status }) => status === 200).length, 1);
    assert(answers.every(({ status }) => [200, 404, 429].includes(status)));
    assertEquals(
      await rows(
        "SELECT count(*) FROM _service_meta_query_log WHERE operation = 'redeem_approval' AND status = 'ok'",
      ),
      [[1]],
    );
  }, { sql: "DELETE FROM orders WHERE id = 2" });
});

test("what stands behind a name at redemption is not what was approved: it is held anew", async () => {
  await withHeld(async (world, held) => {
    await world.setup(
      "DROP TRIGGER old_gone",
      "CREATE TRIGGER old_gone INSTEAD OF DELETE ON old BEGIN DELETE FROM payments WHERE id = old.id; END",
    );
    await world.decide(held.id, "approve");
    const again = heldBy(await world.redeem(held.approvalToken));
    assert(again.id !== held.id);
    assertEquals(await world.rows("SELECT count(*) FROM payments"), [[2]]);
    assertEquals(await ids(world), [["1,2,3"]]);
    await assertEndsDenied(
      world,
      held,
      "A rule holds this write for what was not approved; it waits for another approval",
    );
  }, { sql: "DELETE FROM old WHERE id = 2" });
});

test("a rule that denies by now stops an approved write", async () => {
  await withHeld(async (world, held) => {
    await world.decide(held.id, "approve");
    await world.rule({ tableGlob: "orders", effect: "deny" });
    assertEquals((await world.redeem(held.approvalToken)).body.code, "rule_denied");
    assertEquals(await ids(world), [["1,2,3"]]);
    await assertEndsDenied(world, held, "A rule that has come since the approval denies this write");
  });
});

test("a write that was approved for a rule does not run once that rule denies", async () => {
  await withHeld(async (world, held) => {
    const { app, shop } = world;
    await world.decide(held.id, "approve");
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const list = await app.request("GET", path, { token: shop.token });
    const { id } = JSON.parse(list.text).data.find((one: { tableGlob: string }) =>
      one.tableGlob === "orders"
    );
    const body = { effect: "deny" };
    const changed = await app.request("PATCH", `${path}/${id}`, { token: shop.token, body });
    assertEquals(changed.status, 200, changed.text);
    assertEquals((await world.redeem(held.approvalToken)).body.code, "rule_denied");
    assertEquals(await ids(world), [["1,2,3"]]);
    await assertEndsDenied(world, held, "A rule that has come since the approval denies this write");
  });
});

/** Denied, not redeemed: nothing has run, nobody approves it again, and the requester reads why. */
async function assertEndsDenied(world: WriteWorld, held: Held, reason: string): Promise<void> {
  const again = await world.decide(held.id, "approve", { look: 0 });
  assertEquals([again.status, again.body.code], [409, "approval_decided"], again.text);
  const { app, shop } = world;
  const path = `${shop.database.path}/approvals/${held.approvalToken}`;
  const { data } = JSON.parse((await app.request("GET", path, { token: shop.token })).text);
  assertEquals([data.state, data.reason], ["denied", reason]);
  const redeemed = await world.redeem(held.approvalToken);
  assertEquals([redeemed.status, redeemed.body.code], [403, "approval_denied"], redeemed.text);
  assertEquals(JSON.parse(redeemed.text).reason, reason);
}

test("another number of rows is shown to a person again, with the rows as they are now", async () => {
  await withHeld(async (world, held) => {
    await world.decide(held.id, "approve");
    await world.setup("INSERT INTO orders VALUES (4, 40)");
    const changed = await world.redeem(held.approvalToken);
    assertEquals([changed.status, changed.body.code], [409, "effect_changed"], changed.text);
    const { approvedRows, affectedRows } = JSON.parse(changed.text);
    assertEquals([approvedRows, affectedRows, await ids(world)], [2, 3, [["1,2,3,4"]]]);
    const look = JSON.parse((await world.decide(held.id, "approve", { look: 1 })).text).data;
    assertEquals([look.state, look.affectedRows, look.effects[0].preview.before], [
      "approved",
      3,
      [[2, 20], [3, 30], [4, 40]],
    ]);
    await world.setup("UPDATE orders SET total = 1 WHERE id = 2");
    assertEquals(JSON.parse((await world.redeem(held.approvalToken)).text).affectedRows, 2);
    await world.decide(held.id, "deny");
    assertEquals((await world.redeem(held.approvalToken)).body.code, "approval_denied");
  }, { sql: "DELETE FROM orders WHERE total >= 20" });
});

test("a rule's tolerance is the number of rows by which the effect may differ, either way", async () => {
  for (const [extra, status] of [[1, 200], [2, 409]] as const) {
    await withHeld(async (world, held) => {
      await world.decide(held.id, "approve");
      for (let id = 10; id < 10 + extra; id++) await world.setup(`INSERT INTO orders VALUES (${id}, 99)`);
      assertEquals((await world.redeem(held.approvalToken)).status, status);
    }, { sql: "DELETE FROM orders WHERE total >= 20", rule: { tolerance: 1 } });
  }
});

test("the caller's own bound on rows widens no tolerance", async () => {
  for (const [more, fewer, status] of [[1, 0, 200], [2, 0, 409], [0, 1, 200], [0, 2, 409]] as const) {
    await withHeld(async (world) => {
      const held = heldBy(
        await world.shop.query("DELETE FROM orders WHERE total >= 20", [], {
          headers: { "x-max-affected": "100" },
        }),
      );
      await world.decide(held.id, "approve");
      for (let id = 10; id < 10 + more; id++) await world.setup(`INSERT INTO orders VALUES (${id}, 99)`);
      for (let id = 2; id < 2 + fewer; id++) {
        await world.setup(`UPDATE orders SET total = 1 WHERE id = ${id}`);
      }
      assertEquals((await world.redeem(held.approvalToken)).status, status, `${more} more, ${fewer} fewer`);
    }, { rule: { tolerance: 1 } });
  }
});

test("a batch that changes the schema too is bound to its rows, and one that fails half-way keeps nothing", async () => {
  await withHeld(async (world) => {
    const { decide, redeem, shop } = world;
    const held = heldBy(
      await shop.batch([["DELETE FROM orders WHERE total > 20"], ["CREATE TABLE made (a)"]]),
    );
    await decide(held.id, "approve");
    await world.setup("UPDATE orders SET total = 50");
    assertEquals((await redeem(held.approvalToken)).body.code, "effect_changed");
    assertEquals(await ids(world), [["1,2,3"]]);
    const partly = heldBy(
      await shop.batch([["DELETE FROM orders WHERE total > 60"], ["INSERT INTO payments VALUES (77)"]]),
    );
    await decide(partly.id, "approve");
    await world.setup("UPDATE orders SET total = 70");
    const other = heldBy(await shop.query("INSERT INTO payments VALUES (77)"));
    await decide(other.id, "approve");
    assertEquals((await redeem(other.approvalToken)).status, 200);
    // More rows than approved, then an error: what ran before the error does not stay.
    assertEquals((await redeem(partly.approvalToken)).status, 409);
    assertEquals(await ids(world), [["1,2,3"]]);
  });
});

test("an approval ends after 24 hours, decided or not, and the list outlives what KV has forgotten", async () => {
  const clock = new TurnableClock();
  await withHeld(async (world, held) => {
    const { app, decide, redeem, shop } = world;
    const approved = heldBy(await shop.query("DELETE FROM orders WHERE id = 3"));
    await decide(approved.id, "approve");
    clock.turn(DAY_MS - 300_000);
    assertEquals((await redeem(held.approvalToken)).body.code, "approval_pending");
    clock.turn(900_000);
    // What has ended is forgotten a day later, with what it was about.
    await sweepLifetimes(app.deps.kv, clock.now());
    for (const { approvalToken } of [held, approved]) {
      assertEquals((await redeem(approvalToken)).body.code, "approval_not_found");
      const view = await app.request("GET", `${shop.database.path}/approvals/${approvalToken}`, {
        token: shop.token,
      });
      assertEquals(JSON.parse(view.text).data.state, "expired");
    }
    assertEquals((await decide(held.id, "approve")).body.code, "approval_decided");
    const path = `/api/namespaces/${shop.slug}/approvals?state=expired`;
    const list = await app.request("GET", path, { token: shop.token });
    assertEquals(JSON.parse(list.text).data.length, 2);
    await app.deps.kv.delete(keys.heldPiece(held.id, 0));
    const rest = await app.request("GET", path, { token: shop.token });
    assertEquals(JSON.parse(rest.text).data.map(({ id }: { id: string }) => id), [approved.id]);
    assertEquals(await ids(world), [["1,2,3"]]);
    clock.turn(DAY_MS + 300_000);
    await sweepLifetimes(app.deps.kv, clock.now());
    const kinds = ["approval", "approval_by_hash", "open_approval", "waiting_approval", "held_piece"];
    for (const kind of kinds) {
      assertEquals([kind, await Array.fromAsync(app.deps.kv.list({ prefix: [kind] }))], [kind, []]);
    }
  }, { clock, kvOnDisk: true });
});

test("a decision is made once", async () => {
  await withHeld(async ({ decide, redeem }, held) => {
    const verbs = Array.from(
      { length: 20 },
      (_, index) => index % 2 === 0 ? "approve" as const : "deny" as const,
    );
    const answers = await Promise.all(verbs.map((verb) => decide(held.id, verb)));
    const won = new Set(verbs.filter((_, index) => answers[index]?.status === 200));
    assertEquals(won.size, 1);
    assertEquals((await redeem(held.approvalToken)).status, won.has("approve") ? 200 : 403);
    assertEquals((await decide(held.id, "deny")).status, won.has("approve") ? 409 : 200);
  });
});

test("who waits with a token that is revoked meanwhile does not hear of the decision", async () => {
  await withHeld(async ({ app, decide, shop }, held) => {
    const { approvals } = app.deps.query;
    const begun = Promise.withResolvers<void>();
    const byHash = approvals.byHash.bind(approvals);
    approvals.byHash = async (hash) => {
      const found = await byHash(hash);
      begun.resolve();
      return found;
    };
    const path = `${shop.database.path}/approvals/${held.approvalToken}?waitSec=25`;
    const waiting = app.request("GET", path, { token: shop.token });
    await begun.promise;
    const me = await app.request("GET", "/v1/me", { token: shop.token });
    const { tokenId } = JSON.parse(me.text).data;
    const gone = await app.request("DELETE", `/api/namespaces/${shop.slug}/tokens/${tokenId}`, {
      token: app.operatorKey,
    });
    assertEquals(gone.status, 200, gone.text);
    await decide(held.id, "approve");
    const { status, body } = await waiting;
    assertEquals([status, body.code, body.data], [401, "invalid_bearer", undefined]);
  });
});

test("who waits hears of a decision, also of one from before, and a wait ends with its client", async () => {
  await withHeld(async ({ app, decide, shop }, held) => {
    const path = `${shop.database.path}/approvals/${held.approvalToken}?waitSec=25`;
    const gone = new AbortController();
    const left = app.request("GET", path, { token: shop.token, signal: gone.signal });
    const waiting = app.request("GET", path, { token: shop.token });
    gone.abort();
    assertEquals(JSON.parse((await left).text).data.state, "pending");
    await decide(held.id, "approve");
    assertEquals(JSON.parse((await waiting).text).data.state, "approved");
    assertEquals(
      JSON.parse((await app.request("GET", path, { token: shop.token })).text).data.state,
      "approved",
    );
    for (const wait of ["26", "-1", "x", "1.5"]) {
      const answer = await app.request("GET", path.replace("=25", `=${wait}`), { token: shop.token });
      assertEquals(answer.status, 400, wait);
    }
  });
});

test("a held call of 4 MB is shown and runs whole; no secret stands in logs or lists", async () => {
  await withHeld(async (world, held) => {
    const { app, decide, redeem, rows, shop } = world;
    const large = "ü".repeat(2_000_000);
    await world.setup("CREATE TABLE big (body TEXT)");
    await world.rule({ tableGlob: "big", effect: "require_approval" });
    const answer = heldBy(await shop.query("INSERT INTO big VALUES (?)", [large]));
    const approved = JSON.parse((await decide(answer.id, "approve")).text).data;
    assert(approved.statements[0].params[0] === large);
    assertEquals((await redeem(answer.approvalToken)).status, 200);
    assertEquals(await rows("SELECT length(body) FROM big"), [[2_000_000]]);
    const list = await app.request("GET", `/api/namespaces/${shop.slug}/approvals`, { token: shop.token });
    const told = app.logLines.join("\n") + list.text;
    for (const secret of [held.approvalToken, answer.approvalToken, shop.token, app.operatorKey]) {
      assert(!told.includes(secret));
    }
    assert(!app.logLines.join("\n").includes("ü"));
  });
});
