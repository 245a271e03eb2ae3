// The query log and the audit trail: one row a call, there at once, without a value, found again by filters and pages.
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the query log and the audit trail", run);

interface Entry {
  readonly id: string;
  readonly ts: string;
  readonly tokenId: string;
  readonly operation: string;
  readonly status: string;
  readonly errorKind: string | null;
  readonly rowsWritten: number;
  readonly statementCount: number;
  readonly sql: string;
}

async function readLog(app: StartedApp, tenant: TestNamespace, filter = ""): Promise<ApiAnswer> {
  const answer = await app.request("GET", `${tenant.database.path}/query_log?${filter}`, {
    token: tenant.token,
  });
  assertEquals(answer.status, 200, answer.text);
  return answer;
}

async function entries(app: StartedApp, tenant: TestNamespace, filter = ""): Promise<Entry[]> {
  return ((await readLog(app, tenant, filter)).body.data as { entries: Entry[] }).entries;
}

test("query_log has one entry per query and batch, newest first, the moment they are answered", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answers = [
    await tenant.query("CREATE TABLE t (a)"),
    await tenant.query("INSERT INTO t VALUES (?)", [1]),
    await tenant.batch([["SELECT 1"], ["SELECT 2"]]),
    await tenant.query("SELECT * FROM t"),
  ];
  const found = await entries(app, tenant);
  assertEquals(found.map(({ id }) => id), answers.map(({ body }) => body.meta?.queryLogId).reverse());
  assertEquals(found.map(({ operation, statementCount }) => [operation, statementCount]), [
    ["query", 1],
    ["batch", 2],
    ["query", 1],
    ["query", 1],
  ]);
  for (const { ts } of found) assertMatch(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("reads that are logged together keep a row each, with what is its own", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  await tenant.query("INSERT INTO t VALUES (1), (2), (3)");
  const asked = Array.from(
    { length: 150 },
    (_, at) => at % 7 === 3 ? "SELECT missing" : `SELECT ${at % 5}, a FROM t`,
  );
  const answers = await Promise.all(asked.map((sql) => tenant.query(sql)));
  const logged = await tenant.query(
    "SELECT id, sql, status, rows_read FROM _service_meta_query_log WHERE sql LIKE 'SELECT%' AND sql NOT LIKE '%meta%'",
  );
  const rows = new Map(rowsOf(logged).map(([id, ...row]) => [id, row]));
  const wanted = answers.flatMap(({ body: { meta } }, at) =>
    meta ? [{ id: meta.queryLogId, row: [asked[at] ?? "", "ok", meta.rowsRead] }] : []
  );
  // Where the machine stands still for a second a read counts as slow work, and may be stopped before it has run.
  const ran = asked.filter((_, at) => answers[at]?.status !== 503);
  assert(ran.length > 100);
  assertEquals(rows.size, ran.length);
  assertEquals(wanted.length, ran.filter((sql) => sql !== "SELECT missing").length);
  for (const { id, row } of wanted) assertEquals(rows.get(id), row);
  const failed = [...rows.values()].filter(([sql]) => sql === "SELECT missing");
  assertEquals(new Set(failed.map(([, status]) => status)), new Set(["error"]));
  assertEquals(failed.length, ran.length - wanted.length);
});

test("a query log entry has the fields of the specification", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query("SELECT 1");
  const [entry] = await entries(app, tenant);
  assertEquals(Object.keys(entry ?? {}).sort(), [
    ...["dbId", "durationMs", "errorKind", "id", "namespaceId", "operation", "rowsRead"],
    ...["rowsWritten", "sql", "statementCount", "status", "tokenId", "ts", "userId"],
  ]);
  assertEquals([entry?.tokenId, entry?.status, entry?.errorKind], [tenant.id, "ok", null]);
});

test("meta.queryLogId finds the row of the log table in the next statement", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const sql of ["SELECT 41 + 1", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2)"]) {
    const answer = await tenant.query(sql);
    const found = await tenant.query(
      "SELECT sql, status, token_id, db_id, rows_written FROM _service_meta_query_log WHERE id = ?",
      [answer.body.meta?.queryLogId],
    );
    assertEquals(rowsOf(found), [[
      sql,
      "ok",
      tenant.id,
      tenant.database.id,
      answer.body.meta?.rowsWritten,
    ]]);
  }
});

test("reading the query log leaves no entry of its own", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.query("SELECT 1");
  for (let repeat = 0; repeat < 3; repeat++) assertEquals((await entries(app, tenant)).length, 1);
});

test("failures are logged with their kind, whether or not the engine was reached", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const reader = await tenant.mint("read");
  await tenant.setup("CREATE TABLE t (a UNIQUE)");
  await tenant.query("INSERT INTO t VALUES (1)");
  await tenant.query("INSERT INTO t VALUES (1)");
  await tenant.query("SELECT * FROM nowhere");
  await tenant.query("SELEC");
  await tenant.query("SELECT ?");
  await tenant.query("DELETE FROM t", [], { token: reader.token });
  await tenant.query("ATTACH 'x' AS y");
  const failed = await entries(app, tenant, "status=error");
  assertEquals(failed.map(({ errorKind }) => errorKind).reverse(), [
    "unique_violation",
    "unknown_table",
    "syntax_error",
    "parameter_mismatch",
    "role_too_low",
    "statement_refused",
  ]);
  assertEquals((await entries(app, tenant, "status=ok")).length, 2);
});

