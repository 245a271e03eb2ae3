// Mutations of several statements: one transaction, values of earlier rows by @name, and one answer.
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { JOIN, PEOPLE, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";
import { isEmbedded } from "../testing/tenant_settings.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("mutations of several statements", run);

const mutation = { kind: "mutation", method: "POST", output: "first_row" } as const;
const integer = (name: string): FieldSpec => ({ name, type: "integer", required: true });

/** Rooms with some places, and who has booked one. */
async function rooms(): Promise<PublishedApp> {
  const made = await publishedApp({
    setup: [
      "CREATE TABLE room (id INTEGER PRIMARY KEY, name TEXT NOT NULL, free INTEGER NOT NULL, fee REAL)",
      "INSERT INTO room VALUES (1, 'small', 1, 2.0), (2, 'large', 9, 3.5)",
      "CREATE TABLE booking (id INTEGER PRIMARY KEY, room_id INTEGER REFERENCES room(id), fee REAL, guest TEXT UNIQUE)",
      "CREATE TABLE note (booking_id INTEGER, text TEXT CHECK (text <> 'bad'))",
    ],
  });
  await made.put({
    ...{ slug: "book", ...mutation },
    sql: `UPDATE room SET free = free - 1 WHERE id = :room AND free > 0 RETURNING id AS room_id, name, fee;
      INSERT INTO booking (room_id, fee, guest) VALUES (@room_id, @fee, :guest) RETURNING id;
      INSERT INTO note (booking_id, text) VALUES (@id, :text);
      SELECT @id AS booking, @NAME AS room, :guest AS guest -- the answer; not another`,
    input: [integer("room"), { name: "guest", type: "text", required: true }, {
      name: "text",
      type: "text",
      default: "none",
    }],
  });
  return made;
}

const state = async ({ acme }: PublishedApp) =>
  rowsOf(
    await acme.query(
      "SELECT (SELECT sum(free) FROM room), (SELECT count(*) FROM booking), (SELECT count(*) FROM note)",
    ),
  )[0];

test("later statements take what the first row of earlier ones has, and the last one answers", async () => {
  await using made = await rooms();
  const booked = await made.call("book", { body: { room: 2, guest: "Ada" } });
  assertEquals([booked.status, booked.text], [200, '{"row":{"booking":1,"room":"large","guest":"Ada"}}']);
  assertEquals(await state(made), [9, 1, 1]);
  const kept = await made.acme.query("SELECT room_id, fee, typeof(fee), booking_id, text FROM booking, note");
  assertEquals(rowsOf(kept), [[2, 3.5, "real", 1, "none"]]);
});

test("without the row nothing stays, and the caller is told that something is not there", async () => {
  await using made = await rooms();
  assertEquals((await made.call("book", { body: { room: 1, guest: "Ada" } })).status, 200);
  const before = await state(made);
  for (const room of [1, 77]) {
    const refused = await made.call("book", { body: { room, guest: "Bob" } });
    assertEquals([refused.status, JSON.parse(refused.text)], [404, {
      success: false,
      error: "Send other values; nothing is there for these",
      code: "row_not_found",
    }]);
  }
  assertEquals(await state(made), before);
  const path = `/api/namespaces/${made.acme.slug}/databases/main/endpoints/book/test`;
  const body = { input: { room: 77, guest: "Bob" } };
  const { cause } =
    JSON.parse((await made.app.request("POST", path, { token: made.acme.token, body })).text).data;
  assertEquals([cause.failedIndex, cause.error], [
    1,
    "Have an earlier statement return a row with room_id; @room_id found none",
  ]);
});

test("a failure of any statement undoes those before it, and names the input of its own statement", async () => {
  await using made = await rooms();
  assertEquals((await made.call("book", { body: { room: 2, guest: "Ada" } })).status, 200);
  const before = await state(made);
  const taken = await made.call("book", { body: { room: 2, guest: "Ada" } });
  assertEquals([taken.status, taken.body.issues?.map(({ path }) => path)], [400, ["guest"]]);
  assertEquals(taken.body.failedIndex, undefined);
  const bad = await made.call("book", { body: { room: 2, guest: "Bob", text: "bad" } });
  assertEquals([bad.status, bad.body.errorDetail?.kind], [400, "check_violation"]);
  assertEquals(await state(made), before);
});

test("the last place is booked once, however many ask at a time, and a key books once", async () => {
  await using made = await rooms();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => made.call("book", { body: { room: 1, guest: `guest ${at}` } })),
  );
  assertEquals(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(404)]);
  const headers = { "idempotency-key": "0123456789abcdef" };
  const keyed = await Promise.all(
    Array.from({ length: 4 }, () => made.call("book", { body: { room: 2, guest: "Eve" }, headers })),
  );
  assertEquals(new Set(keyed.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assertEquals(keyed[0]?.status, 200);
  assertEquals(await state(made), [8, 2, 2]);
});

