// How many approvals may wait at a time: an agent that tries over and over fills neither the store nor a person's day.
import { assertEquals } from "@std/assert";
import { approvalLimits, MAX_OPEN_APPROVALS, MAX_OPEN_APPROVALS_OF_TOKEN } from "../../lib/core/limits.ts";
import { member, rowsOf } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type Held, heldBy, withWrites, type WriteWorld } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("how many approvals may wait at a time", run);

const TOKENS = MAX_OPEN_APPROVALS / MAX_OPEN_APPROVALS_OF_TOKEN;

/** As many tokens as can have all approvals of a database between them, the shop's own among them. */
async function agents({ shop }: WriteWorld): Promise<string[]> {
  const others = Array.from({ length: TOKENS - 1 }, async () => (await shop.mint("admin")).token);
  return [shop.token, ...await Promise.all(others)];
}

/** A token of somebody to whom the one with that token passes on what it may do. */
async function passedOn({ app, shop }: WriteWorld, token: string): Promise<string> {
  const body = { role: "write", ttlSec: 60 };
  const handoff = await app.request("POST", `${shop.database.path}/handoff`, { token, body });
  const redeemed = await app.request("POST", "/v1/handoff/redeem", {
    body: { token: member(handoff, "token"), name: "helper" },
  });
  return member(redeemed, "token");
}

async function fill(world: WriteWorld): Promise<Held[]> {
  const { setup, rule, shop } = world;
  await setup("CREATE TABLE t (a)", "CREATE TABLE free (a)");
  await rule({ tableGlob: "t", effect: "require_approval" });
  const held: Held[] = [];
  for (const token of await agents(world)) {
    for (let at = 0; at < MAX_OPEN_APPROVALS_OF_TOKEN; at++) {
      held.push(heldBy(await shop.query("INSERT INTO t VALUES (?)", [at], { token })));
    }
  }
  return held;
}

test("one token does not take the room of others, and gets room again with each approval of its own that is done", async () => {
  await withWrites(async ({ setup, rule, shop, decide }) => {
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const [greedy, other] = [await shop.mint("write"), await shop.mint("write")];
    const hold = (token: string) => shop.query("INSERT INTO t VALUES (1)", [], { token });
    const held: Held[] = [];
    for (let at = 0; at < MAX_OPEN_APPROVALS_OF_TOKEN; at++) held.push(heldBy(await hold(greedy.token)));
    const last = await hold(greedy.token);
    assertEquals([last.status, last.body.code], [429, "too_many_approvals"], last.text);
    heldBy(await hold(other.token));
    await decide(held[0]?.id ?? "", "deny");
    heldBy(await hold(greedy.token));
    assertEquals((await hold(greedy.token)).body.code, "too_many_approvals");
  });
});

test("whom a token has passed power on to shares its room, and leaves that of others alone", async () => {
  await withWrites(async (world) => {
    const { setup, rule, shop, decide } = world;
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const [giver, other] = [await shop.mint("write"), await shop.mint("write")];
    const hold = (token: string) => shop.query("INSERT INTO t VALUES (1)", [], { token });
    const first = await passedOn(world, giver.token);
    const [second, third] = [await passedOn(world, giver.token), await passedOn(world, first)];
    const tokens = [giver.token, first, second, third];
    const held: Held[] = [];
    for (let at = 0; at < MAX_OPEN_APPROVALS_OF_TOKEN; at++) {
      held.push(heldBy(await hold(tokens[at % tokens.length] ?? "")));
    }
    for (const token of tokens) assertEquals((await hold(token)).body.code, "too_many_approvals");
    heldBy(await hold(other.token));
    await decide(held[1]?.id ?? "", "deny");
    heldBy(await hold(third));
    assertEquals((await hold(giver.token)).body.code, "too_many_approvals");
  });
});

