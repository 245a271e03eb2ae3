// What holds on every surface holds on the door for clients of libSQL: roles, scopes, money, rules and approvals, bounds, and
// every statement of the corpus of attacks.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testSteps } from "../testing/cases.ts";
import { corpusSchema } from "../sql/corpus_schema.ts";
import { transactionControl } from "../../lib/sql/tokens/transaction_control.ts";
import { statementCorpus } from "../sql/statement_corpus.ts";
import {
  askedBatch,
  cursor,
  type DoorResult,
  hranaWorld,
  resultOf,
  stateProbe,
  valuesOf,
  wholeBatch,
} from "./hrana_world.ts";

/** The id of the approval that an error's message names. */
function approvalOf({ error }: DoorResult): string {
  assertEquals(error?.code, "APPROVAL_REQUIRED");
  assert(!/appr_|approval token/.test(error?.message ?? ""), error?.message);
  return /\/approvals\/(apv_\w+)/.exec(error?.message ?? "")?.[1] ?? "none";
}

testSteps("guards of the door for libSQL", hranaWorld, {
  "a held write runs once, when the same request comes again after the approval": async (world) => {
    const { execute, transaction, setup, rule, decide, rows } = world;
    await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1), (2), (3)");
    await rule({ tableGlob: "t", actions: ["delete"], effect: "require_approval" });
    const remove = () => execute("DELETE FROM t WHERE v = ?", [{ type: "integer", value: "1" }]);
    const id = approvalOf(await remove());
    assertEquals(approvalOf(await remove()), id);
    assert(approvalOf(await execute("DELETE FROM t WHERE v = ?", [{ type: "integer", value: "2" }])) !== id);
    assertEquals((await decide(id, "approve")).status, 200);
    assertEquals(resultOf(await remove()).affected_row_count, 1);
    assertEquals(await rows("SELECT v FROM t"), [[2], [3]]);
    assert(approvalOf(await remove()) !== id);
    const batch = () => transaction(["INSERT INTO t VALUES (4)", "DELETE FROM t WHERE v = 3"]);
    const held = resultOf(await batch()).step_errors.find((error) => error !== null);
    const batchId = approvalOf({ type: "error", ...(held ? { error: held } : {}) });
    assertEquals((await decide(batchId, "approve")).status, 200);
    assertEquals(resultOf(await batch()).step_errors.filter((error) => error !== null), []);
    assertEquals(await rows("SELECT v FROM t ORDER BY v"), [[2], [4]]);
  },

  "a held write under a key runs once, whatever other requests of its content wait beside it": async (
    world,
  ) => {
    const { app, execute, setup, rule, decide, rows, shop } = world;
    await setup("CREATE TABLE t (v)");
    const ruleId = await rule({ tableGlob: "t", actions: ["insert"], effect: "require_approval" });
    const put = (headers: Record<string, string>) =>
      execute("INSERT INTO t VALUES (1)", [], { token: shop.token, headers });
    const keyed = { "idempotency-key": "once" };
    const waiting: string[] = [];
    for (const headers of [{}, { "idempotency-key": "other" }, keyed]) {
      waiting.push(approvalOf(await put(headers)));
    }
    assertEquals(new Set(waiting).size, 3);
    assertEquals((await decide(waiting[2] ?? "", "approve")).status, 200);
    assertEquals(resultOf(await put(keyed)).affected_row_count, 1);
    assertEquals(resultOf(await put(keyed)).affected_row_count, 1);
    const path = `/api/namespaces/${shop.slug}/databases/main/rules/${ruleId}`;
    assertEquals((await app.request("DELETE", path, { token: shop.token })).status, 200);
    assertEquals(resultOf(await put(keyed)).affected_row_count, 1);
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
  },

  "a held write that is sent many times at once has one approval, also when it comes back for another look":
    async (
      world,
    ) => {
      const { execute, setup, rule, decide, rows, shop, app } = world;
      await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1)");
      await rule({ tableGlob: "t", actions: ["update"], effect: "require_approval" });
      const many = () => Promise.all(Array.from({ length: 20 }, () => execute("UPDATE t SET v = v + 1")));
      const pending = async () => {
        const path = `/api/namespaces/${shop.slug}/approvals?state=pending`;
        return (await app.request("GET", path, { token: app.operatorKey })).body.data as { id: string }[];
      };
      const codes = (answers: DoorResult[]) => answers.map(({ error }) => error?.code ?? "ran").sort();
      const others = Array.from({ length: 19 }, () => "APPROVAL_REQUIRED");
      const [id = "none", ...more] = new Set((await many()).map(approvalOf));
      assertEquals(more, []);
      assertEquals((await decide(id, "approve")).status, 200);
      await shop.query("INSERT INTO t VALUES (10)");
      assertEquals(codes(await many()), [...others, "EFFECT_CHANGED"].sort());
      assertEquals((await pending()).map((one) => one.id), [id]);
      assertEquals((await decide(id, "approve", { look: 1 })).status, 200);
      assertEquals(codes(await many()), [...others, "ran"].sort());
      assertEquals(await rows("SELECT v FROM t"), [[2], [11]]);
    },

  "a held write that people have approved many times runs each time": async (world) => {
    const { execute, setup, rule, decide, rows } = world;
    await setup("CREATE TABLE t (v)");
    await rule({ tableGlob: "t", effect: "require_approval" });
    const insert = () => execute("INSERT INTO t VALUES (1)");
    for (let round = 0; round < 25; round++) {
      await decide(approvalOf(await insert()), "approve");
      assertEquals(resultOf(await insert()).affected_row_count, 1);
    }
    assertEquals(await rows("SELECT count(*) FROM t"), [[25]]);
  },

  "a held write runs behind its approval when the client asks for the state of its stream too": async (
    world,
  ) => {
    const { setup, rule, decide, rows } = world;
    await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1), (2), (3)");
    await rule({ tableGlob: "t", actions: ["delete"], effect: "require_approval" });
    const first = "DELETE FROM t WHERE v = 1";
    for (const steps of [[{ stmt: { sql: first } }], askedBatch(["DELETE FROM t WHERE v = 2", first])]) {
      const send = () => cursor(world, [...steps, stateProbe]);
      const [, id = "none"] = /\/approvals\/(apv_\w+)/.exec(await send()) ?? [];
      assertEquals((await decide(id, "approve")).status, 200);
      assertMatch(await send(), /"affected_row_count":1/);
    }
    assertEquals(await rows("SELECT v FROM t"), [[3]]);
  },

  "an approved write that would do something else by now waits for another look": async (world) => {
    const { execute, setup, rule, decide, shop, rows } = world;
    await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1)");
    await rule({ tableGlob: "t", actions: ["delete"], effect: "require_approval" });
    const remove = () => execute("DELETE FROM t WHERE v > 0");
    await decide(approvalOf(await remove()), "approve");
    await shop.query("INSERT INTO t VALUES (2)");
    const { error } = await remove();
    assertEquals(error?.code, "EFFECT_CHANGED");
    assertMatch(error?.message ?? "", /\/approvals\/apv_/);
    assertEquals(await rows("SELECT count(*) FROM t"), [[2]]);
  },

  "nobody is asked about a request that is more than one call": async ({ pipeline, setup, rule, rows }) => {
    await setup("CREATE TABLE t (v)");
    await rule({ tableGlob: "t", actions: ["delete"], effect: "require_approval" });
    const requests = ["INSERT INTO t VALUES (1)", "DELETE FROM t WHERE v = 1"].map((sql) => ({
      type: "execute",
      stmt: { sql },
    }));
    const { body } = await pipeline({ requests });
    assertEquals(body.results.map(({ error }) => error?.code ?? null), [null, "TRANSACTION_HELD"]);
    const remove = { stmt: { sql: "DELETE FROM t WHERE v = 1" } };
    const insert = { stmt: { sql: "INSERT INTO t VALUES (2)" } };
    const stepErrors = async (requests: readonly unknown[]) => {
      const { results } = (await pipeline({ requests })).body;
      return results.flatMap((one) =>
        one.response?.result?.step_errors?.map((error) => error?.code ?? null) ?? []
      );
    };
    const before = { type: "execute", ...insert };
    const whole = { type: "batch", batch: wholeBatch([remove.stmt.sql]) };
    assertEquals(await stepErrors([before, whole]), [null, "TRANSACTION_HELD", null, null]);
    const alone = { type: "batch", batch: { steps: [remove] } };
    assertEquals(await stepErrors([before, alone]), ["TRANSACTION_HELD"]);
    // Neither runs where the other is held: they are one call, and share its failure.
    const apart = { type: "batch", batch: { steps: [insert, remove] } };
    assertEquals(await stepErrors([apart]), ["TRANSACTION_HELD", "TRANSACTION_HELD"]);
    assertEquals(await rows("SELECT v FROM t ORDER BY v"), [[1], [2], [2]]);
  },

  "a transaction that only reads writes nothing, also as one batch": async ({ pipeline, setup, rows }) => {
    await setup("CREATE TABLE t (v)");
    const { steps } = Object(wholeBatch(["SELECT 1", "INSERT INTO t VALUES (1)"]));
    const batch = { steps: [{ stmt: { sql: "BEGIN TRANSACTION READONLY" } }, ...steps.slice(1)] };
    const { results: [one] } = (await pipeline({ requests: [{ type: "batch", batch }] })).body;
    const codes = one?.response?.result?.step_errors?.map((error) => error?.code ?? null);
    assertEquals(codes, [null, null, "SQLITE_READONLY", null, null]);
    assertEquals(await rows("SELECT v FROM t"), []);
  },

  "a statement above the role refuses the whole request, skipped or described": async (world) => {
    const { pipeline, shop, setup, rows } = world;
    await setup("CREATE TABLE t (v)");
    const { token } = await shop.mint("write");
    const never = { type: "and", conds: [{ type: "ok", step: 0 }, { type: "error", step: 0 }] };
    for (const sql of ["DROP TABLE t", "ATTACH 'x' AS y", "INSERT INTO _service_meta_audit DEFAULT VALUES"]) {
      for (
        const second of [
          { type: "execute", stmt: { sql } },
          { type: "describe", sql },
          {
            type: "batch",
            batch: { steps: [{ stmt: { sql: "SELECT 1" } }, { condition: never, stmt: { sql } }] },
          },
          { type: "sequence", sql: `SELECT 1; ${sql}` },
        ]
      ) {
        const first = { type: "execute", stmt: { sql: "INSERT INTO t VALUES (1)" } };
        const { body } = await pipeline({ requests: [first, second] }, { token });
        const code = sql.startsWith("DROP") ? "ROLE_TOO_LOW" : "STATEMENT_REFUSED";
        assertEquals(body.results.map(({ error }) => error?.code), [code, code], sql);
      }
    }
    const stored = await pipeline({
      requests: [
        { type: "execute", stmt: { sql: "INSERT INTO t VALUES (1)" } },
        { type: "store_sql", sql_id: 7, sql: "DROP TABLE t" },
        { type: "execute", stmt: { sql_id: 7 } },
        { type: "close" },
      ],
    }, { token });
    const codes = stored.body.results.map(({ error }) => error?.code);
    assertEquals(codes, ["ROLE_TOO_LOW", undefined, "ROLE_TOO_LOW", undefined]);
    const texts = ["BEGIN", "INSERT INTO t VALUES (1)", "COMMIT", "ATTACH 'x' AS y"];
    const lines = (await cursor(world, texts.map((sql) => ({ stmt: { sql } })))).trimEnd().split("\n");
    assertMatch(lines.slice(1).join(), /^\{"type":"error",[^\n]*"code":"STATEMENT_REFUSED"/);
    assertEquals(await rows("SELECT v FROM t"), []);
  },

  "a reader reads, and a token of another database or branch does nothing": async (world) => {
    const { execute, shop, setup, app } = world;
    await setup("CREATE TABLE t (v)");
    const { token: reader } = await shop.mint("read");
    assertEquals(valuesOf(resultOf(await execute("SELECT 1", [], { token: reader }))), [["1"]]);
    assertEquals(
      (await execute("INSERT INTO t VALUES (1)", [], { token: reader })).error?.code,
      "ROLE_TOO_LOW",
    );
    const other = await shop.createDatabase("other");
    const scopes = [{ databaseId: other.id, branchRef: "main", role: "admin" as const }];
    const { token: scoped } = await shop.mint("admin", { scopes });
    assertEquals((await execute("SELECT 1", [], { token: scoped })).error?.code, "OUT_OF_SCOPE");
    const body = { requests: [{ type: "execute", stmt: { sql: "CREATE TABLE own (v)" } }] };
    const root = await app.request("POST", "/v2/pipeline", { token: scoped, body });
    assertEquals(root.status, 200, root.text);
    const many = await app.request("POST", "/v2/pipeline", { token: shop.token, body });
    assertEquals([many.status, JSON.parse(many.text).code], [404, "DATABASE_NOT_NAMED"]);
    assertEquals((await execute("SELECT 1", [], { token: "none" })).error?.code, "INVALID_BEARER");
  },

  "no statement of the corpus does more here than its role may": async ({ execute, shop, setup, rows }) => {
    await setup(...corpusSchema);
    const { token } = await shop.mint("read");
    const before = await rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name");
    for (const [sql, expected] of Object.values(statementCorpus).flat()) {
      // Which the door understands itself: alone in a request it begins what the end of the request ends.
      if (transactionControl(sql) !== null) continue;
      // Answered without the engine's path of the file, as tests/hrana/differences_test.ts shows.
      if (sql === "PRAGMA database_list") continue;
      const { error } = await execute(sql, [], { token });
      if (expected.startsWith("nobody ") || /^(?:write|admin) /.test(expected)) {
        assert(error !== undefined, `${sql} ran`);
      }
    }
    assertEquals(await rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name"), before);
  },

  "hostile requests get an answer and change nothing": async ({ pipeline, setup, rows, app, shop }) => {
    await setup("CREATE TABLE t (v)");
    const insert = { type: "execute", stmt: { sql: "INSERT INTO t VALUES (1)" } };
    let deep: unknown = { type: "ok", step: 0 };
    for (let depth = 0; depth < 5000; depth++) deep = { type: "not", cond: deep };
    const step = { stmt: { sql: "SELECT 1" } };
    const bodies: unknown[] = [
      "{",
      "null",
      "[]",
      { requests: [insert, { type: "nope" }] },
      { requests: [insert, { type: "execute" }] },
      { requests: [{ ...insert, stmt: { sql: "SELECT ?", args: [{ type: "integer", value: 1 }] } }, insert] },
      { requests: [{ ...insert, stmt: { sql: "SELECT ?", args: [{ type: "text", value: 1 }] } }, insert] },
      { requests: [insert, { type: "batch", batch: { steps: [step, { ...step, condition: deep }] } }] },
      {
        requests: [insert, {
          type: "batch",
          batch: { steps: [{ ...step, condition: { type: "ok", step: 0 } }] },
        }],
      },
      {
        requests: [insert, {
          type: "batch",
          batch: { steps: [{ ...step, condition: { type: "ok", step: -1 } }] },
        }],
      },
      { requests: Array.from({ length: 1001 }, () => insert) },
      { baton: "str_01.1.00", requests: [insert] },
      { baton: "s.AAAA", requests: [insert] },
      { baton: 5, requests: [insert] },
    ];
    for (const body of bodies) {
      const answer = await pipeline(body);
      assertEquals(answer.status, 400, JSON.stringify(body).slice(0, 200));
      assert(typeof answer.body.message === "string" && typeof answer.body.code === "string");
    }
    const big = await app.request("POST", `/hrana/${shop.slug}/main/v2/pipeline`, {
      token: shop.token,
      body: `{"requests":[${" ".repeat(9 * 1024 * 1024)}]}`,
    });
    assertEquals(big.status, 413);
    const ranges = await pipeline({
      requests: [{
        ...insert,
        stmt: { sql: "SELECT ?", args: [{ type: "integer", value: "9223372036854775808" }] },
      }],
    });
    assertEquals(ranges.body.results[0]?.error?.code, "VALIDATION_FAILED");
    const unknown = await pipeline({
      requests: [{ ...insert, more: 1 }],
      replication_index: "7",
      other: null,
    });
    assertEquals(unknown.status, 200);
    assertEquals(await rows("SELECT v FROM t"), [[1]]);
  },

  "a baton is good for its token and its database only": async ({ pipeline, shop, app }) => {
    const store = { requests: [{ type: "store_sql", sql_id: 1, sql: "SELECT 1" }] };
    const { body: { baton } } = await pipeline(store);
    const { token } = await shop.mint("admin");
    await shop.createDatabase("second");
    const next = { baton, requests: [{ type: "execute", stmt: { sql_id: 1 } }] };
    const stranger = await pipeline(next, { token });
    assertEquals([stranger.status, stranger.body.code], [400, "BATON_INVALID"]);
    const elsewhere = await app.request("POST", `/hrana/${shop.slug}/second/v2/pipeline`, {
      token: shop.token,
      body: next,
    });
    assertEquals(elsewhere.status, 400);
    assertEquals((await pipeline({ ...next, baton: `${baton}0` })).status, 400);
    assertEquals((await pipeline(next)).status, 200);
  },

  "a stream of which nobody expected the failure is gone, and not claimed for good": async (
    { app, pipeline, shop },
  ) => {
    const { facts } = app.deps.query;
    const syntax = facts.syntax.bind(facts);
    facts.syntax = (sql) => {
      if (sql.includes("unexpected")) throw new RangeError("the stack is full");
      return syntax(sql);
    };
    const sql = "SELECT 'unexpected'";
    const store = { requests: [{ type: "store_sql", sql_id: 1, sql: "SELECT 1" }] };
    const { size } = app.deps.hrana.kept;
    try {
      for (
        const [path, body] of [
          ["v2/pipeline", { requests: [{ type: "execute", stmt: { sql } }] }],
          ["v3/cursor", { batch: { steps: [{ stmt: { sql } }] } }],
        ] as const
      ) {
        const { body: { baton } } = await pipeline(store);
        const failed = await app.request("POST", `/hrana/${shop.slug}/main/${path}`, {
          token: shop.token,
          body: { baton, ...body },
        });
        assertEquals(failed.status, 500);
        assertEquals(app.deps.hrana.kept.size, size, path);
        assertEquals((await pipeline({ baton, ...store })).body.code, "STREAM_EXPIRED");
      }
    } finally {
      facts.syntax = syntax;
    }
  },

  "a cursor answers columns, rows and ends line by line": async ({ app, shop, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    const body = {
      batch: wholeBatch(["INSERT INTO t VALUES (5)", "SELECT id, 9e999 FROM t", "SELECT missing"]),
    };
    const path = `/hrana/${shop.slug}/main/v3/cursor`;
    const run = async (statements: string[]) => {
      const answer = await app.request("POST", path, {
        token: shop.token,
        body: { batch: { steps: statements.map((sql) => ({ stmt: { sql } })) } },
      });
      assertEquals(answer.status, 200, answer.text);
      return answer.text.trimEnd().split("\n");
    };
    const lines = await run(["INSERT INTO t VALUES (5)", "SELECT id, 9e999 FROM t", "SELECT missing"]);
    assertEquals(lines.slice(0, 6), [
      '{"baton":null,"base_url":null}',
      '{"type":"step_begin","step":0,"cols":[]}',
      '{"type":"step_end","affected_row_count":1,"last_insert_rowid":"5"}',
      '{"type":"step_begin","step":1,"cols":[{"name":"id","decltype":"INTEGER"},{"name":"9e999","decltype":null}]}',
      '{"type":"row","row":[{"type":"integer","value":"5"},{"type":"float","value":1e999}]}',
      '{"type":"step_end","affected_row_count":0,"last_insert_rowid":null}',
    ]);
    assertMatch(lines[6] ?? "", /^\{"type":"step_error","step":2,.*"code":"SQL_INPUT_ERROR"/);
    const whole = await app.request("POST", path, { token: shop.token, body });
    assertEquals(whole.text.match(/step_error/g)?.length, 1);
    const poor = await app.request("POST", path, { token: "none", body });
    assertEquals(poor.status, 401);
  },
});
