// `meta` and `Server-Timing` of query and batch, and what they cost.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { docFile, tableUnder } from "../docs/doc_files.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { withWrites } from "../writes/write_world.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("meta and Server-Timing of query and batch", run);

const STAGES = ["classify", "authorise", "rules", "reserve", "snapshot", "execute", "settle", "record"];

/** The contract's rates in USD for one request, one row read and one row written. */
const rates = { request: 0.5e-6, rowRead: 0.005e-6, rowWritten: 2e-6 };

function costOf(rowsRead: number, rowsWritten: number): number {
  // Nano-dollars are whole numbers: rounding removes what binary fractions add.
  return Math.round((rates.request + rowsRead * rates.rowRead + rowsWritten * rates.rowWritten) * 1e9) / 1e9;
}

test("meta holds every field of the specification with its type", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (const answer of [await tenant.query("SELECT 1"), await tenant.batch([["SELECT 1"], ["SELECT 2"]])]) {
    assertEquals(answer.status, 200);
    const meta = answer.body.meta;
    assert(meta);
    assertEquals(Object.keys(meta).sort(), [
      ...["costUsd", "durationMs", "queryLogId", "rowsRead", "rowsReadBasis"],
      ...["rowsWritten", "snapshot", "statementCount"],
    ]);
    for (const count of [meta.rowsRead, meta.rowsWritten, meta.durationMs, meta.statementCount]) {
      assert(Number.isSafeInteger(count) && count >= 0, answer.text);
    }
    assertEquals(meta.snapshot, null);
    assertEquals(meta.rowsReadBasis, isEmbedded() ? "plan" : "engine");
    assertMatch(meta.queryLogId, /^qry_[0-9A-HJKMNP-TV-Z]{26}$/);
  }
});

test("data holds columns, rows, rowsRead and rowsWritten and nothing else", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answer = await tenant.query("SELECT 1 AS a, 2 AS a, 'x' AS \"b c\"");
  assertEquals(answer.status, 200);
  assertEquals(answer.headers.get("content-type"), "application/json");
  assertEquals(answer.body.success, true);
  const data = answer.body.data as Record<string, unknown>;
  assertEquals(Object.keys(data).sort(), ["columns", "rows", "rowsRead", "rowsWritten"]);
  assertEquals([data["columns"], data["rows"]], [["a", "a", "b c"], [[1, 2, "x"]]]);
});

test("rows written are exact, with those that triggers and cascades change", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (
    const sql of [
      "CREATE TABLE p (id INTEGER PRIMARY KEY)",
      "CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p ON DELETE CASCADE)",
      "CREATE TABLE log (a)",
      "CREATE TRIGGER t AFTER INSERT ON p BEGIN INSERT INTO log VALUES (new.id); END",
    ]
  ) assertEquals((await tenant.query(sql)).status, 200, sql);
  const written = async (sql: string) => (await tenant.query(sql)).body.meta?.rowsWritten;
  assertEquals(await written("INSERT INTO p VALUES (1), (2), (3)"), 6);
  assertEquals(await written("INSERT INTO c VALUES (1, 1), (2, 1), (3, 2)"), 3);
  assertEquals(await written("DELETE FROM p WHERE id = 1"), 3);
  assertEquals(await written("UPDATE c SET p = NULL"), 1);
  assertEquals(await written("DELETE FROM log WHERE a = 99"), 0);
  assertEquals(await written("SELECT * FROM log"), 0);
});

test("rows read count a scan with at least its rows and a key look-up as one", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
  await tenant.query(
    "INSERT INTO t WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 500) SELECT i, i % 7 FROM c",
  );
  const scan = await tenant.query("SELECT * FROM t WHERE a = 3");
  assert((scan.body.meta?.rowsRead ?? 0) >= 500, scan.text.slice(-300));
  assertEquals((await tenant.query("SELECT * FROM t WHERE id = 7")).body.meta?.rowsRead, 1);
});

test("costUsd is what the contract's rates make of one request and its rows", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, a)");
  const answers = [
    await tenant.query("SELECT 1"),
    await tenant.query("INSERT INTO t (a) VALUES (1), (2), (3)"),
    await tenant.query("SELECT * FROM t"),
    await tenant.batch([["INSERT INTO t (a) VALUES (4)"], ["SELECT * FROM t"], ["DELETE FROM t"]]),
  ];
  for (const { status, body } of answers) {
    assertEquals(status, 200);
    const { rowsRead = 0, rowsWritten = 0, costUsd } = body.meta ?? {};
    assertEquals(costUsd, costOf(rowsRead, rowsWritten));
  }
  assertEquals(answers.map(({ body }) => body.meta?.rowsWritten), [0, 3, 0, 5]);
});

