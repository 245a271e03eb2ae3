// X-Dry-Run and X-Max-Affected beside each other and beside what else a call may carry.
import { assert, assertEquals } from "@std/assert";
import { withBranches } from "../branches/branch_world.ts";
import { heldBy, shown, withWrites } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("X-Dry-Run and X-Max-Affected beside each other and beside what else a call may carry", run);

const table = ["CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"];
const bounded = (rows: number | string, more: Record<string, string> = {}) => ({
  headers: { "x-max-affected": String(rows), ...more },
});

test("X-Max-Affected counts a whole batch, also one that stops half-way", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...table);
    for (const transaction of [true, false]) {
      const whole = await shop.batch([["DELETE FROM t WHERE id = 1"], ["DELETE FROM t WHERE id > 1"]], {
        transaction,
        ...bounded(2),
      });
      assertEquals([whole.status, whole.body.code, JSON.parse(whole.text).affected], [
        400,
        "too_many_affected",
        3,
      ]);
      const partly = await shop.batch([["DELETE FROM t"], ["INSERT INTO t VALUES (7, 7), (7, 7)"]], {
        transaction,
        ...bounded(2),
      });
      assertEquals(partly.status, 400);
      assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
    }
    const within = await shop.batch(
      [["DELETE FROM t WHERE id = 1"], ["INSERT INTO t VALUES (2, 2)"]],
      bounded(1),
    );
    assertEquals([within.body.code, JSON.parse(within.text).data.length], ["sql_error", 1]);
    assertEquals(await rows("SELECT count(*) FROM t"), [[2]]);
  });
});

test("X-Max-Affected: 0 lets through what changes nothing", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...table);
    assertEquals((await shop.query("UPDATE t SET v = 0 WHERE id = 9", [], bounded(0))).status, 200);
    assertEquals((await shop.query("SELECT 1", [], bounded(0))).status, 200);
    assertEquals((await shop.query("UPDATE t SET v = 0", [], bounded(0))).body.code, "too_many_affected");
    const replaced = await shop.query("DELETE FROM t", [], bounded(2, { "x-service-no-snapshot": "1" }));
    assertEquals(replaced.body.code, "too_many_affected");
    for (const value of ["-1", "1.5", "", "1e3", "0x1", "9".repeat(16)]) {
      assertEquals((await shop.query("DELETE FROM t", [], bounded(value))).status, 400, value);
    }
    assertEquals(await rows("SELECT sum(v) FROM t"), [[6]]);
    assertEquals((await shop.query("DELETE FROM t", [], bounded(3))).status, 200);
  });
});

test("a dry run with X-Max-Affected answers what the call itself would", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(
      ...table,
      "CREATE TABLE log (v)",
      "CREATE TRIGGER note AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.v); END",
    );
    const batches: readonly (readonly (readonly [string])[])[] = [
      [["UPDATE t SET v = v + 1"], ["DELETE FROM t WHERE id = 1"]],
      [["UPDATE t SET v = v + 1"], ["SELECT 1"], ["INSERT INTO t VALUES (1, 1)"]],
      [["REPLACE INTO t VALUES (1, 1)"], ["CREATE TABLE made (a)"]],
    ];
    const plain = { "x-service-no-snapshot": "1" };
    for (const max of [0, 1, 2, 3, 4, 5, 6]) {
      for (const [at, statements] of batches.entries()) {
        for (const transaction of [true, false]) {
          const look = await shop.batch(statements, { ...bounded(max, { "x-dry-run": "1" }), transaction });
          const before = await rows("SELECT * FROM t");
          const real = await shop.batch(statements, { ...bounded(max, plain), transaction });
          const said = ({ status, body, text }: typeof look) => [
            ...[max, at, transaction, status, body.code, body.error, body.failedIndex],
            JSON.parse(text).affected,
          ];
          assertEquals(said(look), said(real), look.text);
          for (const sql of ["DROP TABLE IF EXISTS made", "DELETE FROM log"]) {
            await shop.query(sql, [], { headers: plain });
          }
          for (const [id] of await rows("SELECT id FROM t")) {
            await shop.query("DELETE FROM t WHERE id = ?", [id]);
          }
          for (const row of before) await shop.query("INSERT INTO t VALUES (?, ?)", row);
        }
      }
      const sql = "DELETE FROM t";
      const look = await shop.query(sql, [], bounded(max, { "x-dry-run": "1" }));
      assertEquals([look.status, look.body.code], max < 6 ? [400, "too_many_affected"] : [200, undefined]);
      assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
    }
  });
});

