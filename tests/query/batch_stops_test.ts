// Batches that are no transaction and stop where the engine itself ends one: what ran before stays, once, and is told.
import { assert, assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { readPatiently } from "./read_patiently.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { ENDLESS } from "../testing/endless.ts";

const { run, test } = oneStore();
Deno.test("batch stops", run);

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";

function told(answer: ApiAnswer): unknown[] {
  const { status, body } = answer;
  const kept = body.data as { rows: unknown[][]; rowsWritten: number }[];
  return [status, body.code, body.failedIndex, kept?.map(({ rows, rowsWritten }) => [rows, rowsWritten])];
}

/** The row of the only batch has the time of the stopped statement too, one second, and none that its caller did not wait. */
async function assertTimed(tenant: TestNamespace, waitedMs: number): Promise<void> {
  const log = await readPatiently(
    tenant,
    "SELECT duration_ms FROM _service_meta_query_log WHERE operation = 'batch'",
  );
  const durationMs = Number(log[0]?.[0]);
  assert(durationMs >= 900 && durationMs <= Math.ceil(waitedMs), `${durationMs} of ${waitedMs}`);
}

async function ids(tenant: TestNamespace): Promise<unknown[]> {
  return (await readPatiently(tenant, "SELECT id FROM t ORDER BY id")).flat();
}

test("a batch whose later statement runs too long keeps and tells what ran before, and logs one error", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "1000" } });
  const tenant = await app.namespace();
  await tenant.query(T);
  const headers = { "Idempotency-Key": "once" };
  const statements = [
    ["INSERT INTO t VALUES (1, 'x')"],
    ["INSERT INTO t VALUES (2, 'y') RETURNING a"],
    [`INSERT INTO t SELECT 3, (${ENDLESS})`],
    ["INSERT INTO t VALUES (4, 'z')"],
  ] as const;
  const sentMs = performance.now();
  const answer = await tenant.batch(statements, { headers });
  const waitedMs = performance.now() - sentMs;
  assertEquals(told(answer), [400, "statement_timeout", 2, [[[], 1], [[["y"]], 1]]], answer.text);
  assertEquals(await ids(tenant), [1, 2]);
  const log = await readPatiently(
    tenant,
    "SELECT status, error_kind, rows_written, statement_count FROM _service_meta_query_log WHERE operation = 'batch'",
  );
  assertEquals(log, [["error", "timeout", 2, 4]]);
  await assertTimed(tenant, waitedMs);
  const audit = await readPatiently(
    tenant,
    "SELECT rows_written FROM _service_meta_audit WHERE operation = 'batch'",
  );
  assertEquals(audit, [[2]]);
  // A failure is not kept under its key: the same request runs again.
  const again = await tenant.batch(statements, { headers });
  assertEquals([again.status, again.body.failedIndex], [400, 0], again.text);
});

test("a batch with transaction, or whose first statement runs too long, keeps nothing", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "1000" } });
  const tenant = await app.namespace();
  await tenant.query(T);
  const endless = [`INSERT INTO t SELECT 3, (${ENDLESS})`] as const;
  const atomic = await tenant.batch([["INSERT INTO t VALUES (1, 'x')"], endless], { transaction: true });
  assertEquals(told(atomic), [400, "statement_timeout", 1, undefined], atomic.text);
  const first = await tenant.batch([endless, ["INSERT INTO t VALUES (1, 'x')"]]);
  assertEquals(told(first), [400, "statement_timeout", 0, []], first.text);
  assertEquals(await ids(tenant), []);
});

test("a batch of reads whose later statement runs too long answers those before it", async () => {
  await using app = await startApp({ settings: { QUERY_TIMEOUT_MS: "1000" } });
  const tenant = await app.namespace();
  const sentMs = performance.now();
  const answer = await tenant.batch([["SELECT 7"], [ENDLESS], ["SELECT 8"]]);
  const waitedMs = performance.now() - sentMs;
  assertEquals(told(answer), [400, "statement_timeout", 1, [[[[7]], 0]]], answer.text);
  const log = await readPatiently(
    tenant,
    "SELECT status, error_kind FROM _service_meta_query_log WHERE operation = 'batch'",
  );
  assertEquals(log, [["error", "timeout"]]);
  await assertTimed(tenant, waitedMs);
});

