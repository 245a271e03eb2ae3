// Rules of a database, seen by whoever writes below them: what passes runs as it would without them.
import { assertEquals } from "@std/assert";
import { MAX_RULES } from "../../lib/core/limits.ts";
import type { TenantDatabase } from "../../lib/tenant/tenant_store.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { countOutcomes } from "../testing/count_outcomes.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { heldBy, withWrites } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("rules of a database", run);

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
  tenants.open = (ids) =>
    new Proxy(open(ids), {
      get: (database, name) => {
        if (name === "run") return (call: Parameters<TenantDatabase["run"]>[0]) => run(database, call);
        const member = Reflect.get(database, name);
        return typeof member === "function" ? member.bind(database) : member;
      },
    });
}

test("a rule that is switched off does nothing until it is on again", async () => {
  await withWrites(async ({ app, shop, setup, rule }) => {
    await setup("CREATE TABLE t (a)");
    const id = await rule({ tableGlob: "t", effect: "deny" });
    const outcomes = [];
    for (const enabled of [false, true]) {
      const path = `/api/namespaces/${shop.slug}/databases/main/rules/${id}`;
      const { status } = await app.request("PATCH", path, { token: shop.token, body: { enabled } });
      outcomes.push(status, (await shop.query("INSERT INTO t VALUES (1)")).status);
    }
    assertEquals(outcomes, [200, 200, 200, 403]);
  });
});