test("inputs by position number through all statements, and values keep their type", async () => {
  await using made = await publishedApp({
    setup: [
      "CREATE TABLE a (id INTEGER PRIMARY KEY, v)",
      "CREATE TABLE b (v, w)",
    ],
  });
  await made.put({
    ...{ slug: "copy", ...mutation, output: "rows" },
    sql:
      "SELECT v, id AS k FROM a WHERE id = ?; INSERT INTO b VALUES (@v, ?), (@k, @v); SELECT v, typeof(v), w FROM b;",
    input: [integer("id"), { name: "w", type: "text" }],
  });
  const values: readonly (readonly [sql: string, shown: unknown, type: string])[] = [
    ["9007199254740993", "9007199254740993", "integer"],
    ["'9007199254740993'", "9007199254740993", "text"],
    ["3.0", 3, "real"],
    ["x'00ff'", { $blob: "AP8=" }, "blob"],
    ["9e999", "Infinity", "real"],
    ["NULL", null, "null"],
  ];
  for (const [at, [sql, shown, type]] of values.entries()) {
    await made.acme.setup("DELETE FROM b WHERE true", `INSERT INTO a VALUES (${at + 1}, ${sql})`);
    const { status, text } = await made.call("copy", { body: { id: at + 1, w: "w" } });
    assertEquals(status, 200, text);
    assertEquals(JSON.parse(text).rows, [[shown, type, "w"], [at + 1, "integer", shown]], sql);
  }
});

test("rows_written counts all statements, and the log has one row for the call", async () => {
  await using made = await rooms();
  await made.put({
    ...{ slug: "clear", ...mutation, output: "rows_written" },
    sql: "UPDATE room SET free = 0 WHERE id = :room; INSERT INTO note (text) VALUES ('; -- '), (:room)",
    input: [integer("room")],
  });
  assertEquals((await made.call("clear", { body: { room: 2 } })).text, '{"rowsWritten":3}');
  const log = await made.acme.query(
    "SELECT statement_count, sql, status FROM _service_meta_query_log WHERE operation = 'endpoint'",
  );
  assertEquals(rowsOf(log), [[
    2,
    "UPDATE room SET free = 0 WHERE id = ?1;\nINSERT INTO note (text) VALUES ('; -- '), (?1)",
    "ok",
  ]]);
});

test("a rule that would hold one of the statements denies the call, and nothing stays", async () => {
  await using made = await rooms();
  const body = { tableGlob: "note", actions: ["insert"], effect: "require_approval", minRows: 1 };
  const rules = `/api/namespaces/${made.acme.slug}/databases/main/rules`;
  assertEquals((await made.app.request("POST", rules, { token: made.acme.token, body })).status, 201);
  const denied = await made.call("book", { body: { room: 2, guest: "Ada" } });
  assertEquals([denied.status, denied.body.code], [403, "rule_denied"]);
  const gone = await made.call("book", { body: { room: 5, guest: "Ada" } });
  assertEquals([gone.status, gone.body.code], [404, "row_not_found"]);
  assertEquals(await state(made), [10, 0, 0]);
});

