// The machine's clock is put forward or back while the service runs: what was spent stays spent, nothing hangs, and what
// is pruned by age goes on being pruned.
import { assert, assertEquals } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from "../../lib/core/clock.ts";
import { idFloor, newId } from "../../lib/core/ids.ts";
import { autoLabel } from "../../lib/query/choose_snapshot.ts";
import { sweepLifetimes } from "../../lib/store/lifetimes.ts";
import { minted, redeem } from "../handoff/handoffs.ts";
import { accountWorld, outcome, PASSWORD, tokenOf } from "../published/account_world.ts";
import { startApp } from "../testing/start_app.ts";
import { tokenHash } from "../../lib/access/token_format.ts";
import { type Held, heldBy, withWrites, type WriteWorld } from "../writes/write_world.ts";

const YEAR_MS = 365 * DAY_MS;

/** Its wall time can be set alone, as an operator or NTP does it. */
class JumpingClock implements Clock {
  #aheadMs = 0;
  #turnedMs = 0;

  now(): number {
    return systemClock.now() + this.#turnedMs + this.#aheadMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.#turnedMs;
  }

  /** Sets the wall time so far ahead of the true one. */
  set(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  /** Lets so much time pass. */
  turn(ms: number): void {
    this.#turnedMs += ms;
  }
}

/** A held write, approved and redeemed: its token, which is spent. */
async function approvedWrite(world: WriteWorld): Promise<string> {
  const { approvalToken, approvalUrl } = JSON.parse(
    (await world.shop.query("DELETE FROM t WHERE id = 7")).text,
  );
  assertEquals((await world.decide(String(approvalUrl).split("/").at(-1) ?? "", "approve")).status, 200);
  assertEquals((await world.redeem(approvalToken)).status, 200);
  return approvalToken;
}

/** A write in two steps: its token, which is spent. */
async function appliedWrite(world: WriteWorld): Promise<string> {
  const { executionToken } = await world.propose("UPDATE t SET n = n + 1");
  assertEquals((await world.apply(executionToken)).status, 200);
  return executionToken;
}

async function redeemedHandoff(world: WriteWorld): Promise<string> {
  const handoff = await minted(world.app, world.shop.token);
  assertEquals((await redeem(world.app, handoff)).status, 201);
  return handoff;
}

for (const aheadMs of [HOUR_MS, DAY_MS, 10 * YEAR_MS, -HOUR_MS, -10 * YEAR_MS]) {
  Deno.test(`what was spent stays spent when the clock is ${aheadMs / HOUR_MS} hours ahead, and back`, async () => {
    const clock = new JumpingClock();
    await withWrites(async (world) => {
      const { kv, query, tenants } = world.app.deps;
      await world.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)", "INSERT INTO t VALUES (1, 0)");
      await world.rule({ tableGlob: "t", actions: ["delete"], effect: "require_approval" });
      const applied = await appliedWrite(world);
      const approved = await approvedWrite(world);
      const handoff = await redeemedHandoff(world);
      let expected = 1;
      for (const ahead of [aheadMs, 0]) {
        clock.set(ahead);
        await sweepLifetimes(kv, clock.now());
        await query.meter.sweepBlocks();
        await tenants.sweep();
        assertEquals((await world.apply(applied)).status, 404);
        assertEquals((await world.redeem(approved)).status, 404);
        assertEquals((await redeem(world.app, handoff)).status, 404);
        // All of it works, dated by the clock as it is.
        await appliedWrite(world);
        await approvedWrite(world);
        await redeemedHandoff(world);
        const key = { headers: { "idempotency-key": `key-${ahead}` } };
        for (let i = 0; i < 2; i++) await world.shop.query("UPDATE t SET n = n + 10", [], key);
        expected += 11;
        assertEquals(await world.rows("SELECT n FROM t"), [[expected]]);
      }
    }, { clock, kvOnDisk: true });
  });
}

Deno.test("the log goes on being pruned after the clock was years ahead", async () => {
  const clock = new JumpingClock();
  await withWrites(async (world) => {
    const logged = (text: string) =>
      world.rows(`SELECT id FROM _service_meta_query_log WHERE sql LIKE 'SELECT ''${text}%'`);
    clock.set(10 * YEAR_MS);
    await world.rows("SELECT 'ahead'");
    assertEquals((await logged("ahead")).length, 1);
    clock.set(0);
    await world.rows("SELECT 'old'");
    assertEquals((await logged("old")).length, 1);
    clock.turn(3 * DAY_MS);
    for (let tries = 0; (await logged("old")).length > 0; tries++) {
      assert(tries < 100, "the row is still there");
      await pause(50);
    }
  }, { clock, settings: { LOG_DAYS: "1" } });
});

Deno.test("ids tell the time again once the clock is put back, and no two are the same", () => {
  const nowMs = systemClock.now();
  const ids = [0, 10 * YEAR_MS, 0, 0, -1000, -YEAR_MS, 0].map((aheadMs) => newId("qry", nowMs + aheadMs));
  assertEquals(new Set(ids).size, ids.length);
  for (const [index, id] of ids.entries()) {
    if (index > 1) assert(id < idFloor("qry", nowMs + DAY_MS), `${index}: ${id}`);
  }
  // A correction of some seconds leaves them in order.
  assert((ids[3] ?? "") < (ids[4] ?? ""));
});

Deno.test("a snapshot's label tells the time again once the clock is put back, and no two are the same", () => {
  const clock = new JumpingClock();
  clock.set(10 * YEAR_MS);
  autoLabel(clock, "drop", "t");
  clock.set(0);
  const labels = Array.from({ length: 100 }, () => autoLabel(clock, "drop", "t"));
  assertEquals(new Set(labels).size, 100);
  const year = new Date(clock.now()).getUTCFullYear();
  assert(labels[0]?.startsWith(`auto-${year}`), labels[0]);
});

