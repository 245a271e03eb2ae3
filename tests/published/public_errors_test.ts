// What a stranger is told of a failure in somebody's database: names of inputs, never tables, columns or the schema.
import { assert, assertEquals } from "@std/assert";
import type { EndpointSpec, FieldSpec } from "../../lib/core/endpoint_spec.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";
import { rowsOf } from "../testing/test_namespace.ts";

const { run, test } = oneStore();
Deno.test("what a stranger is told of a failure in somebody's database", run);

/** No name of it is a word that a message could use for another reason. */
const SETUP = [
  "CREATE TABLE xparent (xkey INTEGER PRIMARY KEY)",
  "CREATE TABLE xtab (xid INTEGER PRIMARY KEY, xname TEXT UNIQUE, xneed TEXT NOT NULL DEFAULT 'd', " +
  "xcheck INTEGER CONSTRAINT xrule CHECK (xcheck < 10), xref INTEGER REFERENCES xparent, " +
  "xa TEXT, xb TEXT, UNIQUE (xa, xb)) STRICT",
  "INSERT INTO xtab (xid, xname, xa, xb) VALUES (1, 'taken', 'a', 'b')",
  "CREATE VIRTUAL TABLE xfts USING fts5(xbody)",
  "CREATE TABLE xguarded (xval TEXT)",
  "CREATE TRIGGER xtrig BEFORE INSERT ON xguarded BEGIN SELECT RAISE(ABORT, 'xtab.xname says xrule'); END",
  "CREATE TRIGGER xtrig2 BEFORE DELETE ON xguarded BEGIN SELECT RAISE(FAIL, 'UNIQUE constraint failed: xtab.xname'); END",
  "INSERT INTO xtab (xid, xname) VALUES (2, 'y')",
  "CREATE TABLE xgone (xval TEXT)",
  "CREATE TABLE xcol (xval TEXT, xother TEXT)",
];
const text = (name: string): FieldSpec => ({ name, type: "text" });
const integer = (name: string): FieldSpec => ({ name, type: "integer" });

interface Case {
  readonly sql: string;
  readonly input: FieldSpec[];
  readonly body: Record<string, unknown>;
  /** Of `errorDetail`; null where there is none. */
  readonly kind: string | null;
  /** Inputs that the answer names. */
  readonly names: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  "unique": {
    sql: "INSERT INTO xtab (xname) VALUES (?)",
    ...{ input: [text("nick")], body: { nick: "taken" }, kind: "unique_violation", names: ["nick"] },
  },
  "unique over several": {
    sql: "INSERT INTO xtab (xneed, xa, xb) VALUES ('n', ?, ?)",
    ...{ input: [text("first"), text("second")], body: { first: "a", second: "b" } },
    ...{ kind: "unique_violation", names: ["first", "second"] },
  },
  "unique of an update": {
    sql: "UPDATE xtab SET xname = ? WHERE xid = ?",
    ...{ input: [text("nick"), integer("id")], body: { nick: "taken", id: 2 } },
    ...{ kind: "unique_violation", names: ["nick"] },
  },
  "not null": {
    sql: "INSERT INTO xtab (xneed) VALUES (?)",
    ...{ input: [text("wanted")], body: { wanted: null }, kind: "not_null_violation", names: ["wanted"] },
  },
  "check": {
    sql: "INSERT INTO xtab (xcheck) VALUES (?)",
    ...{ input: [integer("size")], body: { size: 11 }, kind: "check_violation", names: [] },
  },
  "foreign key": {
    sql: "INSERT INTO xtab (xref) VALUES (?)",
    ...{ input: [integer("of")], body: { of: 99 }, kind: "foreign_key_violation", names: [] },
  },
  "type": {
    sql: "INSERT INTO xtab (xcheck) VALUES (?)",
    ...{ input: [text("size")], body: { size: "abc" }, kind: "type_mismatch", names: [] },
  },
  "a table that is gone": {
    sql: "INSERT INTO xgone VALUES (?)",
    ...{ input: [text("v")], body: { v: "1" }, kind: null, names: [] },
  },
  "a column that is gone": {
    sql: "INSERT INTO xcol (xother) VALUES (?)",
    ...{ input: [text("v")], body: { v: "1" }, kind: null, names: [] },
  },
  "malformed JSON": {
    sql: "INSERT INTO xcol (xval) VALUES (json_extract(?, '$.a'))",
    ...{ input: [text("v")], body: { v: "{" }, kind: null, names: [] },
  },
};

function mutation(sql: string, input: FieldSpec[]): Partial<EndpointSpec> & { slug: string } {
  return { slug: "do", kind: "mutation", method: "POST", output: "rows_written", sql, input };
}

function assertTellsNothing(answer: ApiAnswer, name: string): void {
  const text = answer.text.replace('"table":null,"column":null', "");
  assert(
    !/\bx(?!\b)|_service|sqlite|constraint|column|table|schema|SELECT|trigger/i.test(text),
    `${name}: ${text}`,
  );
}

test("failures of a published statement name inputs, never tables, columns or the schema", async () => {
  await using world = await publishedApp({ setup: SETUP });
  for (const [name, { sql, input, body, kind, names }] of Object.entries(cases)) {
    await world.put(mutation(sql, input));
    if (name === "a table that is gone") await world.acme.query("DROP TABLE xgone");
    if (name === "a column that is gone") await world.acme.query("ALTER TABLE xcol DROP COLUMN xother");
    const answer = await world.call("do", { body });
    assertEquals([answer.status, answer.body.code], [400, "sql_error"], `${name}: ${answer.text}`);
    assertEquals(answer.body.errorDetail?.kind ?? null, kind, `${name}: ${answer.text}`);
    assertEquals((answer.body.issues ?? []).map(({ path }) => path), names, `${name}: ${answer.text}`);
    assertTellsNothing(answer, name);
  }
});

