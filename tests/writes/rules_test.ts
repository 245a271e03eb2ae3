// Rules of a database, seen by whoever writes below them: what passes runs as it would without them.
import { assertEquals } from "@std/assert";
import type { TenantDatabase } from "../../lib/tenant/tenant_store.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { heldBy, withWrites } from "./write_world.ts";

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY)";

/** Status, code, place of the failure, and what each statement that stays has written. */
function told({ status, body }: ApiAnswer): unknown[] {
  const data: unknown = body.data;
  const written = Array.isArray(data) ? data.map((one) => Reflect.get(one, "rowsWritten")) : data;
  return [status, body.code ?? null, body.failedIndex ?? null, written];
}

function hitsOf(answer: ApiAnswer): unknown[] {
  const { hits } = JSON.parse(answer.text);
  return hits.map(({ tableGlob, table, action }: Record<string, unknown>) => [tableGlob, table, action]);
}

/** `looked` comes between each look of a rule and the run behind it, `done` after that run. */
function between(
  { deps }: StartedApp,
  { looked, done }: Readonly<Record<"looked" | "done", () => Promise<unknown>>>,
): void {
  const { tenants } = deps;
  const open = tenants.open.bind(tenants);
  let isLooking = false;
  const run = async (database: TenantDatabase, call: Parameters<TenantDatabase["run"]>[0]) => {
    const outcome = await database.run(call);
    if (call.dryRun) {
      isLooking = true;
      await looked();
      isLooking = false;
    } else if (!isLooking && call.affected !== null) await done();
    return outcome;
  };
  tenants.open = (databaseId, namespaceId) =>
    new Proxy(open(databaseId, namespaceId), {
      get: (database, name) => {
        if (name === "run") return (call: Parameters<TenantDatabase["run"]>[0]) => run(database, call);
        const member = Reflect.get(database, name);
        return typeof member === "function" ? member.bind(database) : member;
      },
    });
}

Deno.test("a batch below a rule that holds nothing of it stops and stays as it would without the rule", async () => {
  for (const effect of ["require_approval", "deny"]) {
    await withWrites(async ({ rule, rows, setup, shop }) => {
      await setup(T, "INSERT INTO t VALUES (1)");
      await rule({ tableGlob: "*", effect, minRows: 1000 });
      const statements = [["INSERT INTO t VALUES (2)"], ["INSERT INTO t VALUES (1)"], [
        "INSERT INTO t VALUES (3)",
      ]] as const;
      assertEquals(told(await shop.batch(statements)), [400, "sql_error", 1, [1]], effect);
      assertEquals(await rows("SELECT id FROM t ORDER BY id"), [[1], [2]]);
      const atomic = await shop.batch(statements.map(([sql]) => [sql.replace("(2)", "(5)")]), {
        transaction: true,
      });
      assertEquals(told(atomic), [400, "sql_error", 1, undefined]);
      const first = await shop.batch([["INSERT INTO t VALUES (1)"], ["INSERT INTO t VALUES (6)"]]);
      assertEquals(told(first), [400, "sql_error", 0, []]);
      assertEquals(await rows("SELECT id FROM t ORDER BY id"), [[1], [2]]);
    });
  }
});

Deno.test("what a batch does before it stops is judged by the rules, and stays once a person has approved it", async () => {
  await withWrites(async ({ rule, rows, setup, shop, decide, redeem }) => {
    await setup(T, "INSERT INTO t VALUES (1)");
    await rule({ tableGlob: "t", effect: "require_approval", actions: ["insert"], minRows: 2 });
    const two = "INSERT INTO t VALUES (2), (3)";
    const held = heldBy(
      await shop.batch([[two], ["INSERT INTO t VALUES (1)"], ["INSERT INTO t VALUES (4)"]]),
    );
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
    assertEquals((await decide(held.id, "approve")).status, 200);
    assertEquals(told(await redeem(held.approvalToken)), [400, "sql_error", 1, [2]]);
    assertEquals(await rows("SELECT id FROM t ORDER BY id"), [[1], [2], [3]]);
    await setup("DELETE FROM t WHERE id > 1");
    await rule({ tableGlob: "t", effect: "deny", minRows: 2 });
    const denied = await shop.batch([[two], ["INSERT INTO t VALUES (1)"]]);
    assertEquals([denied.status, denied.body.code], [403, "rule_denied"], denied.text);
    assertEquals(await rows("SELECT id FROM t ORDER BY id"), [[1]]);
  });
});

Deno.test("a rule about what a batch does not reach holds it all the same: by then it might", async () => {
  await withWrites(async ({ rule, rows, setup, shop }) => {
    await setup(T, "CREATE TABLE kept (a)", "INSERT INTO t VALUES (1)");
    await rule({ tableGlob: "kept", effect: "require_approval" });
    heldBy(
      await shop.batch([["INSERT INTO t VALUES (2)"], ["INSERT INTO t VALUES (1)"], ["DELETE FROM kept"]]),
    );
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
  });
});

Deno.test("hits name the rules that were hit, and none that waits for more rows", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    await setup(T);
    await rule({ tableGlob: "*", effect: "deny", minRows: 1000 });
    await rule({ tableGlob: "t*", effect: "require_approval" });
    await rule({ tableGlob: "t", effect: "deny", actions: ["insert"] });
    const answer = await shop.query("INSERT INTO t VALUES (1)");
    assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
    assertEquals(hitsOf(answer), [["t", "t", "insert"]]);
  });
});

Deno.test("a table that is renamed changes under both of its names", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    await setup("CREATE TABLE items (a)");
    await rule({ tableGlob: "things", effect: "deny", actions: ["schema"] });
    for (const sql of ["ALTER TABLE items RENAME TO things", 'ALTER TABLE "items" RENAME TO [Things]']) {
      const answer = await shop.query(sql);
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
    }
    await setup("ALTER TABLE items RENAME COLUMN a TO things", "ALTER TABLE items RENAME TO others");
  });
});

Deno.test("a write that is looked at again because rows have become more is one row of the log", async () => {
  await withWrites(async ({ app, rule, rows, setup, shop }) => {
    await setup("CREATE TABLE queue (done INTEGER)", "INSERT INTO queue VALUES (0), (0)");
    await rule({ tableGlob: "queue", effect: "require_approval", actions: ["update"], minRows: 3 });
    let goes = true;
    between(app, {
      looked: () => shop.query("INSERT INTO queue VALUES (0)"),
      done: () => goes ? shop.query("DELETE FROM queue WHERE rowid = 3") : Promise.resolve(),
    });
    const update = "UPDATE queue SET done = 1";
    const busy = await shop.query(update);
    assertEquals([busy.status, busy.body.code], [503, "database_busy"], busy.text);
    assertEquals(busy.body.error, "Try again shortly; the database keeps changing");
    goes = false;
    const [[left]] = await rows("SELECT count(*) FROM queue") as [[number]];
    assertEquals(left, 2);
    heldBy(await shop.query(update));
    assertEquals(await rows("SELECT DISTINCT done FROM queue"), [[0]]);
    const log = "SELECT status, error_kind FROM _service_meta_query_log WHERE sql LIKE 'UPDATE%' ORDER BY id";
    assertEquals(await rows(log), [["error", "database_busy"], ["error", "approval_required"]]);
  });
});