Deno.test("an account that was closed by a clock years ahead is open once it is put back, and closes again", async () => {
  const clock = new JumpingClock();
  await using at = await accountWorld({ slugs: ["signup", "login"], clock, settings: { TRUST_PROXY: "1" } });
  const email = "ada@shop.example";
  await at.join(email);
  const login = (password: string) => at.post("login", { email, password }, { from: "198.51.100.7" });
  for (const aheadMs of [10 * YEAR_MS, 0]) {
    clock.set(aheadMs);
    tokenOf(await login(PASSWORD));
    for (let nth = 0; nth < 10; nth++) assertEquals((await login("wrong horse")).status, 401);
    assertEquals(outcome(await login(PASSWORD)), [429, "login_locked"]);
  }
  clock.turn(HOUR_MS);
  tokenOf(await login(PASSWORD));
});

Deno.test("storage whose maker died while the clock was years ahead is taken away soon after it was put back", async () => {
  const clock = new JumpingClock();
  await withWrites(async ({ app: { deps: { control } } }) => {
    const id = newId("db", clock.now());
    const abandoned = async () => (await control.leftovers.takeAbandoned()).map((one) => one.id);
    clock.set(10 * YEAR_MS);
    await control.databases.announce(id);
    clock.set(0);
    assertEquals((await abandoned()).includes(id), false, "its maker may be at work");
    clock.turn(HOUR_MS);
    assertEquals((await abandoned()).includes(id), true);
  }, { clock });
});

Deno.test("a month that a clock years ahead has begun ends with the present one, and gives no cap anew before", async () => {
  const clock = new JumpingClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const status = async () => (await tenant.query("SELECT 1")).status;
  clock.set(10 * YEAR_MS);
  const cap = { token: app.operatorKey, body: { monthlyCapUsd: 0.00001 } };
  assertEquals((await app.request("PATCH", `/api/namespaces/${tenant.slug}`, cap)).status, 200);
  for (let calls = 0; await status() === 200; calls++) assert(calls < 100, "the cap does not hold");
  clock.set(0);
  clock.turn(HOUR_MS);
  assertEquals(await status(), 402);
  clock.set(-20 * YEAR_MS);
  assertEquals(await status(), 402);
  clock.set(0);
  assertEquals(await status(), 402);
  clock.turn(32 * DAY_MS);
  assertEquals(await status(), 200);
});

/** Approves a held write, and leaves what a process leaves that dies when it has begun to redeem it. */
async function dieRedeeming(world: WriteWorld, { id, approvalToken }: Held, look = 0): Promise<void> {
  const { approvals } = world.app.deps.query;
  assertEquals((await world.decide(id, "approve", { look })).status, 200);
  const { move } = approvals;
  approvals.move = async (...args) => {
    approvals.move = move;
    await approvals.move(...args);
    throw new Error("dies here");
  };
  assertEquals((await world.redeem(approvalToken)).status, 500);
  assertEquals((await approvals.byHash(tokenHash(approvalToken)))?.state, "redeemed");
}

Deno.test("a write whose process died redeeming it while the clock was ahead can be redeemed once it is put back", async () => {
  const clock = new JumpingClock();
  await withWrites(async (world) => {
    await world.setup("CREATE TABLE t (n)");
    await world.rule({ tableGlob: "t", effect: "require_approval" });
    clock.set(12 * HOUR_MS);
    const held = heldBy(await world.shop.query("INSERT INTO t VALUES (1)"));
    await dieRedeeming(world, held);
    // By a clock that goes a little ahead it may be running still.
    clock.set(12 * HOUR_MS - MINUTE_MS);
    assertEquals((await world.redeem(held.approvalToken)).status, 404);
    clock.set(0);
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
    assertEquals((await world.redeem(held.approvalToken)).status, 404);
    assertEquals(await world.rows("SELECT n FROM t"), [[1]]);
  }, { clock });
});

Deno.test("a write that came back while the clock was ahead is redeemed again where the process died in its second run", async () => {
  const clock = new JumpingClock();
  await withWrites(async (world) => {
    await world.setup("CREATE TABLE t (n)", "INSERT INTO t VALUES (1)");
    await world.rule({ tableGlob: "t", actions: ["delete"], effect: "require_approval" });
    const held = heldBy(await world.shop.query("DELETE FROM t"));
    assertEquals((await world.decide(held.id, "approve")).status, 200);
    await world.setup("INSERT INTO t VALUES (2)");
    clock.set(HOUR_MS);
    assertEquals((await world.redeem(held.approvalToken)).body.code, "effect_changed");
    clock.set(0);
    await dieRedeeming(world, held, 1);
    clock.turn(MINUTE_MS);
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
    assertEquals(await world.rows("SELECT n FROM t"), []);
  }, { clock });
});

Deno.test("a redemption that ends after the clock was put back is one that has ended", async () => {
  const clock = new JumpingClock();
  await withWrites(async (world) => {
    await world.setup("CREATE TABLE t (n UNIQUE)", "INSERT INTO t VALUES (1)");
    await world.rule({ tableGlob: "t", effect: "require_approval" });
    clock.set(HOUR_MS);
    const held = heldBy(await world.shop.query("INSERT INTO t VALUES (2)"));
    assertEquals((await world.decide(held.id, "approve")).status, 200);
    const { approvals } = world.app.deps.query;
    const { noteRan } = approvals;
    approvals.noteRan = (...args) => {
      clock.set(0);
      return noteRan.apply(approvals, args);
    };
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
    clock.turn(2 * HOUR_MS);
    assertEquals((await world.redeem(held.approvalToken)).status, 404);
  }, { clock });
});
