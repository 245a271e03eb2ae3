// Rows that are appended: one transaction as far as it goes, under the rules, approvals and keys of any write.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import { testSteps } from "../testing/cases.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { heldBy, writesIn, type WriteWorld } from "../writes/write_world.ts";

interface AppendWorld extends WriteWorld {
  readonly append: (rows: string | readonly object[], more?: string) => Promise<ApiAnswer>;
  readonly appendCsv: (text: string) => Promise<ApiAnswer>;
  readonly count: () => Promise<unknown>;
}

const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a DEFAULT 'none', b TEXT)";

async function worldOf(app: StartedApp, slug: string): Promise<AppendWorld> {
  const world = await writesIn(app, slug);
  await world.setup(T);
  return {
    ...world,
    append: (rows, more = "") =>
      app.request("POST", `${world.shop.database.path}/import?format=ndjson&mode=append&table=t${more}`, {
        token: world.shop.token,
        body: typeof rows === "string" ? rows : rows.map((row) => JSON.stringify(row)).join("\n"),
      }),
    appendCsv: (body) =>
      app.request("POST", `${world.shop.database.path}/import?format=csv&mode=append&table=t`, {
        token: world.shop.token,
        body,
      }),
    count: async () => (await world.rows("SELECT count(*) FROM t"))[0]?.[0],
  };
}

const written = ({ body: { data } }: ApiAnswer) => Reflect.get(Object(data), "rows");
const told = ({ status, body }: ApiAnswer) => [status, body.code, Reflect.get(body, "rows")];
const many = (length: number) => Array.from({ length }, (_, at) => ({ id: at + 1, b: "x" }));