test("an answer that was too many is not kept for its idempotency key", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...table);
    const key = { "idempotency-key": "k" };
    assertEquals((await shop.query("DELETE FROM t", [], bounded(2, key))).status, 400);
    const again = await shop.query("DELETE FROM t", [], bounded(3, key));
    assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, null]);
    assertEquals(await rows("SELECT count(*) FROM t"), [[0]]);
  });
});

test("a dry run neither uses nor answers the key of the call it looks at", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...table);
    const look = { "x-dry-run": "1" };
    for (const keys of [{ "idempotency-key": "k" }, { "plan-key": "p", "plan-step": "1" }]) {
      const seen = await shop.query("INSERT INTO t (v) VALUES (4)", [], { headers: { ...keys, ...look } });
      assertEquals([seen.status, shown(seen).estimatedAffectedRows], [200, 1]);
    }
    assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
    const real = await shop.query("INSERT INTO t (v) VALUES (4)", [], {
      headers: { "idempotency-key": "k" },
    });
    assertEquals([real.status, real.headers.get("idempotency-replayed")], [200, null]);
    // The step of a plan has been used for the look: another call under it is refused, never answered by the look.
    const step = { headers: { "plan-key": "p", "plan-step": "1" } };
    assertEquals((await shop.query("INSERT INTO t (v) VALUES (4)", [], step)).status, 422);
    assertEquals(await rows("SELECT count(*) FROM t"), [[4]]);
    const looked = await shop.query("INSERT INTO t (v) VALUES (4)", [], {
      headers: { "idempotency-key": "k", ...look },
    });
    // The answer of the first look, not that of the call.
    assertEquals([looked.headers.get("idempotency-replayed"), shown(looked).action], ["true", "write"]);
  });
});

test("a bound that propose would not keep for apply is refused", async () => {
  await withWrites(async ({ post, setup }) => {
    await setup(...table);
    for (const name of ["X-Dry-Run", "X-Max-Affected", "Idempotency-Key"]) {
      const answer = await post("propose", { sql: "DELETE FROM t" }, { headers: { [name]: "1" } });
      assertEquals([answer.status, answer.body.issues?.map((issue) => issue.path)], [400, [name]]);
    }
  });
});

test("a look that apply would not hear is refused, and the token stays good", async () => {
  await withWrites(async ({ apply, propose, rows, setup }) => {
    await setup(...table);
    const { executionToken } = await propose("DELETE FROM t");
    for (const header of ["x-dry-run", "x-max-affected", "idempotency-key"]) {
      assertEquals((await apply(executionToken, { headers: { [header]: "1" } })).status, 400);
    }
    assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
    assertEquals((await apply(executionToken)).status, 200);
  });
});

test("an import that is only to be looked at, or bounded, is refused, and nothing comes in", async () => {
  await withWrites(async ({ rows, setup, shop: { database, token }, app }) => {
    await setup(...table);
    const calls = [
      ["POST", "import?format=csv&mode=append&table=t"],
      ["DELETE", "imports/none"],
      ["DELETE", "exports/none"],
    ] as const;
    for (const name of ["X-Dry-Run", "X-Max-Affected", "Idempotency-Key"]) {
      for (const [method, operation] of calls) {
        const answer = await app.request(method, `${database.path}/${operation}`, {
          ...{ token, headers: { [name]: "1" } },
          ...(method === "POST" ? { body: "id,v\n8,8\n" } : {}),
        });
        const issues = answer.body.issues?.map((issue) => issue.path);
        assertEquals([answer.status, issues], [400, [name]], `${method} ${operation} ${answer.text}`);
      }
    }
    assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
  });
});

