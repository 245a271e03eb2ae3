// A repetition costs nothing and leaves nothing: no row in the log, no audit row, no money, not even when there is none.
import { assert, assertEquals } from "@std/assert";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { assertRefused, assertReplay, INSERT, keyed, replayed, step, T } from "./keyed.ts";

const { run, test } = oneStore();
Deno.test("idempotency free", run);

/** Log rows, audit rows and money used so far. Two statements run for it, whose share the caller knows. */
async function traces(app: StartedApp, tenant: TestNamespace): Promise<number[]> {
  const counts = [];
  for (const table of ["query_log", "audit"]) {
    const found = await tenant.query(`SELECT count(*), min(id) FROM _service_meta_${table}`);
    counts.push(Number(rowsOf(found)[0]?.[0]));
  }
  await app.deps.query.meter.tick();
  const { body } = await app.request("GET", `/api/namespaces/${tenant.slug}/balance`, {
    token: tenant.token,
  });
  return [...counts, Math.round(Number((body.data as { usedUsd: number }).usedUsd) * 1e9)];
}

test("repetitions are neither logged, audited nor billed", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const calls = [
    () => tenant.query(INSERT, [], keyed("w")),
    () => tenant.query("SELECT count(*) FROM t", [], keyed("r")),
    () => tenant.query("CREATE TABLE u (x)", [], keyed("s")),
    () => tenant.batch([[INSERT], ["SELECT 1"]], { transaction: true, ...keyed("b") }),
    () => tenant.query(INSERT, [], step("p", "w")),
    () => tenant.query("SELECT count(*) FROM t", [], step("p", "r")),
    () => tenant.query(INSERT, [], keyed("both", step("p", "both"))),
  ];
  for (const call of calls) assertEquals(replayed(await call()), [null, null]);
  const [log = 0, audit = 0, used = 0] = await traces(app, tenant);
  for (let round = 0; round < 3; round++) {
    for (const call of calls) assertEquals(replayed(await call()).includes("true"), true);
  }
  // Keys that are another request's cost nothing either.
  assertRefused(await tenant.query("SELECT 2", [], keyed("w")), 422, "replay_mismatch");
  assertRefused(await tenant.query("INSERT INTO t VALUES (2)", [], keyed("r")), 422, "replay_mismatch");
  const [logAfter = 0, auditAfter = 0, usedAfter = 0] = await traces(app, tenant);
  // The first `traces` ran two reads: both are in the log now, one of them was before.
  assertEquals([logAfter - log, auditAfter - audit], [2, 0]);
  assert(usedAfter - used < 2 * (500 + 5 * 2 * (logAfter + auditAfter)), `${usedAfter - used}`);
  // No call of the audit trail lacks its row in the log.
  const orphans = await tenant.query(
    "SELECT count(*) FROM _service_meta_audit WHERE query_log_id NOT IN (SELECT id FROM _service_meta_query_log)",
  );
  assertEquals(rowsOf(orphans), [[0]]);
});

test("a repetition is answered when the balance is used up meanwhile", async () => {
  await using app = await startApp({ settings: { WELCOME_CREDIT_USD: "0.00001" } });
  const tenant = await app.namespace();
  assertEquals((await tenant.query(T)).status, 200);
  const calls = [
    () => tenant.query("SELECT count(*) FROM t", [], keyed("r")),
    () => tenant.query(INSERT, [], keyed("w")),
    () => tenant.query("INSERT INTO t (a) VALUES ('p')", [], step("p", "1")),
  ];
  const first = [];
  for (const call of calls) first.push(await call());
  while ((await tenant.query("SELECT 1")).status === 200);
  assertRefused(await tenant.query("SELECT 1", [], keyed("new")), 402, "balance_exhausted");
  for (const [at, call] of calls.entries()) {
    const answer = first[at];
    if (answer) assertReplay(answer, await call(), at < 2 ? undefined : "plan-replayed");
  }
});