test("a batch's meta sums what its results say", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a)");
  const answer = await tenant.batch([["INSERT INTO t VALUES (1), (2)"], ["SELECT * FROM t"], ["SELECT 1"]]);
  const results = answer.body.data as { rowsRead: number; rowsWritten: number }[];
  const sum = (name: "rowsRead" | "rowsWritten") => results.reduce((total, one) => total + one[name], 0);
  const { rowsRead, rowsWritten, statementCount } = answer.body.meta ?? {};
  assertEquals([rowsRead, rowsWritten, statementCount], [sum("rowsRead"), sum("rowsWritten"), 3]);
});

test("Server-Timing names all eight stages in their order, with the milliseconds of those that wait", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const timed = async (send: () => Promise<ApiAnswer>) => {
    const entries = ((await send()).headers.get("server-timing") ?? "").split(", ");
    for (const entry of entries) assertMatch(entry, /^[a-z]+(;dur=\d+(\.\d+)?)?$/);
    assertEquals(entries.map((entry) => entry.split(";")[0]), STAGES);
    return entries.filter((entry) => entry.includes(";dur=")).map((entry) => entry.split(";")[0]);
  };
  const learned = (stages: readonly (string | undefined)[]) =>
    ["classify", "execute"].map((one) => stages.includes(one));
  assertEquals(learned(await timed(() => tenant.query("SELECT 1"))), [true, true]);
  assertEquals(
    learned(await timed(() => tenant.query("SELECT 1"))),
    [false, true],
    "the text is known by now",
  );
  assertEquals(learned(await timed(() => tenant.batch([["SELECT 1"]]))), [false, true]);
});

test("Server-Timing names the stages that only some calls pass: replay, and behind a rule preview and decide", async () => {
  await withWrites(async ({ rule, setup, shop }) => {
    await setup("CREATE TABLE t (a)");
    await rule({ tableGlob: "t", effect: "require_approval", minRows: 5 });
    const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
    const stagesOf = async (sql: string, key: string) => {
      const answer = await shop.query(sql, [], keyed(key));
      assertEquals(answer.status, 200, answer.text);
      return (answer.headers.get("server-timing") ?? "").split(", ").map((entry) => entry.split(";")[0]);
    };
    const [classify, authorise, rules, reserve, ...behind] = STAGES;
    const insert = "INSERT INTO t VALUES (1)";
    const decided = [classify, "replay", authorise, rules, reserve, "preview", "decide", ...behind];
    assertEquals(await stagesOf(insert, "write"), decided);
    const table = tableUnder(await docFile("README.md"), "## One request's path");
    assertEquals(decided, table.map(([stage]) => stage), "the README's stages are others");
    const claimed = [classify, "replay", authorise, rules, reserve, "claim", ...behind, "store"];
    assertEquals(await stagesOf("SELECT 1", "read"), claimed);
    assertEquals(await stagesOf("SELECT 1", "read"), [classify, "replay"]);
  });
});

test("meta.warnings says that arithmetic with the clock takes the year alone", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const warned = async (sql: string, params: readonly unknown[] = []) => {
    const { status, body, text } = await tenant.query(sql, params as never);
    assertEquals(status, 200, text);
    return body.meta?.warnings?.map((one) => one.split(",")[0]) ?? [];
  };
  const text = "CURRENT_DATE is text";
  assertEquals(await warned("SELECT CURRENT_DATE - 7"), [text]);
  assertEquals(await warned("SELECT 'it''s' WHERE '2026' > current_date+ ?", [1]), [text]);
  assertEquals(await warned("SELECT current_timestamp -1"), ["CURRENT_TIMESTAMP is text"]);
  for (const fine of ["SELECT CURRENT_DATE", "SELECT 'CURRENT_DATE - 7'", "SELECT date('now', '-7 days')"]) {
    assertEquals(await warned(fine), [], fine);
  }
});

