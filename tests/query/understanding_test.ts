// Understanding a call runs nothing of it: what it may cost before anybody has asked whether it may run.
import { assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const settings = { QUERY_TIMEOUT_MS: "1500" };
const ENDLESS =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n WHERE i > 0) SELECT max(i) FROM n";

/** Compiling it takes the engine a good part of a second. */
function expanding(name: string): string {
  const parts = Array.from({ length: 13 }, (_, at) => {
    const before = `${name}${at}`;
    return `${name}${at + 1} AS (SELECT a FROM ${before} UNION ALL SELECT a FROM ${before})`;
  });
  return `WITH ${name}0 AS (SELECT 1 AS a), ${parts.join(", ")} SELECT count(*) FROM ${name}13`;
}

Deno.test("a reader's CREATE TABLE AS of an endless SELECT in a batch is refused for the role, and not run", async () => {
  await using app = await startApp({ settings });
  const tenant = await app.namespace();
  const { token } = await tenant.mint("read");
  const answer = await tenant.batch([[`CREATE TABLE e AS ${ENDLESS}`], ["SELECT 1"]], { token });
  assertEquals([answer.status, answer.body.code], [403, "role_too_low"], answer.text);
});

Deno.test("a batch that cannot be compiled within the time of a statement is a timeout, and is logged and paid", async () => {
  await using app = await startApp({ settings });
  const tenant = await app.namespace();
  const statements = Array.from({ length: 30 }, (_, at) => [expanding(`c${at}_`)] as const);
  const answer = await tenant.batch(statements);
  const expected = isEmbedded() ? [400, "statement_timeout", 0, []] : [400, "sql_error", 0, []];
  const { status, body } = answer;
  assertEquals([status, body.code, body.failedIndex, body.data], expected, answer.text);
  const log = await tenant.query(
    "SELECT status, error_kind, statement_count FROM _service_meta_query_log WHERE operation = 'batch'",
  );
  assertEquals(rowsOf(log), [["error", isEmbedded() ? "timeout" : "too_big", 30]]);
});
