// What the validator of specifications refuses, each with the path and everything at once.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { wantedInputs } from "../../lib/services/endpoints/spec/bind_inputs.ts";
import { endpointWorld, ORDERS, readSpec } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what the validator of specifications refuses", run);

const USERS =
  "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL)";
const text = (more: object) => readSpec({ input: [{ name: "id", type: "text", ...more }] });
const credentials = [
  { name: "email", type: "email", required: true },
  { name: "password", type: "text", required: true },
];
const signup = (over: object = {}) =>
  readSpec({
    ...{ slug: "signup", kind: "auth_signup", method: "POST", output: "session", input: credentials },
    sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
    authConfig: { usersTable: "users", emailColumn: "email", passwordColumn: "password_hash" },
    ...over,
  });
const login = (over: object = {}) =>
  signup({
    ...{ slug: "login", kind: "auth_login", sql: "SELECT id, password_hash FROM users WHERE email = ?" },
    ...over,
  });
const ask = (over: object = {}) =>
  readSpec({
    ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "" },
    input: [{ name: "question", type: "text", required: true }],
    askConfig: { allowedTables: ["orders"] },
    ...over,
  });
/** Inputs with so many choices each. */
const choices = (count: number) =>
  readSpec({
    sql: `SELECT ${Array(100).fill("?").join()}`,
    input: Array.from({ length: 100 }, (_, at) => ({
      name: `i${at}`,
      type: "text",
      enum: Array.from({ length: count }, (_, choice) => `c${choice}`),
    })),
  });
/** So many codes of two letters, and of three behind them. */
const codes = (count: number) =>
  Array.from({ length: count }, (_, at) => (at + 10 * 36 + 10).toString(36).toUpperCase());

const accepted: Readonly<Record<string, Record<string, unknown>>> = {
  "as many choices as there is room for": choices(75),
  "the countries of the world": text({ enum: codes(249) }),
  "all choices that an enum may have": text({ enum: codes(1000) }),
  "a point read": readSpec(),
  "a pattern": text({ pattern: "^[a-z]{2,10}$" }),
  "a counted pattern": text({ pattern: "^.{1,200}$" }),
  "a default in bounds": readSpec({ input: [{ name: "id", type: "integer", min: 1, max: 9, default: 5 }] }),
  "a default of every type": readSpec({
    sql: "SELECT ?, ?, ?, ?, ?, ?, ?",
    input: [
      { name: "a", type: "text", pattern: "^x", maxLength: 2, default: "x😀" },
      { name: "b", type: "email", default: "ada@shop.example" },
      { name: "c", type: "url", default: "https://shop.example/" },
      { name: "d", type: "integer", default: "9007199254740993" },
      { name: "e", type: "number", min: 0.5, default: 0.5 },
      { name: "f", type: "boolean", default: false },
      { name: "g", type: "json", default: "[1]" },
    ],
  }),
  "names in place of marks": readSpec({
    sql: "SELECT :id, note FROM orders WHERE id = :id OR note = ':no' -- :none",
  }),
  "a session field by name": readSpec({
    auth: "session",
    sql: "SELECT note FROM orders WHERE id = $user_id AND note <> $user_email OR id = :id",
    input: ["$user_id", "$user_email", "id"].map((name) => ({ name, type: "text" })),
  }),
  "a sign-up by name": signup({
    sql: "INSERT INTO users (password_hash, email) VALUES (:password, lower(:email)) RETURNING id",
  }),
  "a log-in by name": login({ sql: "SELECT id, password_hash FROM users WHERE email = :email" }),
  "columns with types": readSpec({ outputTypes: { id: "boolean", note: "json" } }),
  "bytes": readSpec({ output: "bytes", contentType: "text/plain; charset=utf-8" }),
  "rules of a session field": readSpec({
    auth: "session",
    input: [{ name: "$user_email", type: "text", pattern: "@corp[.]com$", required: true }],
  }),
  "a mutation": readSpec({
    kind: "mutation",
    method: "POST",
    output: "rows_written",
    sql: "DELETE FROM orders WHERE id = ?",
  }),
  "a mutation that returns": readSpec({
    ...{
      kind: "mutation",
      method: "POST",
      output: "rows",
      sql: "DELETE FROM orders WHERE id = ? RETURNING id",
    },
  }),
  "a session field": readSpec({ auth: "session", input: [{ name: "$user_id", type: "integer" }] }),
  "a cached public query": readSpec({ cacheSec: 60 }),
  "origins": readSpec({ cors: ["https://app.example.com", "http://localhost:3000"] }),
  "origins of apps and extensions": readSpec({
    cors: ["capacitor://localhost", "chrome-extension://abcdefghijklmnop", "tauri://localhost:1430"],
  }),
  "an origin by address": readSpec({ cors: ["http://[::1]:8080", "http://127.0.0.1"] }),
  "a bounded json": readSpec({ input: [{ name: "id", type: "json", maxLength: 10 }] }),
  "a question mark in a text": readSpec({ sql: "SELECT '?1' FROM orders WHERE id = ?" }),
  "a signup": signup(),
  "a short session": signup({
    authConfig: { usersTable: "users", passwordColumn: "password_hash", sessionTtlSec: 1 },
  }),
  "an ask with short questions": ask({
    input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
  }),
  "a login": login(),
  "an ask": ask(),
};