test("meta.warnings says that a cast to a type of another dialect makes a number", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const warned = async (sql: string) => {
    const { status, body, text } = await tenant.query(sql);
    assertEquals(status, 200, text);
    return body.meta?.warnings?.map((one) => one.split(" makes")[0]) ?? [];
  };
  assertEquals(await warned("SELECT CAST('abc' AS UUID)"), ["CAST(… AS UUID)"]);
  assertEquals(await warned("SELECT cast(trim(CAST('{}' as json)) AS timestamp with time zone)"), [
    "CAST(… AS JSON)",
    "CAST(… AS TIMESTAMP)",
  ]);
  for (
    const fine of [
      "SELECT CAST('7' AS INTEGER) AS date",
      "SELECT CAST((SELECT count(*) AS date) AS TEXT)",
      "WITH days AS (SELECT CAST('2026' AS TEXT) AS date) SELECT date AS json FROM days",
      "SELECT 'CAST(x AS JSON)'",
    ]
  ) assertEquals(await warned(fine), [], fine);
});

test("meta.warnings names the indexes and triggers that went with a table made anew, to a repetition too", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup(
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)",
    "CREATE INDEX by_name ON people (name)",
    "CREATE INDEX by_both ON people (name, id)",
    "CREATE TRIGGER kept AFTER DELETE ON people BEGIN SELECT 1; END",
    "CREATE TABLE others (name TEXT)",
  );
  const anew = [
    "CREATE TABLE people_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    "INSERT INTO people_new SELECT id, name FROM people",
    "DROP TABLE people",
    "ALTER TABLE people_new RENAME TO people",
    "CREATE INDEX by_name ON people (name)",
  ];
  const lost = [
    "Make index by_both, trigger kept of people again, where they are wanted: they went with the former people",
  ];
  const send = (...texts: readonly string[]) =>
    tenant.batch(texts.map((sql) => [sql] as const), {
      transaction: true,
      headers: { "idempotency-key": `anew-${texts.length}` },
    });
  for (let time = 0; time < 2; time++) {
    const { status, body, text } = await send(...anew);
    assertEquals([status, body.meta?.warnings], [200, lost], text);
  }
  // What is made beside a table that goes took nothing along, nor does one that had nothing.
  const beside = await send("DROP TABLE others", "CREATE TABLE fresh (a)", "CREATE TABLE others (a)");
  assertEquals([beside.status, beside.body.meta?.warnings], [200, undefined], beside.text);
});

test("meta.warnings says which key numbers nothing, the second time too, and says nothing otherwise", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const warned = async (sql: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await tenant.query(sql, [], { headers });
    assertEquals(answer.status, 200, answer.text);
    return (answer.body.meta as { readonly warnings?: readonly string[] }).warnings;
  };
  const expected = [
    "id stays NULL where an INSERT leaves it out; write id INTEGER PRIMARY KEY, which counts up by itself",
  ];
  const key = { "idempotency-key": "makes-serials" };
  assertEquals(await warned("CREATE TABLE serials (id SERIAL PRIMARY KEY, n TEXT)", key), expected);
  assertEquals(await warned("CREATE TABLE serials (id SERIAL PRIMARY KEY, n TEXT)", key), expected);
  await warned("INSERT INTO serials (n) VALUES ('x')");
  assertEquals(rowsOf(await tenant.query("SELECT id FROM serials")), [[null]]);
  assertEquals(await warned("CREATE TABLE ints (id INT NOT NULL PRIMARY KEY)"), undefined);
  assertEquals(await warned('CREATE TABLE behind (id INT, n INT, PRIMARY KEY ("id"))'), expected);
  assertEquals(await warned("CREATE TABLE big (id BIGINT PRIMARY KEY, n TEXT)"), expected);
  assertEquals(await warned("CREATE TABLE said (id INT PRIMARY KEY) /* not STRICT */"), expected);
  for (
    const [at, rest] of [
      ...["(id INTEGER PRIMARY KEY, n INT)", "(id TEXT PRIMARY KEY)", "(id INT PRIMARY KEY) WITHOUT ROWID"],
      ...[
        "(id INT PRIMARY KEY) strict",
        "(id INT PRIMARY KEY) STRICT /* (id) */, /* ) */ without\nrowid",
        "(id INT, n INT, PRIMARY KEY (id, n))",
        "AS SELECT 1 AS id",
      ],
    ].entries()
  ) assertEquals(await warned(`CREATE TABLE t${at} ${rest}`), undefined, rest);
});
