// Parameter sets that a stop of the engine ends: the sets before it stay or not, as those before any other failure.
import { assert, assertEquals } from "@std/assert";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { ENDLESS } from "../testing/endless.ts";

/** Some hundredths of a second. */
const SLOW =
  "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 100000) SELECT count(*) FROM c";
const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a)";
/** In one row, however many there are. */
const IDS = "SELECT json_group_array(id) FROM (SELECT id FROM t ORDER BY id)";

async function send(app: StartedApp, tenant: TestNamespace, body: object) {
  const answer = await app.request("POST", `${tenant.database.path}/batch`, { token: tenant.token, body });
  let kept = await tenant.query(IDS);
  // On a busy machine a read that comes right behind it may have to wait for longer than its own limit.
  for (let again = 0; kept.body.code === "statement_timeout" && again < 20; again++) {
    kept = await tenant.query(IDS);
  }
  return { answer, body: JSON.parse(answer.text), ids: JSON.parse(String(rowsOf(kept)[0]?.[0])) };
}

Deno.test("paramSets that are stopped keep the sets before, one by one, or nothing, and name the set", async (t) => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "1500" } });
  const slow = (slug: string, transaction: boolean) => async () => {
    const tenant = await app.namespace(slug);
    await tenant.setup(T);
    const sql = `INSERT INTO t SELECT ?1, CASE WHEN ?2 THEN (${ENDLESS}) END`;
    const { answer, body, ids } = await send(app, tenant, {
      ...{ sql, transaction },
      paramSets: [[1, 0], [2, 0], [3, 1], [4, 0]],
    });
    assertEquals([answer.status, answer.body.code], [400, "statement_timeout"], answer.text);
    if (transaction) assertEquals([body.data, ids], [undefined, []], answer.text);
    else if (isEmbedded()) {
      assertEquals([body.failedIndex, body.data?.sets.rowsWritten, ids], [2, [1, 1], [1, 2]], answer.text);
    } // A server is sent some hundred sets at a time, and a stop ends them all.
    else assertEquals([body.failedIndex, body.data, ids], [0, null, []], answer.text);
    const log =
      "SELECT status, error_kind, statement_count, duration_ms > 1400 FROM _service_meta_query_log " +
      "WHERE operation = 'batch'";
    assertEquals(rowsOf(await tenant.query(log)), [["error", "timeout", 4, 1]]);
  };
  const unlooked = { sanitizeOps: false, sanitizeResources: false };
  await t.step({ ...unlooked, name: "one by one", fn: slow("apart", false) });
  await t.step({ ...unlooked, name: "all or nothing", fn: slow("whole", true) });
  await t.step({
    ...unlooked,
    name: "all sets together have the time of one statement",
    fn: async () => {
      const tenant = await app.namespace("sums");
      await tenant.setup(T);
      const { answer, body, ids } = await send(app, tenant, {
        sql: `INSERT INTO t SELECT ?1, (${SLOW})`,
        paramSets: Array.from({ length: 5000 }, (_, id) => [id + 1]),
      });
      assertEquals([answer.status, answer.body.code], [400, "statement_timeout"], answer.text.slice(0, 300));
      // What the answer says has stayed: no set more, and none less.
      assertEquals(ids.length, body.failedIndex);
      assertEquals(body.data?.sets.rowsWritten.length ?? 0, body.failedIndex);
      assert(body.failedIndex < 5000);
    },
  });
});

Deno.test("paramSets whose rows pass the bound keep the sets before the one that passed it, and no later one", async (t) => {
  await using app = await startApp({ settings: { MAX_RESULT_ROWS: "5" } });
  const tenant = await app.namespace("bounded");
  await tenant.setup(T);
  const sql = "INSERT INTO t SELECT ?1 + value, ?1 FROM json_each(?2) RETURNING id";
  const paramSets = [[0, "[1,2]"], [10, "[1,2]"], [20, "[1,2]"], [30, "[1]"]];
  for (const transaction of [true, false]) {
    await t.step(transaction ? "all or nothing" : "one by one", async () => {
      const { answer, body, ids } = await send(app, tenant, { sql, paramSets, transaction });
      assertEquals([answer.status, body.code, body.failedIndex], [400, "result_too_large", 2], answer.text);
      assertEquals(ids, transaction ? [] : [1, 2, 11, 12]);
      assertEquals(body.data?.sets.rowsWritten, transaction ? undefined : [2, 2], answer.text);
      assertEquals(body.data?.rows, transaction ? undefined : [[1], [2], [11], [12]]);
    });
  }
});
