// The token between propose and apply: who may use it, how often, how long, and what gives it back.
import { assert, assertEquals } from "@std/assert";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { heldBy, withWrites } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the token between propose and apply", run);

const table = ["CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')"];

test("of 200 who apply one token at once exactly one writes", async () => {
  await withWrites(async ({ apply, propose, rows, setup }) => {
    await setup(...table);
    const { executionToken } = await propose("INSERT INTO t (v) VALUES ('once')");
    const answers = await Promise.all(Array.from({ length: 200 }, () => apply(executionToken)));
    assertEquals(answers.filter(({ status }) => status === 200).length, 1);
    assertEquals(answers.filter(({ status }) => status === 404).length, 199);
    assertEquals(await rows("SELECT count(*) FROM t WHERE v = 'once'"), [[1]]);
  });
});

test("another bearer and another database get 403 and leave the token good; nonsense is 404", async () => {
  await withWrites(async ({ app, apply, propose, setup, shop }) => {
    await setup(...table);
    const { executionToken } = await propose("DELETE FROM t");
    const second = await shop.createDatabase("second");
    const elsewhere = await app.request("POST", `${second.path}/apply`, {
      token: shop.token,
      body: { executionToken },
    });
    assertEquals([elsewhere.status, elsewhere.body.code], [403, "not_yours"]);
    const rival = await app.namespace("rival");
    const foreign = await app.request("POST", `${rival.database.path}/apply`, {
      token: rival.token,
      body: { executionToken },
    });
    assertEquals(foreign.status, 403);
    for (const made of ["x", "pmut_", `pmut_${"a".repeat(38)}`, executionToken.replace("pmut_", "appr_")]) {
      assertEquals((await apply(made)).status, 404, made);
    }
    for (const body of [{}, { executionToken: "" }, { executionToken: 1 }, { executionToken, more: 1 }]) {
      const answer = await app.request("POST", `${shop.database.path}/apply`, { token: shop.token, body });
      assertEquals(answer.status, 400, JSON.stringify(body));
    }
    assertEquals((await apply(executionToken)).status, 200);
  });
});

test("a token lives as long as was asked for, between 30 s and an hour, ten minutes unless told", async () => {
  const clock = new TurnableClock();
  await withWrites(async ({ apply, post, propose, setup }) => {
    await setup(...table);
    const sql = "UPDATE t SET v = 'x' WHERE id = 1";
    const usual = await propose(sql);
    const lifeMs = Date.parse(usual.expiresAt) - clock.now();
    assert(lifeMs > 590_000 && lifeMs <= 600_000);
    const short = JSON.parse((await post("propose", { sql, ttlSec: 30 })).text).data;
    clock.turn(10_000);
    assertEquals((await apply(short.executionToken)).status, 200);
    const late = JSON.parse((await post("propose", { sql, ttlSec: 30 })).text).data;
    clock.turn(30_001);
    const expired = await apply(late.executionToken);
    assertEquals([expired.status, expired.body.code], [404, "execution_not_found"]);
    for (const ttlSec of [29, 3601, 60.5, "60", null]) {
      assertEquals((await post("propose", { sql, ttlSec })).status, 400, String(ttlSec));
    }
    assertEquals((await post("propose", { sql, ttlSec: 3600 })).status, 200);
  }, { clock });
});

test("an SQL error spends the token; a schema that has changed since is met as it is", async () => {
  await withWrites(async ({ apply, propose, rows, setup }) => {
    await setup(...table);
    const clash = await propose("INSERT INTO t (id, v) VALUES (3, 'c')");
    const gone = await propose("DELETE FROM t WHERE v = 'b'");
    const fine = await propose("UPDATE t SET v = 'z' WHERE id = 1");
    await setup("INSERT INTO t VALUES (3, 'other')", "ALTER TABLE t ADD COLUMN w");
    assertEquals((await apply(clash.executionToken)).body.errorDetail?.kind, "unique_violation");
    assertEquals((await apply(clash.executionToken)).status, 404);
    assertEquals((await apply(fine.executionToken)).status, 200);
    await setup("ALTER TABLE t RENAME TO u");
    assertEquals((await apply(gone.executionToken)).body.errorDetail?.kind, "unknown_table");
    assertEquals((await apply(gone.executionToken)).status, 404);
    assertEquals(await rows("SELECT v FROM u ORDER BY id"), [["z"], ["b"], ["other"]]);
  });
});

test("an empty balance gives the token back, a rule that holds the write spends it", async () => {
  await withWrites(async (world) => {
    const { app, apply, propose, rule, setup, shop } = world;
    await setup(...table);
    const { executionToken } = await propose("DELETE FROM t WHERE id = 1");
    const admit = app.deps.query.meter.admit;
    const { AppError } = await import("../../lib/core/errors.ts");
    for (const code of ["balance_exhausted", "meter_unreachable", "database_busy"] as const) {
      app.deps.query.meter.admit = () => {
        throw new AppError(code);
      };
      assertEquals((await apply(executionToken)).body.code, code);
    }
    app.deps.query.meter.admit = admit;
    await rule({ tableGlob: "t", effect: "require_approval" });
    const held = heldBy(await apply(executionToken));
    assertEquals((await apply(executionToken)).status, 404);
    await world.decide(held.id, "approve");
    app.deps.query.meter.admit = () => {
      throw new AppError("balance_exhausted");
    };
    assertEquals((await world.redeem(held.approvalToken)).status, 402);
    app.deps.query.meter.admit = admit;
    assertEquals((await world.redeem(held.approvalToken)).status, 200);
    assertEquals((await shop.query("SELECT count(*) FROM t")).status, 200);
  });
});

