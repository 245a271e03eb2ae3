// Values between JSON and SQL over HTTP: what is read can be written back.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { testSteps } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("values", run);

testSteps("values", (app, slug) => app.namespace(slug), {
  "numbers may have _ between their digits where the engine reads them": async (tenant) => {
    const answer = await tenant.query("SELECT 1_000_000, 0xFF_FF, 1_0.5_0, 1e1_0");
    if (!isEmbedded()) {
      return assertEquals([answer.status, answer.body.code], [400, "sql_error"], answer.text);
    }
    assertEquals([answer.status, rowsOf(answer)], [200, [[1_000_000, 0xff_ff, 10.5, 1e10]]], answer.text);
    await tenant.setup(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER DEFAULT 1_000 CHECK (n < 1_000_000))",
      "CREATE TRIGGER big AFTER INSERT ON t BEGIN UPDATE t SET n = n + 1_0 WHERE id = new.id; END",
      "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1_00) INSERT INTO t (id) SELECT i FROM n",
    );
    assertEquals(rowsOf(await tenant.query("SELECT n FROM t WHERE id = 1_0")), [[1010]]);
    const refused = await tenant.query("UPDATE t SET n = 2_000_000 WHERE id = 1");
    assertEquals([refused.status, refused.body.errorDetail?.kind], [400, "check_violation"]);
    // What the text says is known as without them.
    assertEquals((await tenant.query("SELECT * FROM t LIMIT 1_0")).body.meta?.rowsRead, 10);
    assert((await tenant.query("DELETE FROM t WHERE 1_0")).body.meta?.snapshot);
    for (const wrong of ["1_", "1__0", "_1", "1_a", "0x_1"]) {
      assertEquals((await tenant.query(`SELECT ${wrong}`)).status, 400, wrong);
    }
  },
  "query gives INTEGERs within 2^53 as numbers and those beyond as strings of digits": async (tenant) => {
    const answer = await tenant.query(
      "SELECT 9007199254740991, 9007199254740992, -9007199254740991, -9007199254740993, " +
        "9223372036854775807, -9223372036854775808, 0",
    );
    assertEquals(answer.status, 200, answer.text);
    assertEquals(rowsOf(answer), [[
      9007199254740991,
      "9007199254740992",
      -9007199254740991,
      "-9007199254740993",
      "9223372036854775807",
      "-9223372036854775808",
      0,
    ]]);
  },
  "query gives the lowest INTEGER exactly, also where no other of the result is large": async (tenant) => {
    await tenant.setup("CREATE TABLE t (i INTEGER, r REAL)");
    await tenant.query("INSERT INTO t VALUES (?, -9223372036854775808.0)", ["-9223372036854775808"]);
    for (let repeat = 0; repeat < 2; repeat++) {
      assertEquals(rowsOf(await tenant.query("SELECT i FROM t")), [["-9223372036854775808"]]);
      assertEquals(rowsOf(await tenant.query("SELECT r FROM t")), [[-9223372036854775808]]);
    }
  },
  "query gives the lowest INTEGER exactly behind whatever other values of its row and its column": async (
    tenant,
  ) => {
    const lowest = "-9223372036854775808";
    for (
      const [before, value] of [["x'00'", { $blob: "AA==" }], ["9e999", "Infinity"], ["NULL", null]] as const
    ) {
      assertEquals(rowsOf(await tenant.query(`SELECT ${before}, ${lowest}`)), [[value, lowest]]);
      const column = await tenant.query(`SELECT ${before} UNION ALL SELECT ${lowest} UNION ALL SELECT 7`);
      assertEquals(rowsOf(column), [[value], [lowest], [7]]);
    }
  },
  "query gives exact digits also where small and large INTEGERs share rows and columns": async (tenant) => {
    const sql = "SELECT 1, 'a' UNION ALL SELECT 9223372036854775807, 2 ORDER BY 1";
    for (let repeat = 0; repeat < 2; repeat++) {
      assertEquals(rowsOf(await tenant.query(sql)), [[1, "a"], ["9223372036854775807", 2]]);
    }
    assertEquals(rowsOf(await tenant.query("SELECT 1")), [[1]]);
  },
  "query takes base64 whose last character has bits that belong to no byte, and disturbs no write beside it":
    async (
      tenant,
    ) => {
      await tenant.setup("CREATE TABLE t (a)");
      const values = [{ $blob: "AB==" }, { $blob: "AAB=" }, ...Array.from({ length: 10 }, (_, at) => at)];
      const answers = await Promise.all(
        values.map((value) => tenant.query("INSERT INTO t VALUES (?)", [value])),
      );
      assertEquals(answers.map(({ status }) => status), values.map(() => 200));
      const stored = await tenant.query("SELECT hex(a) FROM t WHERE typeof(a) = 'blob' ORDER BY length(a)");
      assertEquals(rowsOf(stored), [["00"], ["0000"]]);
    },
  "query says of a value that is too long that it is, also where a server reads it": async (tenant) => {
    const length = isEmbedded() ? 20_000_001 : 5_000_001;
    const answer = isEmbedded()
      ? await tenant.query(`SELECT zeroblob(${length})`)
      : await tenant.query("SELECT length(?)", ["x".repeat(length)]);
    assertEquals(answer.status, 400, answer.text);
    assertEquals(answer.body.errorDetail?.kind, "too_big");
  },
  "a REAL becomes text with the digits that its store's engine writes": async (tenant) => {
    await tenant.setup("CREATE TABLE kept (t TEXT)", "INSERT INTO kept VALUES (0.1 + 0.2)");
    const text = isEmbedded() ? "0.30000000000000004" : "0.3";
    const asked = "SELECT t, CAST(0.1 + 0.2 AS TEXT), (0.1 + 0.2) || '', 0.1 + 0.2 FROM kept";
    assertEquals(rowsOf(await tenant.query(asked)), [[text, text, text, 0.1 + 0.2]]);
  },
  "a statement may be as deep as its store's engine takes it": async (tenant) => {
    const nested = (open: string, close: string) => (count: number) =>
      `SELECT count(*) FROM (${open.repeat(count)}SELECT 1 AS x${close.repeat(count)})`;
    const inside = (open: string, close: string) => (count: number) =>
      `SELECT ${open.repeat(count)}1${close.repeat(count)}`;
    const forms = [
      [inside("(", ")"), 90, 100],
      [inside("abs(", ")"), 30, 40],
      [inside("CASE WHEN 1 THEN ", " END"), 15, 20],
      [inside("(SELECT ", ")"), 15, 20],
      [nested("SELECT * FROM (", ")"), 12, 20],
      [(rows: number) => `SELECT count(*) FROM (VALUES (1)${", (1)".repeat(rows - 1)})`, 990, 1100],
    ] as const;
    for (const [form, taken, tooDeep] of forms) {
      const few = await tenant.query(form(taken));
      assertEquals(few.status, 200, few.text);
      const many = await tenant.query(form(tooDeep));
      assertEquals(many.status, isEmbedded() ? 200 : 400, many.text);
    }
  },
  "query gives blobs as base64 in $blob, an empty one too, and takes them back": async (tenant) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at).toBase64();
    for (const $blob of ["", "AA==", "AP8=", bytes]) {
      const answer = await tenant.query("SELECT ?, typeof(?1), length(?1)", [{ $blob }]);
      assertEquals(answer.status, 200, answer.text);
      assertEquals(rowsOf(answer), [[{ $blob }, "blob", Uint8Array.fromBase64($blob).length]]);
    }
  },
  "query binds booleans as 1 and 0": async (tenant) => {
    const answer = await tenant.query("SELECT ?, ?, typeof(?1)", [true, false]);
    assertEquals(rowsOf(answer), [[1, 0, "integer"]]);
  },
  "query binds whole numbers as INTEGER, others as REAL, digits as TEXT and null as NULL": async (tenant) => {
    const answer = await tenant.query("SELECT typeof(?), typeof(?), typeof(?), typeof(?), typeof(?)", [
      7,
      1.5,
      "12",
      null,
      9007199254740991,
    ]);
    assertEquals(rowsOf(answer), [["integer", "real", "text", "null", "integer"]]);
  },
  "query gives infinities as words, NaN as null, and reals as numbers": async (tenant) => {
    const answer = await tenant.query("SELECT 9e999, -9e999, 9e999 - 9e999, 0.1, 1e300, 3.0");
    assertEquals(answer.status, 200, answer.text);
    assertEquals(rowsOf(answer), [["Infinity", "-Infinity", null, 0.1, 1e300, 3]]);
  },
  "query gives NULL as null and keeps it apart from empty text": async (tenant) => {
    assertEquals(rowsOf(await tenant.query("SELECT NULL, '', ?", [null])), [[null, "", null]]);
  },
  "X-Integers: string turns every INTEGER into a string and nothing else": async (tenant) => {
    const headers = { "x-integers": "string" };
    const answer = await tenant.query("SELECT 1, 9223372036854775807, 1.5, 2.0, '3', NULL", [], { headers });
    assertEquals(answer.status, 200, answer.text);
    assertEquals(rowsOf(answer), [["1", "9223372036854775807", 1.5, 2, "3", null]]);
    const batch = await tenant.batch([["SELECT 7"], ["SELECT count(*) FROM sqlite_schema WHERE 0"]], {
      headers,
    });
    assertEquals([rowsOf(batch, 0), rowsOf(batch, 1)], [[["7"]], [["0"]]]);
    assertEquals(rowsOf(await tenant.query("SELECT 1")), [[1]]);
  },
  "text of any script, emoji, quotes and control characters comes back as it went in": async (tenant) => {
    await tenant.setup("CREATE TABLE t (a TEXT)");
    const texts = [
      "häß ☃",
      "\u{1F469}\u200D\u{1F4BB}",
      "שלום",
      "\"'`\\",
      "\u0001\u0007\n\r\t",
      "\u2028\u2029",
      "",
    ];
    for (const text of texts) {
      assertEquals((await tenant.query("INSERT INTO t VALUES (?)", [text])).status, 200);
    }
    assertEquals(rowsOf(await tenant.query("SELECT a FROM t ORDER BY rowid")), texts.map((text) => [text]));
  },
  "a stored text that is no UTF-8 comes back with U+FFFD, or in sqld as a clear error and whole as a blob":
    async (tenant) => {
      for (const [hex, shown] of [["61FF62", "a\ufffdb"], ["4A6F73E9", "Jos\ufffd"]] as const) {
        const answer = await tenant.query(`SELECT CAST(x'${hex}' AS TEXT)`);
        if (isEmbedded()) {
          assertEquals(answer.status, 200, answer.text);
          assertEquals(rowsOf(answer), [[shown]]);
        } else {
          assertEquals([answer.status, answer.body.errorDetail?.kind], [400, "invalid_text"], answer.text);
          assertStringIncludes(answer.body.errorDetail?.hint ?? "", "CAST(… AS BLOB)");
        }
      }
      const blob = await tenant.query("SELECT CAST(CAST(x'61FF62' AS TEXT) AS BLOB)");
      assertEquals(rowsOf(blob), [[{ $blob: "Yf9i" }]]);
    },
  "every value that a table held can be read and bound again without a change": async (tenant) => {
    await tenant.setup("CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB)");
    const row = ["-9223372036854775807", 2.5, "☃", { $blob: "3q2+7w==" }];
    await tenant.query("INSERT INTO t VALUES (1, ?, ?, ?, ?)", row);
    const [values = []] = rowsOf(await tenant.query("SELECT i, r, s, b FROM t"));
    assertEquals(values, row);
    await tenant.query("INSERT INTO t VALUES (2, ?, ?, ?, ?)", values);
    const same = await tenant.query(
      "SELECT count(*) FROM t a JOIN t b ON a.i IS b.i AND a.r IS b.r AND a.s IS b.s AND a.b IS b.b " +
        "AND typeof(a.i) = typeof(b.i) WHERE a.id = 1 AND b.id = 2",
    );
    assertEquals(rowsOf(same), [[1]]);
  },
});