test("no other call takes a header that it does not hear for heard, and GETs do nothing anyway", async () => {
  await withBranches(async ({ app, branch, call, claim, shop }) => {
    await claim();
    await branch("pr-1", "DELETE FROM items");
    const merge = { mode: "data", onConflict: "abort" };
    const { path } = shop.database;
    const calls: readonly (readonly [string, string, unknown])[] = [
      ["POST", `${path}/branches/pr-1/merge`, merge],
      ["POST", `${path}/branches/pr-1/reset`, undefined],
      ["DELETE", `${path}/branches/pr-1`, undefined],
      ["POST", `${path}/claim_branch`, { purpose: "another" }],
      ["POST", `${path}/snapshots`, undefined],
      ["POST", `${path}/restore`, { snapshot: "none" }],
      ["POST", `${path}/handoff`, { role: "read", ttlSec: 600 }],
      ["PUT", `${path}/describe`, { databaseDescription: "items" }],
      ["DELETE", `/api/namespaces/${shop.slug}/databases/main`, { confirm: "main" }],
    ];
    for (const name of ["X-Dry-Run", "X-Max-Affected", "Idempotency-Key"]) {
      const options = { token: shop.token, headers: { [name]: "1", "plan-key": "p", "plan-step": "1" } };
      for (const [method, path, body] of calls) {
        const answer = await app.request(method, path, {
          ...options,
          ...(body === undefined ? {} : { body }),
        });
        const issues = answer.body.issues?.map((issue) => issue.path);
        assertEquals([answer.status, issues], [400, [name]], `${method} ${path} ${answer.text}`);
      }
      const listed = await app.request("GET", `${path}/branches`, {
        token: shop.token,
        headers: { [name]: "1" },
      });
      assertEquals(JSON.parse(listed.text).data.length, 1, listed.text);
    }
    const act = `/api/namespaces/${shop.slug}/databases`;
    const planned = await app.request("POST", act, {
      ...{ token: shop.token, headers: { "plan-key": "p", "plan-step": "2" }, body: { slug: "planned" } },
    });
    assertEquals([planned.status, planned.body.issues?.map((issue) => issue.path)], [400, ["Plan-Key"]]);
    const bounded = await app.request("POST", `${path}/branches/pr-1/merge`, {
      ...{ token: shop.token, headers: { "x-dry-run": "1" }, body: merge },
    });
    assert(bounded.text.includes("dryRun"), bounded.text);
    // The step of a plan is as good as before: nothing has happened under it.
    const step = { token: shop.token, headers: { "plan-key": "p", "plan-step": "1" }, body: merge };
    assertEquals((await app.request("POST", `${path}/branches/pr-1/merge`, step)).status, 200);
    assertEquals((await call("GET", "branches")).status, 200);
  });
});

test("a dry run of a batch lets each statement see the ones before it", async () => {
  await withWrites(async ({ rows, setup, shop }) => {
    await setup(...table);
    const answer = await shop.batch([
      ["CREATE TABLE made (a)"],
      ["INSERT INTO made SELECT id FROM t"],
      ["UPDATE made SET a = a + 1 WHERE a > ?", 1],
      ["SELECT count(*) FROM made"],
    ], { headers: { "x-dry-run": "1" } });
    assertEquals(answer.status, 200, answer.text);
    const seen: { estimatedAffectedRows: number | null; action: string }[] = JSON.parse(answer.text).data;
    assertEquals(seen.map(({ action, estimatedAffectedRows }) => [action, estimatedAffectedRows]), [
      ["schema", null],
      ["write", 3],
      ["write", 2],
      ["read", 0],
    ]);
    assertEquals(JSON.parse(answer.text).data[2].preview.before, [[2], [3]]);
    assertEquals(await rows("SELECT count(*) FROM sqlite_schema WHERE name = 'made'"), [[0]]);
    const failing = await shop.batch([["DELETE FROM t"], ["INSERT INTO nowhere VALUES (1)"]], {
      headers: { "x-dry-run": "1" },
    });
    assertEquals([failing.status, JSON.parse(failing.text).failedIndex], [400, 1], failing.text);
  });
});