test("a proposed write that needs a higher role by now stays good for when it needs it no more", async () => {
  await withWrites(async ({ apply, propose, rows, setup, shop }) => {
    await setup("CREATE TABLE t (t)");
    const { token } = await shop.mint("write");
    const { executionToken } = await propose("INSERT INTO t (t) VALUES ('rebuild')", [], { token });
    // What was a row is a command of the index by now.
    await setup("DROP TABLE t", "CREATE VIRTUAL TABLE t USING fts5(a)");
    const refused = await apply(executionToken, { token });
    assertEquals([refused.status, refused.body.code], [403, "role_too_low"], refused.text);
    await setup("DROP TABLE t", "CREATE TABLE t (t)");
    const applied = await apply(executionToken, { token });
    assertEquals(applied.status, 200, applied.text);
    assertEquals(await rows("SELECT t FROM t"), [["rebuild"]]);
  });
});

test("a token that is revoked applies nothing", async () => {
  await withWrites(async ({ app, apply, propose, rows, setup, shop }) => {
    await setup(...table);
    const agent = await shop.mint("write");
    const { executionToken } = await propose("DELETE FROM t", [], { token: agent.token });
    const path = `/api/namespaces/${shop.slug}/tokens/${agent.id}`;
    assertEquals((await app.request("DELETE", path, { token: shop.token })).status, 200);
    assertEquals((await apply(executionToken, { token: agent.token })).status, 401);
    assertEquals(await rows("SELECT count(*) FROM t"), [[2]]);
  });
});

test("a change of the schema needs admin already to be proposed", async () => {
  await withWrites(async ({ apply, post, propose, setup, shop }) => {
    await setup(...table);
    const writer = await shop.mint("write");
    const refused = await post("propose", { sql: "DROP TABLE t" }, { token: writer.token });
    assertEquals([refused.status, refused.body.code], [403, "role_too_low"]);
    const { action, estimatedAffectedRows, executionToken } = await propose("DROP TABLE t");
    assertEquals([action, estimatedAffectedRows], ["schema", null]);
    const applied = await apply(executionToken);
    assertEquals([applied.status, applied.body.meta?.snapshot !== null], [200, true]);
  });
});

test("what is no single write is refused, and says so without a token", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup(...table);
    const answers: Record<string, readonly [number, string | undefined]> = {
      "SELECT 1": [400, "validation_failed"],
      "EXPLAIN DELETE FROM t": [400, "validation_failed"],
      "PRAGMA table_info(t)": [400, "validation_failed"],
      "": [400, "no_statement"],
      "DELETE FROM t; DELETE FROM t": [400, "multiple_statements"],
      "BEGIN": [403, "statement_refused"],
      "VACUUM": [403, "statement_refused"],
      "DELETE FROM _service_meta_query_log": [403, "statement_refused"],
      "DELETE FROM t WHERE id = ?": [400, "sql_error"],
    };
    for (const [sql, expected] of Object.entries(answers)) {
      const answer = await post("propose", { sql });
      assertEquals([answer.status, answer.body.code], expected, `${sql}: ${answer.text}`);
      assert(!answer.text.includes("pmut_"));
    }
  });
});

test("a plan's step is proposed once and applied once, however often it is sent", async () => {
  await withWrites(async ({ apply, post, rows, setup }) => {
    await setup(...table);
    const step = (n: string) => ({ headers: { "plan-key": "migration", "plan-step": n } });
    const body = { sql: "INSERT INTO t (v) VALUES ('plan')" };
    const first = JSON.parse((await post("propose", body, step("1"))).text).data;
    const again = await post("propose", body, step("1"));
    assertEquals(again.headers.get("plan-replayed"), "true");
    assertEquals(JSON.parse(again.text).data.executionToken, first.executionToken);
    const applied = await apply(first.executionToken, step("2"));
    const repeated = await apply(first.executionToken, step("2"));
    assertEquals([applied.status, repeated.status, repeated.headers.get("plan-replayed")], [
      200,
      200,
      "true",
    ]);
    assertEquals(repeated.body.data, applied.body.data);
    assertEquals((await apply(first.executionToken)).status, 404);
    assertEquals(await rows("SELECT count(*) FROM t WHERE v = 'plan'"), [[1]]);
  });
});

test("long calls that are proposed take 64 MiB of a namespace in an hour; short ones and others' go on", async () => {
  const clock = new TurnableClock();
  await withWrites(async ({ app, setup, shop }) => {
    await setup(...table);
    const rival = await app.namespace("rival");
    const propose = ({ database, token }: typeof shop, value: string) =>
      app.request("POST", `${database.path}/propose`, {
        token,
        body: { sql: "UPDATE t SET v = ? WHERE id = 1", params: [value] },
      });
    const long = "x".repeat(7_000_000);
    let kept = 0;
    for (; kept < 20; kept++) {
      const { status, body, headers } = await propose(shop, long);
      if (status === 200) continue;
      assertEquals([status, body.code, headers.get("retry-after")], [429, "too_many_requests", "3600"]);
      break;
    }
    // What is kept has the value, and what the preview has shown of it.
    assert(kept >= 2 && kept <= 9, `${kept} were kept`);
    assertEquals((await propose(shop, "short")).status, 200);
    await rival.setup(...table);
    assertEquals((await propose(rival, long)).status, 200);
    clock.turn(2 * 3_600_000);
    assertEquals((await propose(shop, long)).status, 200);
  }, { clock });
});
