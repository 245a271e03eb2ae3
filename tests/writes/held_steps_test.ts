// A step of a plan that was held and has run: whoever resumes the plan gets the answer of that run.
import { assertEquals } from "@std/assert";
import { assertReplay, step } from "../replay/keyed.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { oneStore, testSteps } from "../testing/cases.ts";
import { heldBy, writesIn, type WriteWorld } from "./write_world.ts";

const { run } = oneStore();
Deno.test("held steps of a plan", run);

const PLAN = "plan-replayed";
const FIRST = step("month-end", "1");
const SECOND = step("month-end", "2");
const KEYED = { "idempotency-key": "month-end" };
const INSERT = "INSERT INTO t (v) VALUES (?) RETURNING id";

async function heldTable({ setup, rule }: WriteWorld): Promise<void> {
  await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
  await rule({ tableGlob: "t", effect: "require_approval" });
}

/** Has the held call approved, and redeems it. */
async function approved(
  { decide, redeem }: WriteWorld,
  answer: ApiAnswer,
  options?: ApiRequest,
): Promise<ApiAnswer> {
  const held = heldBy(answer);
  assertEquals((await decide(held.id, "approve")).status, 200);
  const ran = await redeem(held.approvalToken, options);
  assertEquals([ran.status, ran.headers.get(PLAN)], [200, null], ran.text);
  return ran;
}

/** What is held as the step `FIRST`, by kind. */
const held: Readonly<
  Record<string, {
    readonly prepare?: (world: WriteWorld) => Promise<unknown>;
    readonly send: (world: WriteWorld) => Promise<ApiAnswer>;
  }>
> = {
  "a restore": {
    prepare: async ({ post, setup }) => {
      await post("snapshots", { label: "one" });
      await setup("INSERT INTO t VALUES (2, 'two')");
    },
    send: ({ post }) => post("restore", { snapshot: "one" }, FIRST),
  },
  "a merge": {
    prepare: async ({ app, shop, post }) => {
      await post("claim_branch", { purpose: "more", ref: "more" });
      const body = { sql: "INSERT INTO t VALUES (2, 'two')" };
      const { token, database: { path } } = shop;
      assertEquals((await app.request("POST", `${path}@more/query`, { token, body })).status, 200);
    },
    send: ({ post }) => post("branches/more/merge", { mode: "data", onConflict: "abort" }, FIRST),
  },
  "migrations": {
    send: ({ post }) =>
      post("migrations", {
        files: [
          { name: "1_make.sql", sql: "CREATE TABLE made (a); INSERT INTO made VALUES (1)" },
          { name: "2_fill.sql", sql: "INSERT INTO t VALUES (2, 'two')" },
        ],
      }, FIRST),
  },
  "a batch of which each statement stays for itself": {
    send: ({ post }) =>
      post("batch", {
        statements: [{ sql: "INSERT INTO t VALUES (2, 'two')" }, { sql: "DELETE FROM t WHERE id = 1" }],
      }, FIRST),
  },
  "a file": {
    send: ({ app, shop: { token, database: { path } } }) =>
      app.request("POST", `${path}/import?format=sql&mode=replace`, {
        ...{ token, ...FIRST },
        body: "CREATE TABLE t (id INTEGER PRIMARY KEY, v);\nINSERT INTO t VALUES (2, 'two');\n",
      }),
  },
};

