// A held call that is repeated: one approval for it, however often it comes, and its token again.
import { assertEquals, assertNotEquals } from "@std/assert";
import { tokenHash } from "../../lib/access/token_format.ts";
import { MAX_OPEN_APPROVALS } from "../../lib/core/limits.ts";
import type { ApiRequest } from "../testing/call_api.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { heldBy, withWrites, type WriteWorld } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("a held call that is repeated", run);

const INSERT = "INSERT INTO t VALUES (1)";
const KEYED: ApiRequest = { headers: { "idempotency-key": "once" } };
const PLANNED: ApiRequest = { headers: { "plan-key": "plan", "plan-step": "1" } };

async function heldTable({ setup, rule }: WriteWorld): Promise<void> {
  await setup("CREATE TABLE t (a)");
  await rule({ tableGlob: "t", effect: "require_approval" });
}

async function waiting({ app, shop }: WriteWorld): Promise<number> {
  const path = `/api/namespaces/${shop.slug}/approvals?state=pending`;
  const answer = await app.request("GET", path, { token: shop.token });
  assertEquals(answer.status, 200, answer.text);
  return JSON.parse(answer.text).data.length;
}

test("a held call repeated with its key, or as its step of a plan, waits for the same approval", async () => {
  await withWrites(async (world) => {
    const { shop } = world;
    await heldTable(world);
    for (const options of [KEYED, PLANNED]) {
      const first = await shop.query(INSERT, [], options);
      const held = heldBy(first);
      for (let n = 0; n <= MAX_OPEN_APPROVALS; n++) {
        const again = await shop.query(INSERT, [], options);
        assertEquals(heldBy(again), held);
        const [one, other] = [first, again].map(({ text }) => JSON.parse(text));
        assertEquals([other.expiresAt, other.hits], [one.expiresAt, one.hits]);
      }
    }
    assertEquals(await waiting(world), 2);
  });
});

test("of twenty held calls with one key at once all wait for one approval, and one text is held", async () => {
  await withWrites(async (world) => {
    await heldTable(world);
    const { approvals } = world.app.deps.query;
    const byHash = approvals.byHash.bind(approvals);
    const { promise: allLooked, resolve } = Promise.withResolvers<void>();
    // A call that ended without a look must not keep the others waiting.
    const { promise: anyAnswer, resolve: answered } = Promise.withResolvers<void>();
    let looks = 0;
    approvals.byHash = async (hash) => {
      const found = await byHash(hash);
      if (++looks === 20) resolve();
      await Promise.race([allLooked, anyAnswer]);
      return found;
    };
    const calls = Array.from({ length: 20 }, () => world.shop.query(INSERT, [], KEYED));
    const answers = await Promise.all(calls.map((call) => call.finally(answered)));
    assertEquals(new Set(answers.map((answer) => heldBy(answer).approvalToken)).size, 1);
    assertEquals(await waiting(world), 1);
    const pieces = await Array.fromAsync(world.app.deps.kv.list({ prefix: ["held_piece"] }));
    assertEquals(new Set(pieces.map(({ key: [, holder] }) => holder)).size, 1);
  });
});

test("a step of a plan gets no approval of another database that had the slug before", async () => {
  await withWrites(async (world) => {
    const { app, shop } = world;
    await heldTable(world);
    const before = heldBy(await shop.query(INSERT, [], PLANNED));
    const databases = `/api/namespaces/${shop.slug}/databases`;
    const dropped = await app.request("DELETE", `${databases}/main`, {
      token: app.operatorKey,
      body: { confirm: "main" },
    });
    assertEquals(dropped.status, 200, dropped.text);
    const made = await app.request("POST", databases, { token: app.operatorKey, body: { slug: "main" } });
    assertEquals(made.status, 201, made.text);
    await heldTable(world);
    const held = heldBy(await shop.query(INSERT, [], PLANNED));
    assertNotEquals(held.approvalToken, before.approvalToken);
    await world.decide(held.id, "approve");
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
    assertEquals(await world.rows("SELECT a FROM t"), [[1]]);
  });
});

test("another request, key, operation or token waits for an approval of its own, as does a call without a key", async () => {
  await withWrites(async (world) => {
    const { shop } = world;
    await heldTable(world);
    const { token } = await shop.mint("write");
    const answers = [
      await shop.query(INSERT, [], KEYED),
      await shop.query("INSERT INTO t VALUES (2)", [], KEYED),
      await shop.query(INSERT, [], { headers: { "idempotency-key": "twice" } }),
      await shop.batch([[INSERT]], KEYED),
      await shop.query(INSERT, [], { ...KEYED, token }),
      await shop.query(INSERT),
      await shop.query(INSERT),
    ];
    assertEquals(new Set(answers.map((answer) => heldBy(answer).approvalToken)).size, answers.length);
    assertEquals(await waiting(world), answers.length);
  });
});