test("a session that is gone runs none of the statements", async () => {
  await using made = await rooms();
  await made.acme.setup(PEOPLE);
  await made.put(JOIN);
  await made.put({
    ...{ slug: "mine", ...mutation, auth: "session" },
    sql: "INSERT INTO booking (guest) VALUES (:guest) RETURNING id; " +
      "INSERT INTO note VALUES (@id, $user_id) RETURNING booking_id, text",
    input: [{ name: "$user_id", type: "integer" }, { name: "guest", type: "text" }],
  });
  const { text } = await made.call("join", { body: { email: "a@b.example", password: "correct horse" } });
  const { token } = JSON.parse(text);
  assertEquals(
    (await made.call("mine", { token, body: { guest: "Ada" } })).text,
    '{"row":{"booking_id":1,"text":"1"}}',
  );
  const taken = await made.call("mine", { token, body: { guest: "Ada" } });
  assertEquals([taken.status, taken.body.issues?.map(({ path }) => path)], [400, ["guest"]]);
  await made.acme.setup("DELETE FROM people WHERE true");
  assertEquals((await made.call("mine", { token, body: { guest: "Bob" } })).status, 401);
  assertEquals(await state(made), [10, 1, 1]);
});

test("a trigger's own text reaches the caller from any of the statements", async () => {
  await using made = await rooms();
  await made.acme.setup(
    "CREATE TRIGGER one_note BEFORE INSERT ON note WHEN new.booking_id > 1 BEGIN SELECT RAISE(ABORT, 'One is enough'); END",
  );
  assertEquals((await made.call("book", { body: { room: 2, guest: "Ada" } })).status, 200);
  const raised = await made.call("book", { body: { room: 2, guest: "Bob" } });
  assertEquals([raised.status, raised.body.code, raised.body.error], [409, "app_error", "One is enough"]);
  assertEquals(await state(made), [9, 1, 1]);
});

test("the validator names what is wrong with one of the statements", async () => {
  await using made = await rooms();
  const path = `/api/namespaces/${made.acme.slug}/databases/main/endpoints`;
  const created = async (sql: string, over: object = {}) => {
    const body = { slug: "x", name: "x", ...mutation, sql, input: [], ...over };
    const answer = await made.app.request("POST", path, { token: made.acme.token, body });
    return JSON.stringify(answer.body);
  };
  const wrong: readonly (readonly [sql: string, said: string, over?: object])[] = [
    ["UPDATE room SET free = 1 WHERE id = @id RETURNING id", "Return id in an earlier statement"],
    ["SELECT id FROM room LIMIT 1; UPDATE room SET free = 1 WHERE id = @nope RETURNING id", "Return nope in"],
    [
      "SELECT r.id, b.id FROM room AS r, booking AS b; UPDATE room SET free = 1 WHERE id = @id RETURNING id",
      "two are called id",
    ],
    ["UPDATE room SET free = 1; SELECT free FROM rooms", "Statement 2 of 2: Correct the statement"],
    ["UPDATE room SET free = 1; DROP TABLE room", "Statement 2 of 2: it changes the schema"],
    ["SELECT 1; SELECT 2", "Write a statement that writes"],
    ["UPDATE room SET free = 1 RETURNING id; DELETE FROM note", "Add RETURNING"],
    ["UPDATE room SET free = ?; SELECT ?", "placeholders: 2, inputs that are bound: 1", {
      input: [integer("a")],
    }],
    ["UPDATE room SET free = ?; SELECT :a", "this statement has both", { input: [integer("a")] }],
    [Array(21).fill("UPDATE room SET free = 1").join(";"), "at most 20 statements; there are 21"],
    ["SELECT 1; SELECT 2", "only a mutation may have", { kind: "query" }],
  ];
  for (const [sql, said, over] of wrong) assertStringIncludes(await created(sql, over), said, sql);
  const many = [...Array(19).fill("UPDATE room SET free = 1"), "SELECT 1"].join(";\n");
  assertStringIncludes(await created(many), '"revision":1');
});

/** An endpoint that hands `v` of the row that `first` returns to a table. */
async function handed(
  { put, call, acme }: PublishedApp,
  slug: string,
  first: string,
): Promise<{ status: number; text: string; kept: unknown }> {
  await put({
    ...{ slug, ...mutation, input: [] },
    sql:
      `${first}\n; INSERT INTO kept (v) VALUES (@v) RETURNING hex(v) || ' ' || typeof(v) AS v; SELECT @v AS v`,
  });
  const { status, text } = await call(slug, { body: {} });
  const [kept] = rowsOf(await acme.query("SELECT hex(v), typeof(v) FROM kept"));
  await acme.setup("DELETE FROM kept");
  return { status, text, kept };
}