test("no parameter value is in the log, the audit or an error", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const secret = "hunter2-hunter2";
  await tenant.setup("CREATE TABLE t (a TEXT UNIQUE)");
  const answers = [
    await tenant.query("INSERT INTO t VALUES (?)", [secret]),
    await tenant.query("INSERT INTO t VALUES (?)", [secret]),
    await tenant.query("INSERT INTO nowhere VALUES (?)", [secret]),
    await tenant.batch([["INSERT INTO t VALUES (?)", secret]], { transaction: true }),
  ];
  for (const { text } of answers) assertEquals(text.includes(secret), false, text);
  const log = await readLog(app, tenant);
  assertEquals(log.text.includes(secret), false);
  const audit = await tenant.query("SELECT * FROM _service_meta_audit");
  assertEquals(audit.text.includes(secret), false);
});

test("statement text in the log is cut at 4 KiB, between two characters", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const letter of ["x", "é", "☃", "\u{1F642}"]) {
    await tenant.query(`SELECT 1 /* ${letter.repeat(5000)} */`);
  }
  assertEquals((await readLog(app, tenant)).text.includes("\ufffd"), false);
  const [[longest] = []] = rowsOf(
    await tenant.query("SELECT max(length(CAST(sql AS BLOB))) FROM _service_meta_query_log"),
  );
  assert(Number(longest) <= 4096, `${longest} bytes`);
});

test("tokenId, since and until narrow the log down", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const reader = await tenant.mint("read");
  await tenant.query("SELECT 'first'");
  clock.turn(60_000);
  const middle = new Date(clock.now()).toISOString();
  await tenant.query("SELECT 'second'", [], { token: reader.token });
  clock.turn(60_000);
  const end = new Date(clock.now()).toISOString();
  await tenant.query("SELECT 'third'");
  const texts = async (filter: string) =>
    (await entries(app, tenant, filter)).map(({ sql }) => sql.slice(8, -1));
  assertEquals(await texts(`tokenId=${reader.id}`), ["second"]);
  assertEquals(await texts(`since=${middle}`), ["third", "second"]);
  assertEquals(await texts(`until=${middle}`), ["first"]);
  assertEquals(await texts(`since=${middle}&until=${end}`), ["second"]);
  assertEquals(await texts(`since=${middle}&until=${end}&tokenId=${tenant.id}`), []);
  assertEquals(await texts(`until=${encodeURIComponent(middle.replace("Z", "+00:00"))}`), ["first"]);
  assertEquals(await texts("tokenId=tok_unknown"), []);
});

test("pages by cursor show every entry once, also while new ones arrive", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (let n = 0; n < 25; n++) await tenant.query(`SELECT ${n}`);
  const seen: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const filter = `pageSize=10${cursor === null ? "" : `&cursor=${cursor}`}`;
    const page = (await readLog(app, tenant, filter)).body.data as {
      entries: Entry[];
      nextCursor: string | null;
    };
    assert(page.entries.length <= 10);
    seen.push(...page.entries.map(({ sql }) => sql));
    cursor = page.nextCursor;
    pages++;
    await tenant.query("SELECT 'new'");
  } while (cursor !== null);
  assertEquals([pages, seen], [3, Array.from({ length: 25 }, (_, at) => `SELECT ${24 - at}`)]);
});

test("filters of a wrong form are refused by name", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  for (
    const [filter, path] of [
      ["since=yesterday", "since"],
      ["until=2026-02-30T00:00:00Z", "until"],
      ["status=maybe", "status"],
      ["pageSize=0", "pageSize"],
      ["pageSize=1.5", "pageSize"],
      ["cursor=qry_x", "cursor"],
    ]
  ) {
    const answer = await app.request("GET", `${database.path}/query_log?${filter}`, { token });
    assertEquals([answer.status, answer.body.issues?.map((issue) => issue.path)], [400, [path]], filter);
  }
  const vague = await app.request("GET", `${database.path}/query_log?since=2026-11-01`, { token });
  assertEquals(vague.body.issues?.map(({ message }) => message), [
    "Send an ISO 8601 time with Z or an offset, such as 2026-11-01T00:00:00Z",
  ]);
});

test("every mutation has one audit row that names token, tables, rows and its query log entry", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const writer = await tenant.mint("write");
  const made = await tenant.query("CREATE TABLE t (a UNIQUE)");
  await tenant.setup("CREATE TABLE u (a)");
  const insert = await tenant.query("INSERT INTO t VALUES (1), (2)", [], { token: writer.token });
  const batch = await tenant.batch([["INSERT INTO u VALUES (1)"], ["DELETE FROM t"]], { transaction: true });
  await tenant.query("SELECT * FROM t");
  await tenant.query("INSERT INTO u SELECT * FROM nowhere");
  const audit = await tenant.query(
    "SELECT query_log_id, token_id, operation, tables, rows_written FROM _service_meta_audit ORDER BY id",
  );
  const rows = rowsOf(audit);
  assertEquals(rows.length, 4);
  assertEquals(rows[0]?.[0], made.body.meta?.queryLogId);
  assertEquals(rows[2], [insert.body.meta?.queryLogId, writer.id, "query", '["t"]', 2]);
  assertEquals(rows[3], [batch.body.meta?.queryLogId, tenant.id, "batch", '["t","u"]', 3]);
});

test("a mutation that failed leaves no audit row, an unfinished batch one for what it kept", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a UNIQUE)");
  await tenant.query("INSERT INTO t VALUES (1), (1)");
  await tenant.batch([["INSERT INTO t VALUES (2)"], ["INSERT INTO t VALUES (2)"]], { transaction: true });
  await tenant.batch([["INSERT INTO t VALUES (3)"], ["INSERT INTO t VALUES (3)"]]);
  const audit = await tenant.query("SELECT operation, rows_written FROM _service_meta_audit ORDER BY id");
  assertEquals(rowsOf(audit).slice(1), [["batch", 1]]);
});