test("a statement that demands ROLLBACK takes nothing with it that ran before in a batch", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  await tenant.query(
    "CREATE TRIGGER no BEFORE DELETE ON t BEGIN SELECT RAISE(ROLLBACK, 'rows stay'); END",
  );
  const statements = (id: number, last: string) =>
    [
      ["INSERT INTO t VALUES (?, ?)", id, `a${id}`],
      ["INSERT INTO t VALUES (?, ?) RETURNING id", id + 1, `a${id + 1}`],
      [last],
      ["INSERT INTO t VALUES (99, 'never')"],
    ] as const;
  const clash = await tenant.batch(statements(1, "INSERT OR ROLLBACK INTO t VALUES (1, 'clash')"));
  assertEquals(told(clash), [400, "sql_error", 2, [[[], 1], [[[2]], 1]]], clash.text);
  assertEquals(clash.body.errorDetail?.kind, "unique_violation");
  assertEquals(await ids(tenant), [1, 2]);
  const trigger = await tenant.batch(statements(3, "DELETE FROM t WHERE id = 1"));
  assertEquals(told(trigger), [400, "sql_error", 2, [[[], 1], [[[4]], 1]]], trigger.text);
  const atomic = await tenant.batch(statements(5, "DELETE FROM t WHERE id = 1"), { transaction: true });
  assertEquals(told(atomic), [400, "sql_error", 2, undefined], atomic.text);
  assertEquals(await ids(tenant), [1, 2, 3, 4]);
  const log = await tenant.query(
    "SELECT status, rows_written FROM _service_meta_query_log WHERE operation = 'batch' ORDER BY id",
  );
  // What was undone has been paid for all the same.
  assertEquals(rowsOf(log), [["error", 2], ["error", 2], ["error", 2]]);
});

test("a batch that stops at a text of no statement or of two tells what ran before", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query(T);
  for (
    const [at, [text, code]] of [["-- none", "no_statement"], ["SELECT 1; SELECT 2", "multiple_statements"]]
      .entries()
  ) {
    const statements = [["INSERT INTO t VALUES (?, NULL)", at], [String(text)]] as const;
    assertEquals(told(await tenant.batch(statements)), [400, code, 1, [[[], 1]]]);
    const atomic = await tenant.batch([["INSERT INTO t VALUES (50, NULL)"], [String(text)]], {
      transaction: true,
    });
    assertEquals(told(atomic), [400, code, 1, undefined]);
  }
  assertEquals(await ids(tenant), [0, 1]);
});

test("a batch that stops in the middle is audited, and told to followers, with the tables of what stays", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(
    "CREATE TABLE t (id INTEGER PRIMARY KEY)",
    "CREATE TABLE u (id)",
    "CREATE TABLE log (id)",
    "CREATE TRIGGER noted AFTER INSERT ON u BEGIN INSERT INTO log VALUES (new.id); END",
  );
  const insert = ["INSERT INTO t VALUES (1)"] as const;
  const failing = ["INSERT INTO t SELECT 1"] as const;
  const others = [["DELETE FROM u"], ["ALTER TABLE u RENAME TO v"]] as const;
  const audited = await tenant.batch([insert, failing, ...others]);
  assertEquals([audited.status, audited.body.failedIndex], [400, 1], audited.text);
  await tenant.batch([["SELECT 1"], ["INSERT INTO u VALUES (1)"], failing, ...others]);
  // Nothing of these stays.
  await tenant.batch([["SELECT 1"], failing, ...others]);
  await tenant.batch([failing, ...others]);
  const audit = await readPatiently(
    tenant,
    "SELECT tables, rows_written FROM _service_meta_audit WHERE operation = 'batch' ORDER BY id",
  );
  assertEquals(audit, [['["t"]', 1], ['["log","u"]', 2]]);
  const changes = await readPatiently(
    tenant,
    "SELECT tables, kinds, rows FROM _service_meta_change ORDER BY seq DESC LIMIT 2",
  );
  const inserts = 1;
  assertEquals(changes, [['["log","u"]', inserts, 2], ['["t"]', inserts, 1]]);
  await tenant.batch([insert, ...others].map(([sql]) => [sql.replace("(1)", "(2)")] as const));
  const [whole] = await readPatiently(
    tenant,
    "SELECT tables FROM _service_meta_audit WHERE operation = 'batch' ORDER BY id DESC LIMIT 1",
  );
  assertEquals(whole, ['["t","u","v"]']);
});