test("large approvals of a namespace fill a part of KV and no more; small ones have their own room", async () => {
  const { keptBytes } = approvalLimits;
  approvalLimits.keptBytes = 400_000;
  try {
    await withWrites(async ({ setup, rule, shop, decide }) => {
      await setup("CREATE TABLE t (a)");
      await rule({ tableGlob: "t", effect: "require_approval" });
      const hold = (length: number) => shop.query("UPDATE t SET a = ?", ["x".repeat(length)]);
      const held = [heldBy(await hold(150_000)), heldBy(await hold(150_000))];
      for (const { id } of held) await decide(id, "deny");
      const late = await hold(150_000);
      assertEquals([late.status, late.body.code], [429, "too_many_approvals"], late.text);
      heldBy(await hold(60_000));
    });
  } finally {
    approvalLimits.keptBytes = keptBytes;
  }
});

test("further looks at small approvals take of the same room, and without it the write waits as it was seen", async () => {
  const { keptBytes } = approvalLimits;
  approvalLimits.keptBytes = 100_000;
  try {
    await withWrites(async ({ setup, rule, shop, app, decide, redeem }) => {
      await setup("CREATE TABLE t (a, b)", "INSERT INTO t VALUES ('x', 0), ('y', 0)");
      await rule({ tableGlob: "t", effect: "require_approval", minRows: 2 });
      const held = heldBy(await shop.query("UPDATE t SET b = 1"));
      await setup("UPDATE t SET a = hex(zeroblob(75000)) WHERE a = 'x'");
      const path = `/api/namespaces/${shop.slug}/approvals/${held.id}`;
      const looked = await app.request("POST", `${path}/look`, { token: app.operatorKey });
      assertEquals([looked.status, looked.body.code], [429, "too_many_approvals"], looked.text);
      await decide(held.id, "approve");
      assertEquals((await redeem(held.approvalToken)).body.code, "effect_changed");
      const shown = await app.request("GET", path, { token: app.operatorKey });
      const { data } = JSON.parse(shown.text) as {
        data: { state: string; look: number; preview: { before: unknown[] } };
      };
      assertEquals([data.state, data.look, data.preview.before], ["pending", 1, [["x", 0], ["y", 0]]]);
      assertEquals(rowsOf(await shop.query("SELECT b FROM t")), [[0], [0]]);
    });
  } finally {
    approvalLimits.keptBytes = keptBytes;
  }
});