const refused: readonly (readonly [what: string, spec: Record<string, unknown>, path: string])[] = [
  ["a slug", readSpec({ slug: "Get Order" }), "slug"],
  [
    "inputs by position and by name",
    readSpec({ sql: "SELECT * FROM orders WHERE id = ? OR id = :id" }),
    "sql",
  ],
  [
    "inputs by number and by name",
    readSpec({ sql: "SELECT * FROM orders WHERE id = ?1 OR id = :id" }),
    "sql",
  ],
  ["a name without an input", readSpec({ sql: "SELECT * FROM orders WHERE :id AND :ID" }), "sql"],
  [
    "an input without a name",
    readSpec({
      sql: "SELECT * FROM orders WHERE id = :id",
      input: ["id", "note"].map((name) => ({ name, type: "text" })),
    }),
    "input[1].name",
  ],
  [
    "a password bound by a log-in",
    login({ sql: `${login()["sql"]}`.replace("?", ":email || :password") }),
    "sql",
  ],
  ["a length the wrong way round", text({ minLength: 3, maxLength: 2 }), "input[0].minLength"],
  [
    "a number that is trimmed",
    readSpec({ input: [{ name: "id", type: "integer", trim: true }] }),
    "input[0].trim",
  ],
  ["a default that is no day", text({ type: "date", default: "2026-02-30" }), "input[0].default"],
  ["a default that is too short", text({ minLength: 3, default: "ab" }), "input[0].default"],
  [
    "types of columns that no body has",
    readSpec({ output: "bytes", outputTypes: { id: "json" } }),
    "outputTypes",
  ],
  ["an unknown type of a column", readSpec({ outputTypes: { id: "date" } }), "outputTypes.id"],
  ["a content type of rows", readSpec({ contentType: "image/png" }), "contentType"],
  [
    "a content type that is two headers",
    readSpec({ output: "bytes", contentType: "a/b\r\nx: y" }),
    "contentType",
  ],
  ["an unknown member", readSpec({ colour: "red" }), "colour"],
  ["an unknown member of an input", text({ colour: "red" }), "input[0].colour"],
  ["a regex that is none", text({ pattern: "(" }), "input[0].pattern"],
  ["an exponential regex", text({ pattern: "^(a+)+$" }), "input[0].pattern"],
  ["a polynomial regex", text({ pattern: "\\s+$" }), "input[0].pattern"],
  ["a back reference", text({ pattern: "^(a)\\1$" }), "input[0].pattern"],
  ["a look-ahead", text({ pattern: "^(?=a)a$" }), "input[0].pattern"],
  ["a regex that compiles to too much", text({ pattern: "((a{1,30}){1,30}){1,30}" }), "input[0].pattern"],
  [
    "a pattern of a number",
    readSpec({ input: [{ name: "id", type: "integer", pattern: "^1$" }] }),
    "input[0].pattern",
  ],
  [
    "an enum of a number",
    readSpec({ input: [{ name: "id", type: "number", enum: ["1"] }] }),
    "input[0].enum",
  ],
  ["an enum that repeats", text({ enum: ["a", "a"] }), "input[0].enum"],
  ["an empty enum", text({ enum: [] }), "input[0].enum"],
  ["a range of a text", text({ min: 1 }), "input[0].min"],
  [
    "a range the wrong way round",
    readSpec({ input: [{ name: "id", type: "integer", min: 2, max: 1 }] }),
    "input[0].min",
  ],
  [
    "a length of a number",
    readSpec({ input: [{ name: "id", type: "integer", maxLength: 1 }] }),
    "input[0].maxLength",
  ],
  [
    "a default of another type",
    readSpec({ input: [{ name: "id", type: "integer", default: "1" }] }),
    "input[0].default",
  ],
  [
    "a default out of range",
    readSpec({ input: [{ name: "id", type: "integer", max: 1, default: 2 }] }),
    "input[0].default",
  ],
  ["a default outside of enum", text({ enum: ["a"], default: "b" }), "input[0].default"],
  ["a default that pattern does not match", text({ pattern: "^a$", default: "b" }), "input[0].default"],
  ["a default that is too long", text({ maxLength: 1, default: "ab" }), "input[0].default"],
  ["a default with U+0000", text({ default: "a\u0000b" }), "input[0].default"],
  ["a default with half a character", text({ default: "\ud800" }), "input[0].default"],
  ["a default that is no address", text({ type: "email", default: "not an email" }), "input[0].default"],
  ["a default that is no URL", text({ type: "url", default: "http://a b" }), "input[0].default"],
  ["a default of JSON as a value", text({ type: "json", default: true }), "input[0].default"],
  ["a default that is no JSON", text({ type: "json", default: "{" }), "input[0].default"],
  [
    "a name twice",
    readSpec({ sql: "SELECT ?, ?", input: [{ name: "a", type: "text" }, { name: "a", type: "text" }] }),
    "input[1].name",
  ],
  ["a name with capitals", readSpec({ input: [{ name: "Id", type: "text" }] }), "input[0].name"],
  [
    "a session field that is none",
    readSpec({ auth: "session", input: [{ name: "$admin", type: "text" }] }),
    "input[0].name",
  ],
  [
    "a session field without a session",
    readSpec({ input: [{ name: "$user_id", type: "integer" }] }),
    "input[0].name",
  ],
  ["an unknown table", readSpec({ sql: "SELECT * FROM ordres WHERE id = ?" }), "sql"],
  ["no statement", readSpec({ sql: " -- nothing" }), "sql"],
  ["two statements", readSpec({ sql: "SELECT ?; SELECT 1" }), "sql"],
  ["a numbered placeholder", readSpec({ sql: "SELECT * FROM orders WHERE id = ?1" }), "sql"],
  [
    "numbered placeholders in another order",
    readSpec({
      sql: "SELECT ?2, ?",
      input: [
        { name: "a", type: "text" },
        { name: "b", type: "text" },
        { name: "c", type: "text" },
      ],
    }),
    "sql",
  ],
  ["too few placeholders", readSpec({ sql: "SELECT * FROM orders" }), "sql"],
  ["too many placeholders", readSpec({ sql: "SELECT ?, ?" }), "sql"],
  ["a query that writes", readSpec({ sql: "DELETE FROM orders WHERE id = ?" }), "sql"],
  ["a query that changes the schema", readSpec({ sql: "DROP TABLE orders", input: [] }), "sql"],
  ["a mutation that reads", readSpec({ kind: "mutation", method: "POST", output: "rows_written" }), "sql"],
  ["a statement for nobody", readSpec({ sql: "ATTACH ? AS other" }), "sql"],
  [
    "rows of a mutation without RETURNING",
    readSpec({
      ...{ kind: "mutation", method: "POST", output: "rows", sql: "DELETE FROM orders WHERE id = ?" },
    }),
    "sql",
  ],
  [
    "a mutation by GET",
    readSpec({ kind: "mutation", output: "rows_written", sql: "DELETE FROM orders WHERE id = ?" }),
    "method",
  ],
  ["rows written by a query", readSpec({ output: "rows_written" }), "output"],
  ["a session of a query", readSpec({ output: "session" }), "output"],
  ["a wildcard origin", readSpec({ cors: ["*"] }), "cors[0]"],
  ["an opaque origin", readSpec({ cors: ["null"] }), "cors[0]"],
  ["an origin with the scheme's own port", readSpec({ cors: ["https://a.example:443"] }), "cors[0]"],
  ["an origin with a port that is none", readSpec({ cors: ["https://a.example:99999"] }), "cors[0]"],
  ["an origin with capitals", readSpec({ cors: ["https://a.example", "https://A.example"] }), "cors[1]"],
  ["an origin with an address written oddly", readSpec({ cors: ["http://127.1"] }), "cors[0]"],
  ["an origin with a path", readSpec({ cors: ["https://a.example/x"] }), "cors[0]"],
  ["an app's origin with a path", readSpec({ cors: ["capacitor://localhost/"] }), "cors[0]"],
  ["an app's origin with a wildcard", readSpec({ cors: ["capacitor://*"] }), "cors[0]"],
  ["an app's origin with capitals", readSpec({ cors: ["Capacitor://localhost"] }), "cors[0]"],
  ["the origin of files", readSpec({ cors: ["file://localhost"] }), "cors[0]"],
  ["a rate of zero", readSpec({ rateLimit: { perMin: 0 } }), "rateLimit.perMin"],
  ["a rate above the bound", readSpec({ rateLimit: { perDay: 10_000_001 } }), "rateLimit.perDay"],
  ["a cache of a session's answer", readSpec({ cacheSec: 1, auth: "session" }), "cacheSec"],
  ["a cache of what a captcha guards", readSpec({ cacheSec: 1, captcha: true }), "cacheSec"],
  ["a cache of POST", readSpec({ cacheSec: 1, method: "POST" }), "cacheSec"],
  [
    "authConfig of a query",
    readSpec({ authConfig: { usersTable: "users", passwordColumn: "password_hash" } }),
    "authConfig",
  ],
  ["askConfig of a query", readSpec({ askConfig: { allowedTables: ["orders"] } }), "askConfig"],
  ["a signup without authConfig", signup({ authConfig: undefined }), "authConfig"],
  [
    "a signup into an unknown table",
    signup({ authConfig: { usersTable: "people", passwordColumn: "password_hash" } }),
    "authConfig.usersTable",
  ],
  [
    "an unknown email column",
    signup({ authConfig: { usersTable: "users", emailColumn: "mail", passwordColumn: "password_hash" } }),
    "authConfig.emailColumn",
  ],
  [
    "another password column",
    signup({ authConfig: { usersTable: "users", passwordColumn: "password" } }),
    "authConfig.passwordColumn",
  ],
  [
    "a table without password_hash",
    signup({
      ...{ sql: "INSERT INTO staff (id, email) VALUES (?, ?) RETURNING id" },
      authConfig: { usersTable: "staff", passwordColumn: "password_hash" },
    }),
    "authConfig.passwordColumn",
  ],
  [
    "a session of more than a week",
    signup({
      authConfig: { usersTable: "users", passwordColumn: "password_hash", sessionTtlSec: 604_801 },
    }),
    "authConfig.sessionTtlSec",
  ],
  [
    "a session of no time",
    signup({ authConfig: { usersTable: "users", passwordColumn: "password_hash", sessionTtlSec: 0 } }),
    "authConfig.sessionTtlSec",
  ],
  [
    "a signup that returns no key",
    signup({ sql: "INSERT INTO users (email, password_hash) VALUES (?, ?)" }),
    "sql",
  ],
  [
    "a signup without a password",
    signup({
      sql: "INSERT INTO users (email, password_hash) VALUES (?, '') RETURNING id",
      input: credentials.slice(0, 1),
    }),
    "input",
  ],
  ["a login by GET", login({ method: "GET" }), "method"],
  ["a login that reads no hash", login({ sql: "SELECT id, email FROM users WHERE email = ?" }), "sql"],
  ["an ask about nothing", ask({ askConfig: { allowedTables: [] } }), "askConfig.allowedTables"],
  [
    "an ask about an unknown table",
    ask({ askConfig: { allowedTables: ["orders", "ordres"] } }),
    "askConfig.allowedTables[1]",
  ],
  [
    "an ask about the service's tables",
    ask({ askConfig: { allowedTables: ["_service_meta_audit"] } }),
    "askConfig.allowedTables[0]",
  ],
  [
    "an ask with longer questions",
    ask({ input: [{ name: "question", type: "text", required: true, maxLength: 501 }] }),
    "input[0].maxLength",
  ],
  ["an ask with a statement", ask({ sql: "SELECT 1" }), "sql"],
  ["an ask without a question", ask({ input: [] }), "input"],
  [
    "an ask with more inputs",
    ask({
      input: [{ name: "question", type: "text", required: true }, { name: "more", type: "text" }],
    }),
    "input[1].name",
  ],
  ["more choices than an enum may have", text({ enum: codes(1001) }), "input[0].enum"],
  ["more than the control plane keeps", readSpec({ sql: `SELECT ? /* ${"x".repeat(65_000)} */` }), ""],
  ["lists of short texts, which the control plane needs more room for", choices(90), ""],
];