testSteps("append", worldOf, {
  "takes what an export of a table without rows is; a CSV has a header even then": async (world) => {
    const { app, shop, append, appendCsv, count } = world;
    for (const format of ["ndjson", "csv"]) {
      const path = `${shop.database.path}/export?format=${format}&table=t`;
      const answer = await app.app.request(path, { headers: { authorization: `Bearer ${shop.token}` } });
      const file = await answer.text();
      assertEquals(file, format === "csv" ? "id,a,b\r\n" : "");
      const taken = await (format === "csv" ? appendCsv(file) : append(file));
      assertEquals([taken.status, written(taken)], [200, 0], taken.text);
    }
    const forgotten = await appendCsv("");
    assertEquals([forgotten.status, forgotten.body.issues?.[0]?.path], [400, "body"], forgotten.text);
    assertEquals(await count(), 0);
  },
  "refuses a row whose JSON would hold everybody up, and keeps the numbers of a long one as they are spelled":
    async ({
      append,
      count,
      rows,
    }) => {
      const row = (values: readonly string[]) => `{"id":1,"b":[${values.join()}]}`;
      const filled = (value: string, length: number) => row(Array(length).fill(value));
      let name = 0;
      const stranger = () => `{${Array.from({ length: 100 }, () => `"k${name++}":0`).join()}}`;
      for (
        const costly of [
          filled("[]", 250_001),
          row(Array.from({ length: 110 }, stranger)),
          filled("1.0", 60_000),
        ]
      ) {
        const answer = await append(costly);
        assertEquals([answer.status, answer.body.code], [400, "import_refused"], answer.text.slice(0, 300));
        assertStringIncludes(answer.text, "send what is nested in it as a text of JSON");
      }
      assertEquals(await count(), 0);
      const spelled = ["1.0", "-0", "9007199254740993", "9007199254740992", "1E5", "1.5", "1e+21", '"1.0"'];
      assertEquals(written(await append(row(spelled))), 1);
      assertEquals(await rows("SELECT b FROM t"), [[`[${spelled.join()}]`]]);
      await rows("DELETE FROM t RETURNING id");
      assertEquals(written(await append(filled("-12.5", 60_000))), 1);
      assertEquals(await rows("SELECT length(b), substr(b, 1, 12) FROM t"), [[360_001, "[-12.5,-12.5"]]);
    },

  "gives each column that a row leaves out its default, in one write": async (world) => {
    const defaults = [
      ["word", "open", "open"],
      ["quoted", '"say ""so"""', 'say "so"'],
      ["bracketed", "[two words]", "two words"],
      ["text", "'it''s'", "it's"],
      ["minus", "-1.5", -1.5],
      ["sum", "(1 + 2)", 3],
      ["yes", "true", 1],
      ["null_one", "NULL", null],
      ["beyond_letters", "e\u0301t\u{1f600}", "e\u0301t\u{1f600}"],
      ["told", "(2 -- two\n)", 2],
    ] as const;
    const columns = defaults.map(([name, sql]) => `${name} DEFAULT ${sql}`).join(", ");
    await world.setup(
      "DROP TABLE t",
      `CREATE TABLE t (id INTEGER PRIMARY KEY, at DEFAULT CURRENT_TIMESTAMP, ${columns}, plain, n INTEGER DEFAULT '7')`,
      "CREATE TRIGGER told AFTER INSERT ON t BEGIN UPDATE t SET plain = coalesce(plain, '') || '!' WHERE id = new.id; END",
    );
    const answer = await world.append([
      { id: 1 },
      { plain: "p", text: null, n: null },
      ...defaults.map(([name]) => ({ [name]: "given" })),
      { n: 8, plain: "q" },
      { plain: "r", n: 9 },
    ]);
    assertEquals([answer.status, written(answer)], [200, defaults.length + 4], answer.text);
    const names = defaults.map(([name]) => name);
    const usual = defaults.map(([, , value]) => value);
    const rows = await world.rows(
      `SELECT ${names.join()}, plain, n, at = datetime(at) FROM t ORDER BY id`,
    );
    assertEquals(rows[0], [...usual, "!", 7, 1]);
    assertEquals(rows[1], [...usual.map((value, at) => names[at] === "text" ? null : value), "p!", null, 1]);
    for (const [at, name] of names.entries()) {
      assertEquals(rows[at + 2], [...usual.map((value, of) => of === at ? "given" : value), "!", 7, 1], name);
    }
    assertEquals(rows.slice(-2).map((row) => row.slice(-3)), [["q!", 8, 1], ["r!", 9, 1]]);
    const log = "SELECT count(*), sum(rows_written) FROM _service_meta_query_log WHERE operation = 'import'";
    assertEquals(await world.rows(log), [[1, 2 * (defaults.length + 4)]]);
  },

  "stores what a row leaves out as an INSERT without the column does, whatever type the column has": async (
    { append, rows, setup },
  ) => {
    const defaults = [
      ...[
        "NULL",
        "null",
        "0",
        "-0",
        "+5",
        "-7",
        "007",
        "1.0",
        "-1.5",
        "1e3",
        "0x10",
        "true",
        "(1 + 2)",
        "(NULL)",
      ],
      ...[
        "999999999999999",
        "9007199254740993",
        "9223372036854775808",
        "''",
        "'it''s'",
        "'12'",
        "' 1 '",
        "'1.0'",
      ],
      ...["'\u{1f600}'", "'longer than short ones'", "x'3132'", "open", '"two words"'],
    ];
    const types = ["", "TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB"];
    const columns = types.flatMap((type, of) =>
      defaults.map((sql, at) => [`c${of}_${at}`, type, sql] as const)
    );
    const declared = columns.map(([name, type, sql]) => `${name} ${type} DEFAULT ${sql}`).join();
    await setup("DROP TABLE t", `CREATE TABLE t (id INTEGER PRIMARY KEY, ${declared})`);
    const given = Object.fromEntries(columns.map(([name]) => [name, null]));
    assertEquals(written(await append([{ id: 1 }, { id: 2, ...given }])), 2);
    await setup("INSERT INTO t (id) VALUES (3)");
    const stored = columns.map(([name]) => `typeof(${name}) || ' ' || quote(${name})`).join();
    const [left, named, usual = []] = await rows(`SELECT ${stored} FROM t ORDER BY id`);
    assertEquals(left, usual);
    assertEquals(new Set(named), new Set(["null NULL"]));
    assertEquals(new Set(usual.map((one) => String(one).split(" ")[0])).size, 5);
  },

  "takes back a CSV of one column with the rows that are NULL": async (
    { app, shop, setup, rows, appendCsv },
  ) => {
    await setup(
      "DROP TABLE t",
      "CREATE TABLE t (b TEXT)",
      "INSERT INTO t VALUES ('a'), (NULL), (''), (NULL)",
    );
    const { text } = await app.request("GET", `${shop.database.path}/export?format=csv&table=t`, {
      token: shop.token,
    });
    assertEquals(text, 'b\r\na\r\n\r\n""\r\n\r\n');
    assertEquals(written(await appendCsv(text)), 4);
    assertEquals(
      await rows("SELECT b, count(*) FROM t GROUP BY b ORDER BY b"),
      [[null, 4], ["", 2], ["a", 2]],
    );
  },

  "takes truth and bytes in a CSV as PostgreSQL writes them": async ({ setup, rows, appendCsv }) => {
    await setup(
      "DROP TABLE t",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, done BOOLEAN, open BOOL, b BLOB, s TEXT, n NUMERIC)",
    );
    const answer = await appendCsv(
      "id,done,open,b,s,n\n1,t,f,\\x00fF,t,t\n2,TRUE,false,AP8=,\\x00,true\n3,1,0,\\x,,\n4,maybe,,,,\n",
    );
    assertEquals(written(answer), 4, answer.text);
    assertEquals(await rows("SELECT id, done, open, hex(b), s, n FROM t ORDER BY id"), [
      [1, 1, 0, "00FF", "t", "t"],
      [2, 1, 0, "00FF", "\\x00", "true"],
      [3, 1, 0, "", null, null],
      [4, "maybe", null, "", null, null],
    ]);
    const odd = await appendCsv("id,b\n5,\\x00f\n");
    assertEquals([odd.body.code, odd.body.issues?.[0]?.path], ["import_refused", "line 2, column b"]);
  },

  "keeps the text of a cell in a column of any type": async ({ setup, rows, appendCsv }) => {
    await setup("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY, a ANY, b TEXT) STRICT");
    assertEquals(written(await appendCsv("id,a,b\n1,007,007\n2,1e3,1e3\n3,,\n")), 3);
    assertEquals(await rows("SELECT a, b FROM t ORDER BY id"), [["007", "007"], ["1e3", "1e3"], [
      null,
      null,
    ]]);
    // Elsewhere the engine takes ANY for numbers.
    await setup("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY, a ANY)");
    assertEquals(written(await appendCsv("id,a\n1,007\n")), 1);
    assertEquals(await rows("SELECT a FROM t"), [[7]]);
  },

  "keeps an object or a list of NDJSON as its text, with all digits, in columns of JSON and text": async (
    { setup, rows, append },
  ) => {
    await setup(
      "DROP TABLE t",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, meta JSON, tags TEXT, b BLOB, n INTEGER)",
    );
    const answer = await append(
      '{"id":1,"meta":{"k":[12345678901234567890,1.10,"é"]},"tags":["a","b c"],"n":9007199254740993,"b":{"$blob":"AP8="}}\n' +
        '{"id":2,"meta":{"$blob":"AA==","more":1},"tags":"plain"}\n',
    );
    assertEquals(written(answer), 2, answer.text);
    assertEquals(await rows("SELECT meta, tags, hex(b), n FROM t ORDER BY id"), [
      ['{"k":[12345678901234567890,1.10,"é"]}', '["a","b c"]', "00FF", "9007199254740993"],
      ['{"$blob":"AA==","more":1}', "plain", "", null],
    ]);
    for (
      const [column, value] of [["n", "{}"], ["b", "[1]"], ["meta", '{"$blob":"no base64!"}'], [
        "meta",
        '{"$blob":null}',
      ]]
    ) {
      const refused = await append(`{"id":3,"${column}":${value}}`);
      const path = refused.body.issues?.[0]?.path;
      assertEquals([refused.body.code, path], ["import_refused", `line 1, column ${column}`]);
    }
    const deep = await append(`{"id":3,"meta":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    assertEquals(told(deep), [400, "import_refused", undefined]);
  },

  "lets the engine count up a key that a row leaves out, whatever its default": async (world) => {
    await world.setup("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY DEFAULT 7, b)");
    const answer = await world.append([{ id: 1, b: "x" }, { b: "y" }, { b: "z" }]);
    assertEquals(answer.status, 200, answer.text);
    assertEquals(await world.rows("SELECT id, b FROM t ORDER BY id"), [[1, "x"], [2, "y"], [3, "z"]]);
  },

  "reads bytes as PostgreSQL writes them into columns of bytes, and leaves such a text alone in others":
    async (world) => {
      await world.setup("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB, s TEXT, x)");
      const row = { id: 1, b: "\\xDEADbeef", s: "\\xDE", x: "\\xDE" };
      const answer = await world.append([row, { ...row, id: 2, b: "\\x" }, { ...row, id: 3, b: "\\xDEA" }]);
      assertEquals(answer.status, 200, answer.text);
      assertEquals(await world.rows("SELECT typeof(b), hex(b), s, x FROM t ORDER BY id"), [
        ["blob", "DEADBEEF", "\\xDE", "\\xDE"],
        ["blob", "", "\\xDE", "\\xDE"],
        ["text", "5C78444541", "\\xDE", "\\xDE"],
      ]);
    },

  "takes all of a file or nothing, whatever its rows name": async (world) => {
    const answer = await world.append([{ id: 1, b: "x" }, { id: 2, a: 1 }, { id: 1 }]);
    assertEquals([...told(answer), answer.body.issues?.[0]?.path], [400, "sql_error", undefined, "line 3"]);
    assertStringIncludes(answer.body.errorDetail?.hint ?? "", "Take the line out of the file");
    const unread = await world.append('{"id":1}\n{"b":"x"}\n{"id":2,"c":1}');
    assertEquals([...told(unread), unread.body.issues?.[0]?.path], [
      400,
      "import_refused",
      undefined,
      "line 3",
    ]);
    assertEquals(await world.count(), 0);
  },

  "with atomic=1 takes nothing of a file that one transaction cannot take": async (world) => {
    const large = await world.append(many(5001), "&atomic=1");
    assertEquals(told(large), [400, "import_refused", undefined], large.text);
    assert(/5000 rows or 4 MB/.test(large.text), large.text);
    const wide = await world.append(
      Array.from({ length: 10 }, (_, at) => ({ id: at, b: "x".repeat(500_000) })),
      "&atomic=1",
    );
    assertEquals(told(wide), [400, "import_refused", undefined], wide.text.slice(0, 300));
    const blobs = await world.append(
      Array.from({ length: 10 }, (_, at) => ({ id: at, b: { $blob: "A".repeat(500_000) } })),
      "&atomic=1",
    );
    assertEquals(told(blobs), [400, "import_refused", undefined], blobs.text.slice(0, 300));
    assertEquals(await world.count(), 0);
    assertEquals(written(await world.append(many(5000), "&atomic=1")), 5000);
    assertEquals(written(await world.append("", "&atomic=1")), 0);
    const { shop, app } = world;
    const file = await app.request("POST", `${shop.database.path}/import?format=sql&mode=replace&atomic=1`, {
      token: shop.token,
      body: T,
    });
    assertEquals([file.status, file.body.issues?.[0]?.path], [400, "atomic"], file.text);
  },

  "counts all rows of the file for a rule about many, however they differ and however many there are": async (
    world,
  ) => {
    await world.rule({ tableGlob: "t", effect: "deny", actions: ["insert"], minRows: 5003 });
    const mixed = many(5002).map((row) => row.id % 2 === 0 ? row : { id: row.id });
    assertEquals((await world.append(mixed)).status, 200);
    assertEquals(await world.count(), 5002);
    await world.setup("DELETE FROM t WHERE id > 4999", "DELETE FROM t");
    assertEquals(told(await world.append(many(5003))), [403, "rule_denied", 5000]);
    await world.setup("DELETE FROM t WHERE id > 4999", "DELETE FROM t");
    await world.rule({ tableGlob: "t", effect: "deny", actions: ["insert"], minRows: 2 });
    assertEquals(told(await world.append(mixed.slice(0, 8))), [403, "rule_denied", undefined]);
    assertEquals(await world.count(), 0);
    assertEquals(written(await world.append(mixed.slice(0, 1))), 1);
  },

  "counts the rows that the file replaces for a rule about many, those of parts that are in already too":
    async (
      { append, app, count, rule, setup, shop },
    ) => {
      await setup("DROP TABLE t", "CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, b NOT NULL)");
      assertEquals((await append(many(5000))).status, 200);
      const broken = many(6000).with(5000, { id: 5001, b: "" }).map(({ id, b }) => ({ id, b: b || null }));
      assertEquals(told(await append(broken, "&id=one")), [400, "sql_error", 5000]);
      // 5000 rows take the place of as many, and 1000 come in: 11000 changes.
      const most = await rule({ tableGlob: "t", effect: "deny", actions: ["insert"], minRows: 11_000 });
      assertEquals(told(await append(many(6000), "&id=one")), [403, "rule_denied", 5000]);
      assertEquals(told(await append(many(6000), "&id=two")), [403, "rule_denied", 5000]);
      assertEquals(told(await append(many(6000), "&id=two")), [403, "rule_denied", 5000]);
      assertEquals(await count(), 5000);
      const path = `/api/namespaces/${shop.slug}/databases/main/rules/${most}`;
      const changed = await app.request("PATCH", path, { token: shop.token, body: { minRows: 11_001 } });
      assertEquals(changed.status, 200, changed.text);
      assertEquals(written(await append(many(6000), "&id=two")), 6000);
      assertEquals(await count(), 6000);
    },

  "under an id that a restore has taken away come in again, and those that it brings back do not": async (
    world,
  ) => {
    const { append, count, post, rows } = world;
    assertEquals((await post("snapshots", { label: "empty" })).status, 201);
    const broken = many(6000).with(5500, { id: 1, b: "twice" });
    assertEquals(told(await append(broken, "&id=one")), [400, "sql_error", 5000]);
    const keyed = { headers: { "idempotency-key": "once" } };
    const note = () => post("query", { sql: "INSERT INTO t VALUES (9999, 'key', NULL)" }, keyed);
    assertEquals((await note()).status, 200);
    const restored = await post("restore", { snapshot: "empty" });
    assertEquals(await count(), 0);
    // Another answer of the former state, which a restore carries over: that call does not run again.
    assertEquals((await note()).headers.get("idempotency-replayed"), "true");
    assertEquals(written(await append(many(6000), "&id=one")), 6000);
    assertEquals(await rows("SELECT count(*), min(id), max(id) FROM t"), [[6000, 1, 6000]]);
    const undo = Reflect.get(Object(restored.body.data), "undo");
    assertEquals((await post("restore", { snapshot: undo })).status, 200);
    assertEquals(await count(), 5001);
    assertEquals(written(await append(many(6000), "&id=one")), 6000);
    assertEquals(await rows("SELECT count(*), min(id), max(id) FROM t"), [[6001, 1, 9999]]);
  },

  "that are in already take nothing from the log: rows that waited with them are there": async (
    { append, rows, shop },
  ) => {
    for (let round = 0; round < 5; round++) {
      assertEquals((await shop.query(`SELECT ${round} AS waits`)).status, 200);
      assertEquals(written(await append(many(3), "&id=once")), 3);
    }
    const logged = await rows("SELECT count(*) FROM _service_meta_query_log WHERE sql LIKE '% AS waits'");
    assertEquals(logged, [[5]]);
  },

  "that a rule holds waits for a person as a whole, and its id gets what ran": async (world) => {
    await world.rule({ tableGlob: "t", effect: "require_approval", actions: ["insert"] });
    const rows = [{ id: 1 }, { id: 2, b: "x" }, { id: 3, a: null }];
    const first = await world.append(rows, "&id=one");
    const held = heldBy(first);
    assertEquals(heldBy(await world.append(rows, "&id=one")), held);
    assertEquals(await world.count(), 0);
    assertEquals((await world.decide(held.id, "approve", { snapshot: true })).status, 200);
    const redeemed = await world.redeem(held.approvalToken);
    const { meta } = redeemed.body;
    assert(meta?.snapshot, redeemed.text);
    const data = { tables: 1, rows: 3, notKept: [], snapshot: meta.snapshot };
    assertEquals([redeemed.status, redeemed.body.data, meta.rowsWritten], [200, data, 3], redeemed.text);
    assertEquals(await world.rows("SELECT a, b FROM t ORDER BY id"), [["none", null], ["none", "x"], [
      null,
      null,
    ]]);
    const again = await world.append(rows, "&id=one");
    assertEquals([again.status, written(again)], [200, 3], again.text);
    assertEquals((await world.append(rows.slice(1), "&id=one")).body.code, "replay_mismatch");
    assertEquals(await world.count(), 3);
  },

  "that a rule holds is told to come in files of one transaction where it is larger": async (world) => {
    await world.rule({ tableGlob: "t", effect: "require_approval", actions: ["insert"] });
    const answer = await world.append(many(7000), "&id=one");
    assertEquals(told(answer), [403, "transaction_held", undefined], answer.text);
    assert(/at most 5000 rows/.test(answer.body.error ?? ""), answer.text);
    assertEquals(await world.count(), 0);
    const { shop, app } = world;
    const waiting = await app.request("GET", `/api/namespaces/${shop.slug}/approvals?state=pending`, {
      token: shop.token,
    });
    assertEquals(waiting.body.data, []);
  },

  "of rows that name a thousand columns between them stays within one transaction's size": async (world) => {
    const names = Array.from({ length: 900 }, (_, at) => `c${at}`);
    await world.setup("DROP TABLE t", `CREATE TABLE t (${names.map((name) => `${name} DEFAULT 1`).join()})`);
    const rows = Array.from({ length: 2000 }, (_, at) => ({ [`c${at % 900}`]: 2 }));
    const answer = await world.append(rows, "&id=wide");
    assertEquals([answer.status, written(answer)], [200, 2000], answer.text.slice(0, 300));
    assertEquals((await world.append(rows, "&id=wide")).status, 200);
    const sums = await world.rows("SELECT count(*), sum(c0), sum(c899), sum(c300) FROM t");
    assertEquals(sums, [[2000, 2003, 2002, 2002]]);
    const parts =
      "SELECT count(*) > 1, count(*) < 10 FROM _service_meta_query_log WHERE operation = 'import'";
    assertEquals(rowsOf(await world.shop.query(parts)), [[1, 1]]);
  },
});