test("a batch below a rule that holds nothing of it stops and stays as it would without the rule", async () => {
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

test("what a batch does before it stops is judged by the rules, and stays once a person has approved it", async () => {
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

test("a rule about what a batch does not reach holds it all the same: by then it might", async () => {
  await withWrites(async ({ rule, rows, setup, shop }) => {
    await setup(T, "CREATE TABLE kept (a)", "INSERT INTO t VALUES (1)");
    await rule({ tableGlob: "kept", effect: "require_approval" });
    heldBy(
      await shop.batch([["INSERT INTO t VALUES (2)"], ["INSERT INTO t VALUES (1)"], ["DELETE FROM kept"]]),
    );
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
  });
});

test("hits name the rules that were hit, and none that waits for more rows", async () => {
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

test("hits name every table and action that a rule is about once, what the statement names first", async () => {
  await withWrites(async ({ app, decide, redeem, rule, setup, shop }) => {
    await setup(
      "CREATE TABLE orders (id INTEGER PRIMARY KEY)",
      "CREATE TABLE a_lines (order_id INTEGER REFERENCES orders(id) ON DELETE CASCADE, n INTEGER)",
      "CREATE TABLE log (n INTEGER)",
      "CREATE TRIGGER told AFTER DELETE ON a_lines BEGIN INSERT INTO log VALUES (1); END",
    );
    const all = await rule({ tableGlob: "*", effect: "require_approval", note: "ask" });
    const wide = await rule({ tableGlob: "a*", effect: "require_approval", unboundedOnly: true });
    const held = await shop.query("DELETE FROM orders WHERE id = 1");
    assertEquals([held.status, held.body.code], [403, "approval_required"], held.text);
    const deletion = [["*", "orders", "delete"], ["*", "a_lines", "delete"], ["*", "log", "insert"]];
    assertEquals(hitsOf(held), deletion);
    assertEquals(JSON.parse(held.text).hits[0], {
      ...{ ruleId: all, tableGlob: "*", effect: "require_approval" },
      ...{ table: "orders", action: "delete", note: "ask" },
    });
    // Who decides sees the same, and it runs for all of it.
    const { id, approvalToken } = heldBy(held);
    const decided = await decide(id, "approve");
    assertEquals(JSON.parse(decided.text).data.hits, JSON.parse(held.text).hits);
    assertEquals((await redeem(approvalToken)).status, 200);
    const batch = await shop.batch([
      ["INSERT INTO log VALUES (1)"],
      ["INSERT INTO log VALUES (2)"],
      ["DELETE FROM orders"],
    ]);
    assertEquals(hitsOf(batch), [
      ...[["*", "log", "insert"], ["*", "orders", "delete"], ["*", "a_lines", "delete"]],
      ["a*", "a_lines", "delete"],
    ]);
    const rules = `/api/namespaces/${shop.slug}/databases/main/rules`;
    for (const one of [all, wide]) {
      const settings = { token: shop.token, body: { effect: "deny" } };
      assertEquals((await app.request("PATCH", `${rules}/${one}`, settings)).status, 200);
    }
    assertEquals(hitsOf(await shop.query("DELETE FROM orders WHERE id = 1")), deletion);
  });
});

test("a change of a rule that names the revision it was read at undoes nobody else's", async () => {
  await withWrites(async ({ app, rule, shop }) => {
    const { token } = shop;
    const rules = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const id = await rule({ tableGlob: "t", effect: "deny" });
    const change = (body: object) => app.request("PATCH", `${rules}/${id}`, { token, body });
    const read = async () => {
      const [{ revision, minRows, note }] =
        JSON.parse((await app.request("GET", rules, { token })).text).data;
      return { revision, minRows, note };
    };
    assertEquals(await read(), { revision: 1, minRows: null, note: null });
    const [one, other] = await Promise.all([
      change({ revision: 1, minRows: 5, note: null }),
      change({ revision: 1, minRows: null, note: "Ask Mara" }),
    ]);
    const [won, lost] = one?.status === 200 ? [one, other] : [other, one];
    assertEquals([won?.status, lost?.status, lost?.body.issues?.[0]?.path], [200, 400, "revision"]);
    const kept = won === one ? { minRows: 5, note: null } : { minRows: null, note: "Ask Mara" };
    assertEquals(await read(), { revision: 2, ...kept });
    assertEquals((await change({ minRows: 7 })).status, 200);
    assertEquals(await read(), { revision: 3, ...kept, minRows: 7 });
    assertEquals((await change({ revision: 3 })).status, 400);
    const gone = await app.request("DELETE", `${rules}/${id}`, { token });
    assertEquals([gone.status, gone.body.data], [200, { id }]);
    assertEquals((await app.request("DELETE", `${rules}/${id}`, { token })).body.code, "rule_not_found");
  });
});

test("hits are twenty at most, in equal shares of the rules, however long their notes are", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    const names = Array.from({ length: 30 }, (_, at) => `t${at}`);
    await setup(...names.map((name) => `CREATE TABLE ${name} (a INTEGER)`));
    for (const tableGlob of ["t*", "*", "t29"]) await rule({ tableGlob, effect: "deny" });
    const answer = await shop.batch(names.map((name) => [`INSERT INTO ${name} VALUES (1)`]));
    const globs = hitsOf(answer).map((hit) => Array.isArray(hit) ? hit[0] : hit);
    assertEquals(globs, [...Array(6).fill("t*"), ...Array(6).fill("*"), "t29"]);
  });
  await withWrites(async ({ rule, setup, shop }) => {
    await setup(T);
    for (let at = 0; at < 40; at++) {
      await rule({ tableGlob: "*", effect: "require_approval", note: "ł".repeat(1000) });
    }
    const answer = await shop.query("INSERT INTO t VALUES (1)");
    assertEquals([answer.body.code, hitsOf(answer).length], ["approval_required", 20], answer.text);
  });
});

test("names of any length are held and told, cut where they are longer than people read", async () => {
  await withWrites(async ({ decide, redeem, rule, rows, setup, shop }) => {
    const long = (at: number, length: number) => `"n${at}_${"ł".repeat(length)}"`;
    const children = Array.from({ length: 25 }, (_, at) => long(at, at === 0 ? 100_000 : 4000));
    await setup(
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "INSERT INTO p VALUES (1)",
      ...children.map((name) => `CREATE TABLE ${name} (p REFERENCES p ON DELETE CASCADE)`),
    );
    await rule({ tableGlob: "*", effect: "require_approval", note: "ł".repeat(1000) });
    const answer = await shop.query("DELETE FROM p");
    const held = heldBy(answer);
    const hits: { table: string }[] = JSON.parse(answer.text).hits;
    assertEquals([hits[0]?.table, hits[1]?.table], ["p", `${long(0, 997).slice(1, -1)}…`]);
    assertEquals(
      heldBy(await shop.query(`INSERT INTO ${long(0, 100_000)} VALUES (1)`)).id === held.id,
      false,
    );
    await decide(held.id, "approve");
    assertEquals((await redeem(held.approvalToken)).status, 200);
    assertEquals(await rows("SELECT count(*) FROM p"), [[0]]);
  });
});

test("a table that is renamed changes under both of its names", async () => {
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

test("a write that is looked at again because rows have become more is one row of the log", async () => {
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

test("a rule for what is unbounded says nothing of CREATE and ALTER, and stops what drops a table", async () => {
  await withWrites(async ({ post, rule, setup }) => {
    await setup(T, "INSERT INTO t VALUES (1)");
    await rule({ tableGlob: "*", effect: "deny", unboundedOnly: true });
    await setup(
      "CREATE TABLE u AS SELECT id FROM t",
      "CREATE INDEX u_id ON u (id)",
      "CREATE VIEW v AS SELECT id FROM u",
      "ALTER TABLE u ADD COLUMN more",
      "ALTER TABLE u RENAME COLUMN more TO other",
      "ALTER TABLE u RENAME TO w",
      "REINDEX w",
      "DROP INDEX u_id",
    );
    for (const sql of ["DELETE FROM t", "UPDATE t SET id = 3", "DELETE FROM t WHERE 1", "DROP TABLE t"]) {
      const answer = await post("query", { sql });
      assertEquals([answer.status, answer.body.code], [403, "rule_denied"], sql);
    }
  });
});

Deno.test("propose and a dry run say which rule would deny or hold the write, and nothing where none would", async () => {
  await withWrites(async ({ app, shop, post, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, n INT)");
    await setup("INSERT INTO t VALUES (1, 1), (2, 1), (3, 1)");
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const rule = async (body: object) => {
      const made = await app.request("POST", path, { token: shop.token, body });
      assertEquals(made.status, 201, made.text);
    };
    await rule({ tableGlob: "t", actions: ["delete"], effect: "deny" });
    await rule({ tableGlob: "t", actions: ["update"], effect: "require_approval", minRows: 2 });
    const shown = async (sql: string) => {
      const { body, status, text } = await post("propose", { sql });
      assertEquals(status, 200, text);
      const { rule, hits } = body.data as { rule?: string; hits?: { action: string }[] };
      return [rule, hits?.map(({ action }) => action)];
    };
    assertEquals(await shown("DELETE FROM t WHERE id = 1"), ["deny", ["delete"]]);
    assertEquals(await shown("UPDATE t SET n = 2"), ["require_approval", ["update"]]);
    assertEquals(await shown("UPDATE t SET n = 2 WHERE id = 1"), [undefined, undefined]);
    const statements = ["UPDATE t SET n = 3 WHERE id = 1", "INSERT INTO t (n) VALUES (4)"];
    const dry = await app.request("POST", `${shop.database.path}/batch`, {
      token: shop.token,
      headers: { "X-Dry-Run": "1" },
      body: { statements: statements.map((sql) => ({ sql })) },
    });
    // The rows of the whole call count, as they do when it runs.
    const each = (dry.body.data as { rule?: string }[]).map(({ rule }) => rule ?? null);
    assertEquals(each, ["require_approval", null], dry.text);
  });
});

test("of rules that are added at once no more are kept than a database may have", async () => {
  await withWrites(async ({ app, shop, rule }) => {
    for (let at = 0; at < MAX_RULES - 5; at++) await rule({ tableGlob: `t${at}`, effect: "deny" });
    const path = `/api/namespaces/${shop.slug}/databases/main/rules`;
    const body = { tableGlob: "last", effect: "deny" };
    const add = () => app.request("POST", path, { token: shop.token, body });
    const answers = await Promise.all(Array.from({ length: 40 }, add));
    assertEquals(countOutcomes(answers), { "201": 5, "400 validation_failed": 35 });
    const listed = await app.request("GET", path, { token: shop.token });
    assertEquals(JSON.parse(listed.text).data.length, MAX_RULES);
    const [first] = answers.filter(({ status }) => status === 201);
    const { id } = JSON.parse(first?.text ?? "").data;
    assertEquals((await app.request("DELETE", `${path}/${id}`, { token: shop.token })).status, 200);
    assertEquals((await add()).status, 201);
  });
});