test("what a trigger raises reaches the caller as 409 app_error, and nothing else of the schema does", async () => {
  await using world = await publishedApp({
    setup: [
      ...SETUP,
      "CREATE TRIGGER xtrig3 BEFORE UPDATE ON xguarded BEGIN SELECT RAISE(ROLLBACK, 'Not today'); END",
      "CREATE TRIGGER xtrig4 BEFORE UPDATE ON xtab BEGIN SELECT RAISE(ABORT, ''); END",
      "CREATE TABLE xheld (xval TEXT REFERENCES xtab (xname) ON DELETE RESTRICT)",
      "INSERT INTO xheld VALUES ('y')",
    ],
  });
  await world.acme.query("DROP TRIGGER xtrig");
  await world.acme.query("INSERT INTO xguarded VALUES ('v')");
  const trigger =
    "CREATE TRIGGER xtrig BEFORE INSERT ON xguarded BEGIN SELECT RAISE(ABORT, 'Nothing is left'); END";
  await world.acme.query(trigger);
  const raised: readonly (readonly [sql: string, message: string])[] = [
    ["INSERT INTO xguarded VALUES (?)", "Nothing is left"],
    ["UPDATE xguarded SET xval = ?", "Not today"],
    ["UPDATE xtab SET xneed = ?", "Send other values; the app does not take these now"],
  ];
  for (const [sql, message] of raised) {
    await world.put(mutation(sql, [text("v")]));
    const { status, body } = await world.call("do", { body: { v: "1" } });
    assertEquals([status, body], [409, { success: false, error: message, code: "app_error" }], sql);
  }
  assertEquals(rowsOf(await world.acme.query("SELECT xval FROM xguarded")), [["v"]]);
  const calls = await world.acme.query("SELECT DISTINCT http_status, code FROM _service_meta_endpoint_call");
  assertEquals(rowsOf(calls), [[409, "app_error"]]);
  await world.put(mutation("DELETE FROM xtab WHERE xname = ?", [text("v")]));
  const restricted = await world.call("do", { body: { v: "y" } });
  assertEquals([restricted.status, restricted.body.errorDetail?.kind], [400, "foreign_key_violation"]);
});

test("a bound that a published statement passes is told without the statement", async () => {
  await using world = await publishedApp({
    setup: SETUP,
    settings: { QUERY_TIMEOUT_MS: "1500", MAX_RESULT_ROWS: "5" },
  });
  const endless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c, xtab";
  await world.put({ slug: "slow", sql: endless, input: [] });
  const many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 9) SELECT x FROM c";
  await world.put({ slug: "many", sql: many, input: [] });
  for (const [slug, code] of [["many", "result_too_large"], ["slow", "statement_timeout"]] as const) {
    const answer = await world.call(slug);
    assertEquals(answer.body.code, code, answer.text);
    assertTellsNothing(answer, slug);
    assert(!/LIMIT|WHERE|index|statement\b(?!_)/.test(answer.text.replace(code, "")), answer.text);
  }
});

test("a write that a rule holds is denied at an endpoint; nothing promises an approval", async () => {
  await using world = await publishedApp();
  await world.put(mutation("DELETE FROM item WHERE id = ?", [integer("id")]));
  const body = { tableGlob: "item", effect: "require_approval", note: "secret note" };
  const rules = "/api/namespaces/acme/databases/main/rules";
  assertEquals((await world.app.request("POST", rules, { token: world.acme.token, body })).status, 201);
  const answer = await world.call("do", { body: { id: 1 } });
  assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
  assert(!/approv|redeem|secret|hits|item/.test(answer.text), answer.text);
});

test("the owner's test of an endpoint tells what the stranger is not told", async () => {
  await using world = await publishedApp({ setup: SETUP });
  await world.put(mutation("INSERT INTO xtab (xname) VALUES (?)", [text("nick")]));
  const path = "/api/namespaces/acme/databases/main/endpoints/do/test";
  const tested = await world.app.request("POST", path, {
    token: world.acme.token,
    body: { input: { nick: "taken" } },
  });
  const { data } = JSON.parse(tested.text);
  assertEquals(data.body, (await world.call("do", { body: { nick: "taken" } })).body);
  assertEquals(data.cause.errorDetail.table, "xtab");
  assertEquals(data.cause.errorDetail.column, "xname");
});

test("a stranger is not told to raise the owner's cap, whatever kind of endpoint it is", async () => {
  await using world = await publishedApp({
    setup: [
      "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL)",
    ],
  });
  await world.put({ slug: "item" });
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "" },
    input: [{ name: "question", type: "text", required: true }],
    askConfig: { allowedTables: ["item"] },
  });
  await world.put({
    ...{ slug: "log-in", kind: "auth_login", method: "POST", output: "session" },
    sql: "SELECT id, password_hash FROM users WHERE email = ?",
    input: [{ name: "email", type: "email", required: true }, {
      name: "password",
      type: "text",
      required: true,
    }],
    authConfig: { usersTable: "users", passwordColumn: "password_hash" },
  });
  const cap = { token: world.app.operatorKey, body: { monthlyCapUsd: 0 } };
  assertEquals((await world.app.request("PATCH", "/api/namespaces/acme", cap)).status, 200);
  for (
    const answer of [
      await world.call("item?id=1"),
      await world.call("ask", { body: { question: "how many items are there?" } }),
      await world.call("log-in", { body: { email: "ada@example.com", password: "correct horse" } }),
    ]
  ) {
    assertEquals([answer.status, answer.body.code, answer.body.error], [
      402,
      "monthly_cap_reached",
      "Try again later, or tell the owner of this endpoint; its calls are not paid for at the moment",
    ]);
  }
});
