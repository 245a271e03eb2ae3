// An approved write whose redemption a process has died in: it is redeemed again, and has run once whatever died when.
import { assertEquals } from "@std/assert";
import { HOUR_MS, MINUTE_MS } from "../../lib/core/clock.ts";
import { tokenHash } from "../../lib/access/token_format.ts";
import { oneStore } from "../testing/cases.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type Held, heldBy, withWrites, type WriteWorld } from "./write_world.ts";

const { run, test } = oneStore();
Deno.test("a redemption that a process has died in", run);

const INSERT = "INSERT INTO t (a) VALUES (1), (2) RETURNING id";

async function approved(world: WriteWorld, held: Held): Promise<string> {
  assertEquals((await world.decide(held.id, "approve")).status, 200);
  return held.approvalToken;
}

async function heldTable({ setup, rule }: WriteWorld): Promise<void> {
  await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
  await rule({ tableGlob: "t", effect: "require_approval" });
}

/** What a process that dies behind its claim leaves. */
async function dieBehindClaim({ app }: WriteWorld, token: string): Promise<void> {
  const { approvals, clock } = app.deps.query;
  const record = await approvals.byHash(tokenHash(token));
  if (record === null) throw new Error("no approval");
  await approvals.move(record, "approved", { state: "redeemed", redeemedAt: clock.now() });
}

/** Of what is told of the outcome nothing is kept any more, as where a process dies behind the commit. */
function dieBehindCommit({ app }: WriteWorld): () => void {
  const { approvals } = app.deps.query;
  const { noteRan } = approvals;
  approvals.noteRan = () => Promise.resolve();
  return () => approvals.noteRan = noteRan;
}

for (const headers of [undefined, { "idempotency-key": "once" }, { "plan-key": "plan", "plan-step": "1" }]) {
  const options = headers === undefined ? {} : { headers };
  test(`a write held with ${headers ? Object.keys(headers) : "no key"} runs once, whatever has died before its commit or behind it`, async () => {
    const clock = new TurnableClock();
    await withWrites(async (world) => {
      await heldTable(world);
      const token = await approved(world, heldBy(await world.shop.query(INSERT, [], options)));
      await dieBehindClaim(world, token);
      // It may be running still.
      assertEquals((await world.redeem(token)).body.code, "approval_not_found");
      clock.turn(MINUTE_MS);
      const revive = dieBehindCommit(world);
      const ran = await world.redeem(token);
      assertEquals([ran.status, JSON.parse(ran.text).data?.rows], [200, [[1], [2]]], ran.text);
      assertEquals((await world.redeem(token)).status, 404);
      clock.turn(MINUTE_MS);
      revive();
      const again = await Promise.all([world.redeem(token), world.redeem(token)]);
      const told = again.filter(({ status }) => status === 200);
      for (const { text } of told) assertEquals(JSON.parse(text).data.rows, [[1], [2]]);
      assertEquals([told.length > 0, again.every(({ status }) => [200, 404].includes(status))], [true, true]);
      assertEquals(await world.rows("SELECT count(*) FROM t"), [[2]]);
      // Now it is known to have run.
      clock.turn(MINUTE_MS);
      assertEquals((await world.redeem(token)).status, 404);
    }, { clock });
  });
}

test("what a commit cannot tell of, and what is older than what is kept of commits, is used up", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    await heldTable(world);
    const statements = [{ sql: "INSERT INTO t (a) VALUES (1)" }, { sql: "INSERT INTO t (a) VALUES (2)" }];
    const parts = await approved(world, heldBy(await world.post("batch", { statements })));
    const late = await approved(world, heldBy(await world.shop.query(INSERT)));
    for (const token of [parts, late]) await dieBehindClaim(world, token);
    clock.turn(MINUTE_MS);
    assertEquals((await world.redeem(parts)).status, 404);
    clock.turn(24 * HOUR_MS);
    assertEquals((await world.redeem(late)).status, 404);
    assertEquals(await world.rows("SELECT count(*) FROM t"), [[0]]);
  }, { clock });
});

test("other rows by then are looked at again, as at a first redemption", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    await heldTable(world);
    const token = await approved(world, heldBy(await world.shop.query("DELETE FROM t WHERE a > 0")));
    await dieBehindClaim(world, token);
    clock.turn(MINUTE_MS);
    const other = await approved(world, heldBy(await world.shop.query(INSERT)));
    assertEquals((await world.redeem(other)).status, 200);
    assertEquals((await world.redeem(token)).body.code, "effect_changed");
    assertEquals(await world.rows("SELECT count(*) FROM t"), [[2]]);
  }, { clock });
});