test("the validator accepts what the specification allows", async () => {
  await using world = await endpointWorld([ORDERS, USERS]);
  for (const [what, spec] of Object.entries(accepted)) {
    const slug = what.replaceAll(" ", "-");
    const answer = await world.call("POST", "", { ...spec, slug });
    assertEquals(answer.status, 201, `${what}: ${answer.text}`);
  }
});

test("the validator refuses everything else, and names the place", async () => {
  const staff = "CREATE TABLE staff (id INTEGER PRIMARY KEY, email TEXT UNIQUE)";
  await using world = await endpointWorld([ORDERS, USERS, staff]);
  for (const [what, spec, path] of refused) {
    const { status, body, text } = await world.call("POST", "", spec);
    assertEquals(
      [status, body.code, body.error],
      [400, "validation_failed", "Validation failed"],
      `${what}: ${text}`,
    );
    assertEquals(body.issues?.map((issue) => issue.path), [path], `${what}: ${text}`);
  }
});

test("one answer names everything that is wrong, in the form and in the meaning", async () => {
  await using world = await endpointWorld([ORDERS]);
  const { body, text } = await world.call("POST", "", {
    ...readSpec({ slug: "No", sql: "SELECT * FROM none WHERE id = ?", extra: 1 }),
    input: [{ name: "a", type: "text", pattern: "(" }, { name: "B", type: "text" }],
  });
  const paths = body.issues?.map(({ path }) => path) ?? [];
  for (const path of ["slug", "extra", "input[0].pattern", "input[1].name", "sql"]) {
    assert(paths.includes(path), `${path}: ${text}`);
  }
  assertMatch(body.issues?.find(({ path }) => path === "input[0].pattern")?.message ?? "", /regex.*valid/);
});