test("changes() says in a dry run, and in a call that was held, what it says in the call itself", async () => {
  await withWrites(async ({ decide, redeem, rows, rule, setup, shop }) => {
    await setup(...table);
    const upsert = (id: number): [string][] => [
      [`UPDATE t SET v = 9 WHERE id = ${id}`],
      [`INSERT INTO t SELECT ${id}, 7 WHERE changes() = 0`],
    ];
    const affected = async (id: number) => {
      const { text } = await shop.batch(upsert(id), { headers: { "x-dry-run": "1" } });
      const seen: { estimatedAffectedRows: number }[] = JSON.parse(text).data;
      return seen.map(({ estimatedAffectedRows }) => estimatedAffectedRows);
    };
    assertEquals([await affected(1), await affected(4)], [[1, 0], [0, 1]]);
    await rule({ tableGlob: "t", effect: "require_approval" });
    for (const id of [2, 5]) {
      const held = heldBy(await shop.batch(upsert(id), { transaction: true }));
      assertEquals((await decide(held.id, "approve")).status, 200);
      const redeemed = await redeem(held.approvalToken);
      assertEquals(redeemed.status, 200, redeemed.text);
    }
    assertEquals(await rows("SELECT id, v FROM t"), [[1, 1], [2, 9], [3, 3], [5, 7]]);
  });
});

test("changes() says it also where several statements in a row ask, and each of them has its plan", async () => {
  await withWrites(async ({ decide, redeem, rows, rule, setup, shop }) => {
    await setup(...table);
    const asking: [string][] = [
      ["UPDATE t SET v = v"],
      ["INSERT INTO t SELECT 7, changes()"],
      ["INSERT INTO t SELECT max(id) + 1, changes() FROM t"],
      ["DELETE FROM t WHERE v = 3 OR id = 8 AND v = 1"],
    ];
    const dry = await shop.batch(asking, { headers: { "x-dry-run": "1" } });
    const seen: { estimatedAffectedRows: number; plan: unknown[] }[] = JSON.parse(dry.text).data;
    assertEquals(seen.map(({ estimatedAffectedRows }) => estimatedAffectedRows), [3, 1, 1, 3], dry.text);
    assertEquals(seen.map(({ plan }) => plan.length > 0), [true, true, true, true], dry.text);
    await rule({ tableGlob: "t", effect: "require_approval" });
    const held = heldBy(await shop.batch(asking, { transaction: true }));
    assertEquals((await decide(held.id, "approve")).status, 200);
    const redeemed = await redeem(held.approvalToken);
    assertEquals(redeemed.status, 200, redeemed.text);
    assertEquals(await rows("SELECT id, v FROM t"), [[1, 1], [2, 2]]);
  });
});

test("an option in the address of a call with a body is refused, and the call does nothing", async () => {
  await withWrites(async ({ app, rows, setup, shop }) => {
    await setup(...table);
    const { path } = shop.database;
    const calls = [
      ["query?dryRun=1", "dryRun", { sql: "DELETE FROM t" }],
      ["batch?transaction=true&x", "transaction", { statements: [{ sql: "DELETE FROM t" }] }],
      ["restore?into=copy", "into", { snapshot: "none" }],
      ["migrations?dryRun=true", "dryRun", { files: [{ name: "1.sql", sql: "DELETE FROM t" }] }],
      ["propose?sql=x", "sql", { sql: "DELETE FROM t" }],
    ] as const;
    for (const [call, name, body] of calls) {
      const headers = { "plan-key": "p", "plan-step": call };
      const answer = await app.request("POST", `${path}/${call}`, { token: shop.token, body, headers });
      assertEquals([answer.status, answer.body.issues?.[0]?.path], [400, name], answer.text);
    }
    assertEquals(await rows("SELECT count(*) FROM t"), [[3]]);
    // Without anything in it a question mark says nothing.
    assertEquals(
      (await app.request("POST", `${path}/query?`, { token: shop.token, body: { sql: "SELECT 1" } })).status,
      200,
    );
  });
});
