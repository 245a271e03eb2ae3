// What a dry run leaves behind: a row in the query log, and nothing else.
import { pause } from "../../lib/core/pause.ts";
import { assert, assertEquals } from "@std/assert";
import { shown, withWrites } from "./write_world.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("the trace of a dry run", run);

const ENDLESS =
  "INSERT INTO t (v) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c";

test("a proposal leaves the data, the sequence, the audit trail and the kept answers as they were", async () => {
  await withWrites(async ({ propose, rows, setup, shop }) => {
    await setup(
      "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v)",
      "INSERT INTO t (v) VALUES (1), (2)",
    );
    const state = async () => [
      await rows("SELECT * FROM t"),
      await rows("SELECT * FROM sqlite_sequence"),
      await rows("SELECT name, sql FROM sqlite_schema"),
      await rows("PRAGMA schema_version"),
      await rows("PRAGMA user_version"),
      await rows("PRAGMA page_count"),
    ];
    const before = await state();
    const audit = "SELECT count(*) FROM _service_meta_audit";
    const audited = await rows(audit);
    await propose("INSERT INTO t (v) VALUES (3), (4)");
    await propose("DELETE FROM t");
    await propose("CREATE TABLE made AS SELECT * FROM t");
    await propose("ALTER TABLE t ADD COLUMN w");
    await propose("DROP TABLE t");
    await propose("PRAGMA user_version = 9");
    assertEquals(await state(), before);
    assertEquals(await rows(audit), audited);
    // What was compiled for the schema of a dry run is gone with it.
    assertEquals((await shop.query("SELECT w FROM t")).body.errorDetail?.kind, "unknown_column");
    assertEquals((await shop.query("SELECT * FROM made")).body.errorDetail?.kind, "unknown_table");
    assertEquals(await rows("INSERT INTO t (v) VALUES (3) RETURNING id"), [[3]]);
  });
});

test("the log says propose, keeps what was read before it, and a held write stands as held", async () => {
  await withWrites(async ({ post, propose, rows, rule, setup, shop }) => {
    await setup("CREATE TABLE t (v)", "INSERT INTO t VALUES (1), (2)");
    await shop.query("SELECT 'before'");
    await propose("DELETE FROM t");
    await rule({ tableGlob: "t", effect: "require_approval", minRows: 2 });
    await shop.query("DELETE FROM t");
    await shop.query("DELETE FROM t WHERE v = 1");
    await post("query", { sql: "DELETE FROM t WHERE v = 2" }, { headers: { "x-dry-run": "1" } });
    const log = await rows(
      "SELECT operation, status, error_kind, rows_written, sql FROM _service_meta_query_log ORDER BY id",
    );
    assertEquals(log.slice(2), [
      ["query", "ok", null, 0, "SELECT 'before'"],
      ["propose", "ok", null, 0, "DELETE FROM t"],
      ["query", "error", "approval_required", 0, "DELETE FROM t"],
      ["query", "ok", null, 1, "DELETE FROM t WHERE v = 1"],
      ["propose", "ok", null, 0, "DELETE FROM t WHERE v = 2"],
    ]);
  });
});

test("readers do not wait for a dry run, which ends at its time bound and still gives a token", async () => {
  await withWrites(async ({ apply, post, rows, setup }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1, 1)");
    let ended = false;
    const slow = post("propose", { sql: ENDLESS }).finally(() => ended = true);
    let readBeside = 0;
    while (!ended) {
      assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
      if (!ended) readBeside++;
      await pause(100);
    }
    // The first of them may have come before it.
    assert(readBeside > 1, "the reads waited for the dry run");
    const answer = await slow;
    const data = shown(answer);
    const { estimatedAffectedRows, cascadedRows, preview } = data;
    const told = [answer.status, estimatedAffectedRows, cascadedRows, preview];
    assertEquals(told, [200, null, null, null], answer.text);
    const log = "SELECT status, error_kind, duration_ms > 1000 FROM _service_meta_query_log " +
      "WHERE operation = 'propose'";
    assertEquals(await rows(log), [["ok", null, 1]]);
    assert(data.executionToken.startsWith("pmut_") && answer.body.meta?.costUsd !== undefined, answer.text);
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
    assertEquals((await apply(data.executionToken)).status, 400);
    assertEquals(await rows("SELECT count(*) FROM t"), [[1]]);
  }, { settings: { QUERY_TIMEOUT_MS: "2000" } });
});

test("a dry run of a batch has the time of one statement", async () => {
  const limitMs = 1000;
  await withWrites(async ({ setup, shop }) => {
    await setup("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    // With a time for each the call would take a minute and a half, which no busy machine comes near.
    const endless = Array.from({ length: 90 }, () => [ENDLESS] as const);
    const started = performance.now();
    const batch = await shop.batch([["INSERT INTO t VALUES (9, 9)"], ...endless], {
      headers: { "x-dry-run": "1" },
    });
    assertEquals(batch.status, 200, batch.text);
    assert(performance.now() - started < 45 * limitMs, "each statement had the whole time");
    const count = () => shop.query("SELECT count(*) FROM t");
    let kept = await count();
    // On a busy machine a read that comes right behind it may have to wait for longer than its own limit.
    for (let again = 0; kept.body.code === "statement_timeout" && again < 20; again++) kept = await count();
    assertEquals([kept.status, rowsOf(kept)], [200, [[0]]], kept.text);
  }, { settings: { QUERY_TIMEOUT_MS: String(limitMs) } });
});
