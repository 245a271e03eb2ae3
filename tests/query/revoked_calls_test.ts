// A caller that is revoked while its call runs: nothing further of the call runs, and nothing of it stays.
import { assert, assertEquals } from "@std/assert";
import { sendForm } from "../console/open_page.ts";
import { begunFrames, untilEngineRuns } from "../testing/engine_children.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { signIn } from "../testing/person.ts";
import { pause } from "../../lib/core/pause.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { ENDLESS } from "../testing/endless.ts";

const { run, test } = oneStore();
Deno.test("a caller that is revoked while its call runs", run);

/** Each takes a part of the time limit; all together far longer than a revocation takes. */
const SLOW = Array.from({ length: 40 }, (_, nth): readonly [string] => [
  `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000) SELECT count(*) + ${nth} FROM c`,
]);

/** Deletes what `path` names, by which the call is made, once the call runs. */
async function deleteMeanwhile<Answer>(
  app: StartedApp,
  { path, begin }: { readonly path: string; readonly begin: () => Promise<Answer> },
): Promise<Answer> {
  const before = await begunFrames(app.deps.config.dataDir);
  const running = begin();
  if (isEmbedded()) await untilEngineRuns(app.deps.config.dataDir, () => false, before);
  // What the engine does may be the last of what came before, and elsewhere nobody outside can tell.
  await pause(300);
  const deleted = await app.request("DELETE", path, { token: app.operatorKey });
  assertEquals(deleted.status, 200, deleted.text);
  return await running;
}

/** The same with the call's token. */
function revokeMeanwhile<Answer>(
  app: StartedApp,
  { id, begin }: { readonly id: string; readonly begin: () => Promise<Answer> },
): Promise<Answer> {
  return deleteMeanwhile(app, { path: `/api/namespaces/acme/tokens/${id}`, begin });
}

async function lastLogged(tenant: TestNamespace) {
  const log = "SELECT status, error_kind, rows_written FROM _service_meta_query_log ORDER BY id DESC LIMIT 1";
  return rowsOf(await tenant.query(log))[0];
}

for (const transaction of [false, true]) {
  test(`a revoked token's ${transaction ? "atomic batch" : "batch"} ends, and nothing of it stays`, async () => {
    await using app = await startApp();
    const tenant = await app.namespace();
    await tenant.setup("CREATE TABLE t (n INTEGER)");
    const { id, token } = await tenant.mint("write");
    const statements = [["INSERT INTO t VALUES (1)"], ...SLOW, ["INSERT INTO t VALUES (2)"]] as const;
    const begin = () => tenant.batch(statements, { token, transaction });
    const { status, body } = await revokeMeanwhile(app, { id, begin });
    assertEquals([status, body.code], [401, "invalid_bearer"]);
    assertEquals(await lastLogged(tenant), ["error", "cancelled", 0]);
    assertEquals(rowsOf(await tenant.query("SELECT n FROM t")), []);
  });
}

test("a revoked token's batch of reads ends, and a call of another token beside it does not", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { id, token } = await tenant.mint("read");
  const beside = tenant.batch(SLOW.slice(0, 8));
  const { status, body } = await revokeMeanwhile(app, { id, begin: () => tenant.batch(SLOW, { token }) });
  assertEquals([status, body.code], [401, "invalid_bearer"]);
  assertEquals((await beside).status, 200);
});

/** `POST /hrana/acme/main/v2/pipeline` of statements in requests of their own; the errors of their answers. */
async function sendPipeline(
  app: StartedApp,
  token: string,
  texts: readonly string[],
  baton: string | null = null,
) {
  const body = { baton, requests: texts.map((sql) => ({ type: "execute", stmt: { sql } })) };
  const { status, text } = await app.request("POST", "/hrana/acme/main/v2/pipeline", { token, body });
  const { results = [], baton: next = null } = JSON.parse(text);
  return { status, codes: results.map((one: { error?: { code: string } }) => one.error?.code), baton: next };
}

for (const [begin, commit] of [[[], []], [["BEGIN"], ["COMMIT"]]] as const) {
  test(`a revoked token's pipeline ends${begin.length ? ", and its transaction is not committed" : ""}`, async () => {
    await using app = await startApp();
    const tenant = await app.namespace();
    await tenant.setup("CREATE TABLE t (n INTEGER)");
    const { id, token } = await tenant.mint("write");
    // Each is too quick for anybody to look at its caller while it runs.
    const quick = SLOW.flatMap(([sql]) => Array(10).fill(sql.replace("1000000", "100000")));
    const texts = [...begin, ...quick, "INSERT INTO t VALUES (2)", ...commit];
    const { codes } = await revokeMeanwhile(app, { id, begin: () => sendPipeline(app, token, texts) });
    assertEquals([codes[0], codes.at(-1)], [undefined, "INVALID_BEARER"]);
    assertEquals(rowsOf(await tenant.query("SELECT n FROM t")), []);
  });
}

test("a revoked token's statement in a transaction is told so, as the next request is, and nothing is kept", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (n INTEGER)");
  const { id, token } = await tenant.mint("write");
  const begun = await sendPipeline(app, token, ["BEGIN", "INSERT INTO t VALUES (1)"]);
  assertEquals(begun.codes, [undefined, undefined]);
  const begin = () => sendPipeline(app, token, [ENDLESS], begun.baton);
  const { status, codes, baton } = await revokeMeanwhile(app, { id, begin });
  assertEquals([status, codes], [200, ["INVALID_BEARER"]]);
  assertEquals(await lastLogged(tenant), ["error", "cancelled", 0]);
  assertEquals((await sendPipeline(app, token, ["COMMIT"], baton)).status, 401);
  assertEquals(rowsOf(await tenant.query("SELECT n FROM t")), []);
});

test("a statement on a page of a member who is removed ends", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const person = await signIn(app, { role: "admin" });
  const fields = { sql: ENDLESS, do: "run" };
  const { text } = await deleteMeanwhile(app, {
    path: `/api/namespaces/acme/members/${person.id}`,
    begin: () => sendForm(app, { path: "/console/acme/db/main/sql", fields, person }),
  });
  // The whole page would be told otherwise.
  assert(text.includes("this session is unknown or has ended"));
  assertEquals(await lastLogged(tenant), ["error", "cancelled", 0]);
});