test("a statement that does not compile is told in sentences what is wrong, and what to do", async () => {
  await using world = await endpointWorld([ORDERS]);
  for (
    const [sql, told] of [
      ['SELECT * FROM orders WHERE note = "x" AND id = ?', /single-quotes\? Write text in single quotes/],
      ["SELECT * FROM ordrs WHERE id = ?", /no such table: ordrs\. Check the name/],
    ] as const
  ) {
    const { body } = await world.call("POST", "", readSpec({ sql }));
    assertMatch(body.issues?.[0]?.message ?? "", told);
  }
});

test("a default that is a list or an object is refused with what a default may be", async () => {
  await using world = await endpointWorld();
  for (const value of [[1], { a: 1 }]) {
    const input = [{ name: "v", type: "json", default: value }];
    const { body } = await world.call(
      "POST",
      "",
      JSON.stringify({ ...readSpec({ sql: "SELECT ?" }), input }),
    );
    const [issue] = body.issues ?? [];
    assertEquals(issue?.path, "input[0].default");
    assertMatch(issue?.message ?? "", /that of json is its text, in quotes/);
  }
});

test("a body that is no specification at all is refused as one", async () => {
  await using world = await endpointWorld();
  for (const body of [null, [], "text", 1, {}, { input: {} }, { input: Array(5000).fill({}) }]) {
    const { status, body: answer } = await world.call("POST", "", JSON.stringify(body));
    assertEquals([status, answer.code], [400, "validation_failed"]);
    assert((answer.issues?.length ?? 0) > 0);
  }
  assertEquals((await world.call("POST", "", "{")).body.code, "invalid_json");
});

Deno.test("a form opens an input for each name and ?, and none for whether one was sent", () => {
  const update = "UPDATE t SET a = CASE WHEN $sent_a THEN :a ELSE a END WHERE id = :id AND owner = $user_id";
  assertEquals([wantedInputs(update), wantedInputs("SELECT ?, ?")], [3, 2]);
});
