// Suites that know the service by HTTP alone, once more against two instances as Deno Deploy runs them, in turn.
import { assert, assertEquals } from "@std/assert";
import { print } from "../testing/print.ts";
import { runGroup, tallyOf } from "../testing/run_group.ts";
import { startSharedSqld } from "../testing/shared_sqld.ts";
import { tenantSettings } from "../testing/tenant_settings.ts";
import { hostedEnv } from "./hosted_app.ts";
import { stageOn } from "./rehearsal.ts";

const ROOT = new URL("../../", import.meta.url);
const SUITES = [
  "tests/query/batch_test.ts",
  "tests/query/tables_test.ts",
  "tests/replay/idempotency_test.ts",
  "tests/replay/plan_test.ts",
  "tests/routes/databases_test.ts",
  "tests/routes/scopes_test.ts",
  "tests/snapshots/snapshots_test.ts",
  "tests/transactions/client_test.ts",
  "tests/writes/propose_test.ts",
];
Deno.test("the suites over HTTP hold where every request goes to the other one of two instances", async () => {
  const sqld = await startSharedSqld();
  if (sqld === null) return;
  try {
    await using stage = await stageOn(tenantSettings(sqld.env));
    const instances = await Promise.all([stage.start(), stage.start()]);
    await runSuites({ ...sqld.env, ...hostedEnv(stage.operatorKey, instances) });
  } finally {
    await sqld.stop();
  }
});

async function runSuites(env: Readonly<Record<string, string>>): Promise<void> {
  const written: string[] = [];
  const result = await runGroup({ name: "suites", paths: SUITES, onSqld: false }, {
    flags: [],
    written,
    env,
  });
  const { passed, failed } = tallyOf(result);
  if (failed > 0) print(written.join(""));
  assertEquals(failed, 0, "a suite failed, see above");
  const tests = await countTests();
  assert(
    result.reports.size === SUITES.length && passed >= SUITES.length + tests,
    `${result.reports.size} files, ${passed} of ${SUITES.length + tests} tests passed`,
  );
}

/** But for `testOneProcess`: another process has five seconds to know what one has done, which `hosted_test.ts` holds. */
async function countTests(): Promise<number> {
  const texts = await Promise.all(SUITES.map((path) => Deno.readTextFile(new URL(path, ROOT))));
  return texts.reduce((count, text) => count + [...text.matchAll(/^test\("/gm)].length, 0);
}
