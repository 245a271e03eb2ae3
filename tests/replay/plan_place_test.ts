// A step of a plan belongs to the database in which it ran, however that is spelled, and not to the next one of its name.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { assertRefused, assertReplay, replayed, step } from "./keyed.ts";

const { run, test } = oneStore();
Deno.test("where a plan runs", run);

const PLAN = "plan-replayed";

/** One step of each kind, by where its answer is stored: in the database (a write), in KV (a read and a change). */
function stepsAt(app: StartedApp, path: string, token: string): (() => Promise<ApiAnswer>)[] {
  const post = (name: string, sql: string) =>
    app.request("POST", `${path}/query`, step("plan", name, { token, body: { sql } }));
  return [
    () => post("write", "INSERT INTO t (a) VALUES ('x')"),
    () => post("read", "SELECT count(*) FROM t"),
    () =>
      app.request(
        "PUT",
        `${path}/describe`,
        step("plan", "describe", { token, body: { databaseDescription: "Things" } }),
      ),
  ];
}

async function claim(app: StartedApp, { token, database }: TestNamespace, ref: string): Promise<void> {
  const body = { purpose: "test", ref };
  const claimed = await app.request("POST", `${database.path}/claim_branch`, { token, body });
  assertEquals(claimed.status, 201, claimed.text);
}

test("no step is answered for the next database of its name: after a reset of its branch, or another one made there", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { token, database } = tenant;
  await tenant.setup("CREATE TABLE t (a)");
  await claim(app, tenant, "pr-1");
  const next: Record<string, () => Promise<void>> = {
    [`${database.path}@pr-1`]: async () => {
      const reset = await app.request("POST", `${database.path}/branches/pr-1/reset`, { token });
      assertEquals(reset.status, 200, reset.text);
    },
    [database.path]: async () => {
      const path = `/api/namespaces/${tenant.slug}/databases/${database.slug}`;
      const gone = await app.request("DELETE", path, {
        token: app.operatorKey,
        body: { confirm: database.slug },
      });
      assertEquals(gone.status, 200, gone.text);
      await tenant.createDatabase(database.slug);
      await tenant.setup("CREATE TABLE t (a)");
    },
  };
  for (const [path, makeNext] of Object.entries(next)) {
    const { token } = await tenant.mint("admin");
    const steps = stepsAt(app, path, token);
    for (const run of steps) {
      assertEquals([(await run()).status, ...replayed(await run())], [200, null, "true"]);
    }
    await makeNext();
    for (const run of steps) assertRefused(await run(), 422, "replay_mismatch");
    const sql = "SELECT count(*) FROM t";
    assertEquals(rowsOf(await app.request("POST", `${path}/query`, { token, body: { sql } })), [[0]]);
  }
});

test("a step is the same one under every spelling of its database", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { path } = tenant.database;
  await tenant.setup("CREATE TABLE t (a)");
  await claim(app, tenant, "pr-1");
  const spellings = [[path, `${path}@main`, `${path}%40main`], [`${path}@pr-1`, `${path}%40pr-1`]];
  for (const [first = "", ...others] of spellings) {
    const { token } = await tenant.mint("admin");
    const steps = stepsAt(app, first, token);
    const answers: ApiAnswer[] = [];
    for (const run of steps) answers.push(await run());
    for (const other of others) {
      for (const [at, run] of stepsAt(app, other, token).entries()) {
        const answer = answers[at];
        if (answer) assertReplay(answer, await run(), PLAN);
      }
    }
    const sql = "SELECT count(*) FROM t";
    assertEquals(rowsOf(await app.request("POST", `${first}/query`, { token, body: { sql } })), [[1]]);
  }
});