test("a list tells of large calls as far as it has room, names all that wait, and each tells of itself", async () => {
  await withWrites(async ({ setup, rule, shop, app }) => {
    await setup("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const lengths = [10, 5_000_000, 6_000_000, 20];
    const held: Held[] = [];
    for (const length of lengths) {
      held.unshift(heldBy(await shop.query("DELETE FROM t WHERE a <> ?", ["x".repeat(length)])));
    }
    const path = `/api/namespaces/${shop.slug}/approvals`;
    const list = await app.request("GET", `${path}?state=pending`, { token: shop.token });
    type Listed = {
      id: string;
      whole: boolean;
      statements: { params: string[] }[];
      effect: { affected: number };
    };
    const { data } = JSON.parse(list.text) as { data: Listed[] };
    const lengthOf = ({ statements }: Listed) => statements[0]?.params[0]?.length ?? null;
    assertEquals(data.map((one) => [one.id, one.whole, lengthOf(one), one.effect.affected]), [
      [held[0]?.id, true, 20, 1],
      [held[1]?.id, true, 6_000_000, 1],
      [held[2]?.id, false, null, 1],
      [held[3]?.id, true, 10, 1],
    ]);
    const alone = await app.request("GET", `${path}/${held[2]?.id}`, { token: shop.token });
    const shown = (JSON.parse(alone.text) as { data: Listed }).data;
    assertEquals([shown.whole, lengthOf(shown)], [true, 5_000_000]);
  });
});

async function refused({ shop }: WriteWorld): Promise<void> {
  const answer = await shop.query("INSERT INTO t VALUES ('one too many')");
  assertEquals([answer.status, answer.body.code], [429, "too_many_approvals"], answer.text);
  assertEquals(answer.headers.get("retry-after"), "60");
  assertEquals(JSON.parse(answer.text).approvalToken, undefined);
}

test("a database has so many approvals that wait and no more; each that is done makes room for another", async () => {
  await withWrites(async (world) => {
    const { shop, decide, redeem, app } = world;
    const [first, second] = await fill(world);
    await refused(world);
    assertEquals((await shop.query("INSERT INTO free VALUES (1)")).status, 200, "other writes go on");
    const other = await app.namespace("other");
    await other.setup("CREATE TABLE t (a)");
    assertEquals((await other.query("INSERT INTO t VALUES (1)")).status, 200);
    await decide(first?.id ?? "", "approve");
    await refused(world);
    assertEquals((await redeem(first?.approvalToken ?? "")).status, 200);
    heldBy(await shop.query("INSERT INTO t VALUES ('in its place')"));
    await refused(world);
    await decide(second?.id ?? "", "deny");
    heldBy(await shop.query("INSERT INTO t VALUES ('in its place')"));
    await refused(world);
  });
});

test("approvals of a token that is revoked, and of those that come of it, keep nobody from being held", async () => {
  await withWrites(async (world) => {
    const { app, setup, rule, shop } = world;
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const [agent, second, other] = [
      await shop.mint("write"),
      await shop.mint("write"),
      await shop.mint("write"),
    ];
    const helper = await passedOn(world, agent.token);
    for (let at = 0; at < MAX_OPEN_APPROVALS; at++) {
      const token = at % 2 === 0 ? second.token : at % 4 === 1 ? agent.token : helper;
      heldBy(await shop.query("INSERT INTO t VALUES (?)", [at], { token }));
    }
    const held = () => shop.query("INSERT INTO t VALUES ('another')", undefined, { token: other.token });
    assertEquals((await held()).body.code, "too_many_approvals");
    const gone = await app.request("DELETE", `/api/namespaces/acme/tokens/${agent.id}`, {
      token: shop.token,
    });
    assertEquals(gone.status, 200, gone.text);
    const { id } = heldBy(await held());
    const pending = await app.request("GET", "/api/namespaces/acme/approvals?state=pending", {
      token: shop.token,
    });
    const left = pending.body.data as { id: string; requestedBy: string }[];
    assertEquals([left.length, left[0]?.id], [MAX_OPEN_APPROVALS_OF_TOKEN + 1, id]);
    assertEquals([...new Set(left.map((one) => one.requestedBy))], [other.id, second.id]);
  });
});

test("writes that come at the same moment get so many approvals and no more", async () => {
  await withWrites(async (world) => {
    const { setup, rule, shop } = world;
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const tokens = [...await agents(world), (await shop.mint("write")).token];
    const sent = Array.from(
      { length: MAX_OPEN_APPROVALS + 60 },
      (_, at) => shop.query("INSERT INTO t VALUES (?)", [at], { token: tokens[at % tokens.length] ?? "" }),
    );
    const codes = Map.groupBy(await Promise.all(sent), ({ body }) => body.code);
    const counted = [...codes].map(([code, answers]) => [code, answers.length]).sort();
    assertEquals(counted, [["approval_required", MAX_OPEN_APPROVALS], ["too_many_approvals", 60]]);
    await refused(world);
  });
});

test("where no more may wait, what was to run stays as good as it was", async () => {
  await withWrites(async (world) => {
    const { apply, app, decide, propose, redeem, rows, rule, setup, shop } = world;
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const held = heldBy(await shop.query("INSERT INTO t VALUES ('held')"));
    await decide(held.id, "approve");
    await rule({ tableGlob: "*", effect: "require_approval", note: "has come since" });
    const { executionToken } = await propose("INSERT INTO t VALUES ('proposed')");
    const { approvals } = app.deps.query;
    const areMany = approvals.areMany.bind(approvals);
    approvals.areMany = () => Promise.resolve(true);
    for (const answer of [await redeem(held.approvalToken), await apply(executionToken)]) {
      assertEquals([answer.status, answer.body.code], [429, "too_many_approvals"], answer.text);
    }
    approvals.areMany = areMany;
    heldBy(await redeem(held.approvalToken));
    heldBy(await apply(executionToken));
    assertEquals(await rows("SELECT count(*) FROM t"), [[0]]);
  });
});

test("approvals whose day is over make room", async () => {
  const clock = new TurnableClock();
  await withWrites(async (world) => {
    await fill(world);
    await refused(world);
    clock.turn(24 * 3_600_000 + 1);
    heldBy(await world.shop.query("INSERT INTO t VALUES ('a new day')"));
  }, { clock });
});