test("a value that is handed on is the one that was returned, whatever its text holds, or none is", async () => {
  await using made = await publishedApp({
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v, w)",
      "CREATE TABLE kept (v)",
      "CREATE TABLE log (id INTEGER PRIMARY KEY, v, x DEFAULT 5)",
    ],
  });
  // A text, a blob that begins as a text, numbers and none; U+FFFD itself, an empty text, and a BOM.
  const values = [
    ["'a' || char(0) || 'b'", "610062", "text"],
    ["char(0)", "00", "text"],
    ["''", "", "text"],
    ["'\uFFFD\uFEFFé'", "EFBFBDEFBBBFC3A9", "text"],
    ["x'746100e9'", "746100E9", "blob"],
    ["x''", "", "blob"],
    ["9007199254740993", "39303037313939323534373430393933", "integer"],
    ["2.0", "322E30", "real"],
    ["NULL", "", "null"],
  ] as const;
  const firsts = [
    "SELECT v FROM t WHERE id = 1",
    "WITH one AS (SELECT * FROM t) SELECT w, one.* FROM one ORDER BY id DESC LIMIT 1 -- the last",
    "UPDATE t SET w = 1 RETURNING v",
    "UPDATE t SET w = 1 RETURNING id, *",
    "INSERT INTO log (v) SELECT v FROM t RETURNING *, id AS other",
    "DELETE FROM log WHERE x = 5 RETURNING x, coalesce(NULL, v) AS [v]",
  ];
  for (const [sql, hex, type] of values) {
    await made.acme.setup(
      `INSERT OR REPLACE INTO t VALUES (1, ${sql}, x'00')`,
      `INSERT INTO log (v) SELECT v FROM t`,
    );
    for (const [at, first] of firsts.entries()) {
      const { status, text, kept } = await handed(
        made,
        `hand-${hex.length}-${type}-${at}`.toLowerCase(),
        first,
      );
      assertEquals([status, text, kept], [200, `{"row":{"v":"${hex} ${type}"}}`, [hex, type]], first);
    }
  }
});

test("a text that is no UTF-8 is not handed on as another one", async () => {
  await using made = await publishedApp({
    setup: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, v, w)",
      "INSERT INTO t VALUES (1, CAST(x'61e9' AS TEXT), 1), (2, 'good', CAST(x'61e9' AS TEXT))",
      "CREATE TABLE kept (v)",
    ],
  });
  const firsts = ["SELECT v FROM t WHERE id = 1", "UPDATE t SET w = 2 WHERE id = 1 RETURNING v"];
  for (const [at, first] of firsts.entries()) {
    const { status, text, kept } = await handed(made, `bad-${at}`, first);
    assertEquals([status, kept], [400, undefined], text);
    assertStringIncludes(text, '"kind":"invalid_text"');
  }
  const rows = rowsOf(await made.acme.query("SELECT w FROM t WHERE id = 1"));
  assertEquals(rows, [[1]]);
  if (!isEmbedded()) return; // sqld answers no row with such a text.
  // What is not taken is not looked at.
  const { status, kept } = await handed(made, "beside", "SELECT v, w FROM t WHERE id = 2");
  assertEquals([status, kept], [200, ["676F6F64", "text"]]);
  const bytes = await handed(made, "bytes", "SELECT CAST(v AS BLOB) AS v FROM t WHERE id = 1");
  assertEquals([bytes.status, bytes.kept], [200, ["61E9", "blob"]]);
});

test("a value that is made once is the one that is handed on", async () => {
  await using made = await publishedApp({
    setup: [
      "CREATE TABLE made (v)",
      "CREATE TABLE kept (v)",
      "CREATE TABLE one (id)",
      "INSERT INTO one VALUES (1)",
    ],
  });
  await made.put({
    ...{ slug: "once", ...mutation, input: [{ name: "part", type: "text", required: true }] },
    sql: `SELECT lower(hex(randomblob(8))) || ? AS v FROM one;
      INSERT INTO made VALUES (@v) RETURNING v || :part AS w;
      INSERT INTO kept VALUES (@v), (@w)`.replaceAll("?", ":part"),
  });
  assertEquals((await made.call("once", { body: { part: "-x" } })).status, 200);
  const [[first] = [], ...kept] = rowsOf(
    await made.acme.query("SELECT v FROM made UNION ALL SELECT v FROM kept"),
  );
  assertEquals(kept, [[first], [`${first}-x`]]);
});