test("a REAL can be read and bound again without a change, one that could be an INTEGER with an exponent", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (r REAL)");
  const reals =
    "1.2345678901234568e18, 9007199254740992.0, -9223372036854775808.0, 1e20, 1e22, 1.5e300, 5e-324";
  const answer = await tenant.query(`SELECT ${reals}`);
  const [read = []] = rowsOf(answer);
  const written = /"rows":\[\[([^\]]*)\]\]/.exec(answer.text)?.[1]?.split(",") ?? [];
  assertEquals(written[0], "1.2345678901234568e+18");
  for (const [at, literal] of reals.split(", ").entries()) {
    const sql = `SELECT ? = ${literal}, typeof(?1)`;
    assertEquals(read[at], Number(literal));
    // As the answer has it, and as a client writes what it has parsed.
    for (const param of at === 0 ? [written[at]] : [written[at], JSON.stringify(read[at])]) {
      const body = `{"sql":"${sql}","params":[${param}]}`;
      const same = await app.request("POST", `${tenant.database.path}/query`, { token: tenant.token, body });
      assertEquals(same.status, 200, same.text);
      assertEquals(rowsOf(same), [[1, "real"]], literal);
    }
  }
});

test("a number that JSON would round is refused, in params of any depth, and nothing runs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (i INTEGER)");
  // The second ends as JavaScript writes such a number, and is one that no double holds.
  for (const number of ["9007199254740993", "1234567890123456800"]) {
    const body = `{"sql":"INSERT INTO t VALUES (?)","params":[${number}]}`;
    const answer = await app.request("POST", `${tenant.database.path}/query`, { token: tenant.token, body });
    assertEquals([answer.status, answer.body.code], [400, "invalid_json"], number);
    assertEquals(answer.text.includes(number), false);
  }
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});