testSteps("a step that was held and has run", writesIn, {
  "is answered as it ran: a query, a batch, sets of parameters and apply": async (world) => {
    await heldTable(world);
    const { shop, post, propose, apply, rows } = world;
    const { executionToken } = await propose(INSERT, ["applied"]);
    const calls = [
      (options: ApiRequest) => shop.query(INSERT, ["query"], options),
      (options: ApiRequest) => shop.batch([[INSERT, "one"], [INSERT, "two"]], options),
      (options: ApiRequest) => post("batch", { sql: INSERT, paramSets: [["x"], ["y"]] }, options),
      (options: ApiRequest) => apply(executionToken, options),
    ];
    for (const [at, send] of calls.entries()) {
      const own = step("calls", String(at));
      const ran = await approved(world, await send(own));
      for (let n = 0; n < 2; n++) assertReplay(ran, await send(own), PLAN);
    }
    assertEquals(
      (await rows("SELECT v FROM t ORDER BY id")).flat(),
      ["query", "one", "two", "x", "y", "applied"],
    );
  },

  "is answered beside the step that redeemed it, which is answered too": async (world) => {
    await heldTable(world);
    const send = () => world.shop.query(INSERT, ["once"], FIRST);
    const held = heldBy(await send());
    const ran = await approved(world, await send(), SECOND);
    for (let n = 0; n < 2; n++) {
      assertReplay(ran, await send(), PLAN);
      assertReplay(ran, await world.redeem(held.approvalToken, SECOND), PLAN);
    }
    assertEquals(await world.rows("SELECT v FROM t"), [["once"]]);
  },

  "is answered under its idempotency key as well, and under both": async (world) => {
    await heldTable(world);
    const send = (headers: Record<string, string>) => world.shop.query(INSERT, ["once"], { headers });
    const both = { ...FIRST.headers, ...KEYED };
    const ran = await approved(world, await send(both), SECOND);
    assertReplay(ran, await send(KEYED));
    assertReplay(ran, await send({ ...FIRST.headers }), PLAN);
    assertReplay(ran, await send(both), PLAN);
    assertEquals(await world.rows("SELECT v FROM t"), [["once"]]);
  },

  "is answered as it ran: a restore, also where rows have come since": async (world) => {
    await heldTable(world);
    const { post, rows } = world;
    assertEquals((await post("snapshots", { label: "empty" })).status, 201);
    await approved(world, await world.shop.query(INSERT, ["gone"]));
    const send = () => post("restore", { snapshot: "empty" }, FIRST);
    const ran = await approved(world, await send(), SECOND);
    await approved(world, await world.shop.query(INSERT, ["later"]));
    for (let n = 0; n < 2; n++) assertReplay(ran, await send(), PLAN);
    assertEquals(await rows("SELECT v FROM t"), [["later"]]);
  },

  "is another request's once it has redeemed itself": async (world) => {
    await heldTable(world);
    const send = () => world.shop.query(INSERT, ["once"], FIRST);
    const held = heldBy(await send());
    const ran = await approved(world, await send(), FIRST);
    assertReplay(ran, await world.redeem(held.approvalToken, FIRST), PLAN);
    assertEquals((await send()).body.code, "replay_mismatch");
    assertEquals(await world.rows("SELECT v FROM t"), [["once"]]);
  },

  "does not run again by its approval where it ran without the rule meanwhile": async (world) => {
    const { app, shop, redeem, decide } = world;
    await world.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    const id = await world.rule({ tableGlob: "t", effect: "require_approval" });
    const send = () => shop.query(INSERT, ["once"], FIRST);
    const held = heldBy(await send());
    const path = `/api/namespaces/${shop.slug}/databases/main/rules/${id}`;
    assertEquals((await app.request("DELETE", path, { token: shop.token })).status, 200);
    const ran = await send();
    await decide(held.id, "approve");
    for (let n = 0; n < 2; n++) {
      const redeemed = await redeem(held.approvalToken, SECOND);
      assertEquals([redeemed.status, redeemed.text], [200, ran.text]);
    }
    assertEquals(await world.rows("SELECT v FROM t"), [["once"]]);
  },

  ...Object.fromEntries(
    Object.entries(held).map(([name, { prepare, send }]) => [
      `is answered as it ran, also where the process died before it kept the answer: ${name}`,
      async (world: WriteWorld) => {
        const { app, setup, rule, rows, decide } = world;
        await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1, 'one')");
        await prepare?.(world);
        await rule({ tableGlob: "t", effect: "require_approval", actions: ["insert", "delete", "update"] });
        const { id, approvalToken } = heldBy(await send(world));
        await decide(id, "approve");
        // What dies behind the commit has noted nothing.
        const { query: { approvals }, kv } = app.deps;
        const { noteRan } = approvals;
        approvals.noteRan = () => Promise.resolve();
        const ran = await world.redeem(approvalToken, SECOND).finally(() => approvals.noteRan = noteRan);
        for await (const { key } of kv.list({ prefix: ["replay"] })) await kv.delete(key);
        assertEquals(ran.status, 200, ran.text);
        await setup("CREATE TABLE since (a)");
        const again = await world.redeem(approvalToken, SECOND);
        assertEquals([again.status, again.body.data], [200, ran.body.data], again.text);
        const first = await send(world);
        assertEquals([first.status, first.body.data], [200, ran.body.data], first.text);
        assertEquals(await rows("SELECT count(*) FROM sqlite_schema WHERE name = 'since'"), [[1]]);
        const { text } = await app.request("GET", `/api/namespaces/${world.shop.slug}/approvals/${id}`, {
          token: app.operatorKey,
        });
        assertEquals(JSON.parse(text).data.outcome?.kind, "ran", text);
      },
    ]),
  ),
});