test("the token that a repetition gets again is redeemed once, and is kept nowhere", async () => {
  await withWrites(async (world) => {
    const { shop, app, decide, redeem, rows } = world;
    await heldTable(world);
    heldBy(await shop.query(INSERT, [], KEYED));
    const held = heldBy(await shop.query(INSERT, [], KEYED));
    const stored = (await Array.fromAsync(app.deps.kv.list({ prefix: [] })))
      .map((entry) => Deno.inspect([entry.key, entry.value], { depth: 9, strAbbreviateSize: 100_000 }))
      .join();
    assertEquals([stored.includes(held.approvalToken), stored.includes(tokenHash(held.approvalToken))], [
      false,
      true,
    ]);
    await decide(held.id, "approve");
    assertEquals(heldBy(await shop.query(INSERT, [], KEYED)), held, "approved and not redeemed yet");
    assertEquals((await redeem(held.approvalToken)).status, 200);
    assertEquals((await redeem(held.approvalToken)).status, 404);
    assertEquals(await rows("SELECT a FROM t"), [[1]]);
  });
});

test("behind an approval that was denied or has expired a repetition waits for another one", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    const { shop, decide } = world;
    await heldTable(world);
    const denied = heldBy(await shop.query(INSERT, [], KEYED));
    await decide(denied.id, "deny");
    const second = heldBy(await shop.query(INSERT, [], KEYED));
    assertNotEquals(second.approvalToken, denied.approvalToken);
    assertEquals(heldBy(await shop.query(INSERT, [], KEYED)), second);
    clock.turn(24 * 3_600_000 + 1);
    const third = heldBy(await shop.query(INSERT, [], KEYED));
    assertNotEquals(third.approvalToken, second.approvalToken);
    assertEquals(heldBy(await shop.query(INSERT, [], KEYED)), third);
  }, { clock });
});

test("behind an approval whose write failed, or whose redeemer has ended without a word, a repetition waits for another one", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    const { app, shop, setup, rule, decide, redeem } = world;
    await setup(
      "CREATE TABLE t (a)",
      "CREATE TABLE shut (a)",
      "CREATE TRIGGER no BEFORE INSERT ON t WHEN EXISTS (SELECT 1 FROM shut) BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    await rule({ tableGlob: "t", effect: "require_approval" });
    const send = async () => heldBy(await shop.query(INSERT, [], KEYED));
    const first = await send();
    await decide(first.id, "approve");
    await setup("INSERT INTO shut VALUES (1)");
    const failed = await redeem(first.approvalToken);
    assertEquals([failed.status, failed.body.code], [400, "sql_error"], failed.text);
    await setup("DELETE FROM shut");
    const second = await send();
    assertNotEquals(second.approvalToken, first.approvalToken);
    await decide(second.id, "approve");
    const { approvals } = app.deps.query;
    const record = await approvals.byHash(tokenHash(second.approvalToken));
    if (record === null) throw new TypeError("a held call has an approval");
    // As a process does before it runs the write.
    const redeemed = { state: "redeemed", redeemedAt: clock.now() } as const;
    assertNotEquals(await approvals.move(record, "approved", redeemed), null);
    clock.turn(59_000);
    assertEquals(await send(), second, "it may be running");
    clock.turn(1000);
    assertNotEquals((await send()).approvalToken, second.approvalToken);
  }, { clock });
});

test("an approval that waits is found again when the first ones of the call are forgotten, however many they were", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    const { app, shop, decide, redeem } = world;
    await heldTable(world);
    const send = async () => heldBy(await shop.query(INSERT, [], KEYED));
    for (let decided = 0; decided < 5; decided++) await decide((await send()).id, "deny");
    clock.turn(36 * 3_600_000);
    const open = await send();
    await decide(open.id, "approve");
    // Two days after they were made, the five are gone, and this one can be redeemed for some hours more.
    clock.turn(13 * 3_600_000);
    const { approvals } = app.deps.query;
    let looks = 0;
    const byHash = approvals.byHash.bind(approvals);
    approvals.byHash = (hash) => {
      looks++;
      return byHash(hash);
    };
    assertEquals(await send(), open);
    assertEquals(looks, 1);
    assertEquals(await waiting(world), 0);
    assertEquals((await redeem(open.approvalToken)).status, 200);
    assertEquals(await world.rows("SELECT a FROM t"), [[1]]);
  }, { clock });
});

test("approvals that were made before their newest number was kept are found one after the other", async () => {
  await withWrites(async (world) => {
    const { app: { deps: { kv } }, shop, decide } = world;
    await heldTable(world);
    const send = async () => heldBy(await shop.query(INSERT, [], KEYED));
    for (let decided = 0; decided < 3; decided++) await decide((await send()).id, "deny");
    const open = await send();
    for await (const { key } of kv.list({ prefix: ["newest_approval"] })) await kv.delete(key);
    assertEquals(await send(), open);
    await decide(open.id, "deny");
    const next = await send();
    assertNotEquals(next.approvalToken, open.approvalToken);
    assertEquals(await send(), next);
  });
});