test("a restore that has run is answered as it ran, and runs no second time", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    await world.setup("CREATE TABLE t (a)");
    assertEquals((await world.post("snapshots", { label: "empty" })).status, 201);
    await world.setup("INSERT INTO t VALUES (1)");
    await world.rule({ tableGlob: "t", effect: "require_approval", actions: ["delete", "schema"] });
    const token = await approved(world, heldBy(await world.post("restore", { snapshot: "empty" })));
    const revive = dieBehindCommit(world);
    const ran = await world.redeem(token);
    revive();
    await world.setup("INSERT INTO t VALUES (2)");
    assertEquals([ran.status, (await world.redeem(token)).status], [200, 404]);
    clock.turn(MINUTE_MS);
    const again = await world.redeem(token);
    assertEquals([again.status, again.body.data], [200, ran.body.data], again.text);
    assertEquals(await world.rows("SELECT a FROM t"), [[2]]);
    assertEquals((await world.redeem(token)).status, 404);
  }, { clock });
});

const runToTheirEnd: Readonly<Record<string, readonly [path: string, body: object]>> = {
  "a batch of which each statement stays for itself": [
    "batch",
    { statements: [{ sql: "INSERT INTO t VALUES (2)" }, { sql: "INSERT INTO t VALUES (3)" }] },
  ],
  "migrations": ["migrations", {
    files: [
      { name: "1.sql", sql: "INSERT INTO t VALUES (2)" },
      { name: "2.sql", sql: "INSERT INTO t VALUES (3); CREATE TABLE made (a)" },
      { name: "3.sql", sql: "DELETE FROM t WHERE a = 1; INSERT INTO t VALUES (4)" },
    ],
  }],
};

for (const [name, [path, body]] of Object.entries(runToTheirEnd)) {
  test(`what has run to its end is answered as it ran, and runs no second time: ${name}`, async () => {
    const clock = new TurnableClock();
    await withWrites(async (world) => {
      await world.setup("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)");
      await world.rule({ tableGlob: "t", effect: "require_approval", actions: ["insert"] });
      const held = heldBy(await world.post(path, body));
      const token = await approved(world, held);
      const revive = dieBehindCommit(world);
      const ran = await world.redeem(token);
      revive();
      assertEquals([ran.status, (await world.redeem(token)).status], [200, 404], ran.text);
      const rows = await world.rows("SELECT a FROM t");
      clock.turn(MINUTE_MS);
      const again = await world.redeem(token);
      assertEquals([again.status, again.text], [200, ran.text]);
      assertEquals(await world.rows("SELECT a FROM t"), rows);
      const page = `/api/namespaces/${world.shop.slug}/approvals/${held.id}`;
      const { text } = await world.app.request("GET", page, { token: world.app.operatorKey });
      assertEquals(JSON.parse(text).data.outcome?.kind, "ran", text);
      assertEquals((await world.redeem(token)).status, 404);
    }, { clock });
  });
}

test("a restore that ran as its step without the rule is not run again by its approval", async () => {
  await withWrites(async (world) => {
    const { app, shop, post, decide, redeem, rows, setup } = world;
    await setup("CREATE TABLE t (a)");
    assertEquals((await post("snapshots", { label: "empty" })).status, 201);
    await setup("INSERT INTO t VALUES (1)");
    const rule = await world.rule({ tableGlob: "t", effect: "require_approval", actions: ["delete"] });
    const restore = () =>
      post("restore", { snapshot: "empty" }, { headers: { "plan-key": "p", "plan-step": "1" } });
    const held = heldBy(await restore());
    const path = `/api/namespaces/${shop.slug}/databases/main/rules/${rule}`;
    assertEquals((await app.request("DELETE", path, { token: shop.token })).status, 200);
    const ran = await restore();
    assertEquals(ran.status, 200, ran.text);
    await setup("INSERT INTO t VALUES (2)");
    await decide(held.id, "approve");
    const redeemed = await redeem(held.approvalToken);
    assertEquals([redeemed.status, redeemed.body.data], [200, ran.body.data], redeemed.text);
    assertEquals(await rows("SELECT a FROM t"), [[2]]);
  });
});