test("what is told of a number that JSON would round works: digits for INTEGERs, an exponent for REALs", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (i INTEGER, r REAL)");
  const add = (params: string) =>
    app.request("POST", `${tenant.database.path}/query`, {
      token: tenant.token,
      body: `{"sql":"INSERT INTO t VALUES (?, ?)","params":[${params}]}`,
    });
  assertEquals((await add('"1234567890123456800", 1.2345678901234568e18')).status, 200);
  // A column of REALs takes the digits too.
  assertEquals((await add('"1234567890123456801", "1234567890123456800"')).status, 200);
  assertEquals(
    rowsOf(await tenant.query("SELECT i, typeof(i), r = 1.2345678901234568e18, typeof(r) FROM t ORDER BY i")),
    [["1234567890123456800", "integer", 1, "real"], ["1234567890123456801", "integer", 1, "real"]],
  );
});

test("text with U+0000 or half a surrogate pair is invalid_text and nothing runs, and the log says so", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  await tenant.setup("CREATE TABLE t (a TEXT)");
  for (const text of ["a\u0000b", "\ud83d", "a\ude00b"]) {
    const asked = [["INSERT INTO t VALUES (?1 || ?2)", ["a", text]], [
      `INSERT INTO t VALUES ('${text}')`,
    ]] as const;
    for (const [sql, params] of asked) {
      const query = await tenant.query(sql, params);
      const { code, errorDetail, error } = query.body;
      assertEquals([query.status, code, errorDetail?.kind], [400, "sql_error", "invalid_text"], query.text);
      assert(errorDetail?.hint.includes("blob"));
      assertEquals(error?.includes("parameter 2"), params !== undefined, query.text);
    }
    const path = `${tenant.database.path}/propose`;
    const body = { sql: "INSERT INTO t VALUES (?)", params: [text] };
    const proposed = await app.request("POST", path, { token: tenant.token, body });
    assertEquals([proposed.status, proposed.body.errorDetail?.kind], [400, "invalid_text"], proposed.text);
  }
  const logged = await tenant.query(
    "SELECT count(*) FROM _service_meta_query_log WHERE error_kind = 'invalid_text' AND sql LIKE 'INSERT INTO t VALUES (_%'",
  );
  assertEquals(rowsOf(logged), [[9]]);
  const batch = await tenant.batch([["INSERT INTO t VALUES ('x')"], ["INSERT INTO t VALUES (?)", "\u0000"]], {
    transaction: true,
  });
  assertEquals([batch.status, batch.body.failedIndex, batch.body.errorDetail?.kind], [
    400,
    1,
    "invalid_text",
  ]);
  assertEquals(rowsOf(await tenant.query("SELECT count(*) FROM t")), [[0]]);
});
