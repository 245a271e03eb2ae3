// What callers send: decoded by type from a query string, taken strictly from a JSON body, bound by position.
import { assert, assertEquals } from "@std/assert";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { issuePaths, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what callers send", run);

/** An endpoint that answers its only input `v`, and the type that the engine gave it. */
async function echo(world: PublishedApp, method: "GET" | "POST", field: Partial<FieldSpec>): Promise<void> {
  await world.put({
    slug: "echo",
    method,
    sql: "SELECT ?1 AS v, typeof(?1) AS t",
    input: [{ name: "v", type: "text", ...field }],
  });
}

type Row = readonly [value: unknown, type: string];

test("a query string is decoded by type, and what does not fit is an issue of its field", async () => {
  await using world = await publishedApp();
  const good: readonly (readonly [FieldSpec["type"], string, ...Row])[] = [
    ["text", "a%20b+c", "a b c", "text"],
    ["text", "", "", "text"],
    ["text", "%F0%9F%98%80", "😀", "text"],
    ["integer", "-42", -42, "integer"],
    ["integer", "9223372036854775807", "9223372036854775807", "integer"],
    ["number", "1e3", 1000, "integer"],
    ["number", "-0.5", -0.5, "real"],
    ["boolean", "true", 1, "integer"],
    ["boolean", "0", 0, "integer"],
    ["json", '{"a":[1]}', '{"a":[1]}', "text"],
    ["email", "a.b%2Bc@shop.example", "a.b+c@shop.example", "text"],
    ["url", "https://shop.example/a?b=c", "https://shop.example/a?b=c", "text"],
  ];
  for (const [type, sent, ...row] of good) {
    await echo(world, "GET", { type });
    const answer = await world.call(`echo?v=${sent.replace(/[{}"\[\]]/g, encodeURIComponent)}`);
    assertEquals(JSON.parse(answer.text).rows, [row], `${type} ${sent}`);
  }
  const bad: readonly (readonly [FieldSpec["type"], string])[] = [
    ...["1.0", "1e3", "+1", "0x10", "", "9223372036854775808", "-9223372036854775809", "1%00", "%D9%A1"]
      .map((text) => ["integer", text] as const),
    ...["NaN", "Infinity", "1e999", "0x1", "", "1,5", "."].map((text) => ["number", text] as const),
    ...["TRUE", "yes", "2", ""].map((text) => ["boolean", text] as const),
    ...["{", "'a'", "undefined"].map((text) => ["json", text] as const),
    ...["a", "a@", "a@b c", "a@-b", "@b", "a@b@c", "a%0A@b"].map((text) => ["email", text] as const),
    ...["javascript:alert(1)", "ftp://a", "//a", "https:a", "http://", "https://a%20b/%20 x"].map((text) =>
      ["url", text.replace(/ /g, "%20")] as const
    ),
    ...["a%00b", "%ff", "%C0%AF", "%ED%A0%80", "%E0%80%AF", "%"].map((text) => ["text", text] as const),
  ];
  for (const [type, sent] of bad) {
    await echo(world, "GET", { type });
    assertEquals(issuePaths(await world.call(`echo?v=${sent}`)), ["v"], `${type} ${sent}`);
  }
});

test("a JSON body is typed strictly", async () => {
  await using world = await publishedApp();
  const good: readonly (readonly [FieldSpec["type"], unknown, ...Row])[] = [
    ["integer", 3, 3, "integer"],
    ["integer", 1e3, 1000, "integer"],
    ["integer", "-9223372036854775808", "-9223372036854775808", "integer"],
    ["number", 3, 3, "integer"],
    ["boolean", false, 0, "integer"],
    ["json", { a: [null] }, '{"a":[null]}', "text"],
    ["json", "x", '"x"', "text"],
    ["text", null, null, "null"],
  ];
  for (const [type, sent, ...row] of good) {
    await echo(world, "POST", { type });
    const answer = await world.call("echo", { body: { v: sent } });
    assertEquals(JSON.parse(answer.text).rows, [row], `${type} ${JSON.stringify(sent)}`);
  }
  const bad: readonly (readonly [FieldSpec["type"], unknown])[] = [
    ["integer", "3"],
    ["integer", 1.5],
    ["integer", true],
    ["integer", [3]],
    ["integer", "9223372036854775808"],
    ["number", "3"],
    ["boolean", "true"],
    ["boolean", 1],
    ["text", 3],
    ["text", { $blob: "AAAA" }],
    ["text", ["a"]],
    ["text", "\ud800"],
    ["text", "a\u0000b"],
    ["email", { toString: "a@b" }],
    ["url", null],
  ];
  for (const [type, sent] of bad) {
    await echo(world, "POST", { type, required: true });
    assertEquals(
      issuePaths(await world.call("echo", { body: { v: sent } })),
      ["v"],
      `${type} ${JSON.stringify(sent)}`,
    );
  }
});

test("integers beyond 2^53 reach an integer column exactly", async () => {
  await using world = await publishedApp();
  const large = "9007199254740993";
  await world.put({
    slug: "add",
    kind: "mutation",
    method: "POST",
    sql: "INSERT INTO item (id, name) VALUES (?, ?) RETURNING id, typeof(id)",
    input: [{ name: "id", type: "integer", max: 2 ** 60 }, { name: "name", type: "text" }],
  });
  await world.put({ slug: "item" });
  assertEquals(JSON.parse((await world.call("add", { body: { id: large, name: "x" } })).text).rows, [[
    large,
    "integer",
  ]]);
  assertEquals(JSON.parse((await world.call(`item?id=${large}`)).text).rows, [[large, "x"]]);
  const rounded = await world.call("add", { body: `{"id":${large}}` });
  assertEquals([rounded.status, rounded.body.code], [400, "invalid_json"]);
  assertEquals(issuePaths(await world.call("add", { body: { id: String(2n ** 60n + 1n) } })), ["id"]);
});

test("an integer beyond 2^53 is bound as INTEGER, whoever gives it: the caller, a default, a session", async () => {
  await using world = await publishedApp({ setup: ["CREATE TABLE plain (b)"] });
  const [low, high] = ["-9223372036854775808", "9223372036854775807"];
  const sql = "SELECT typeof(?1), ?1 > 5, ?1 - 0";
  await world.put({
    slug: "echo",
    method: "POST",
    sql,
    input: [{ name: "v", type: "integer", default: high }],
  });
  const row = async (body: object) => JSON.parse((await world.call("echo", { body })).text).rows[0];
  assertEquals(await row({ v: low }), ["integer", 0, low]);
  assertEquals(await row({}), ["integer", 1, high]);
  await world.put({ slug: "who", auth: "session", sql, input: [{ name: "$user_id", type: "integer" }] });
  const minted = await world.app.request("POST", "/v1/sessions", {
    token: world.acme.token,
    body: { namespaceSlug: "acme", databaseSlug: "main", userId: low },
  });
  const { token } = JSON.parse(minted.text).data;
  assertEquals(JSON.parse((await world.call("who", { token })).text).rows, [["integer", 0, low]]);
  const input: FieldSpec[] = [{ name: "b", type: "integer" }];
  const add = { kind: "mutation", method: "POST", output: "rows_written" } as const;
  await world.put({ ...add, slug: "add", sql: "INSERT INTO plain VALUES (?)", input });
  assertEquals((await world.call("add", { body: { b: high } })).status, 200);
  await world.put({ slug: "find", sql: "SELECT typeof(b) FROM plain WHERE b - 0 = ?", input });
  assertEquals(JSON.parse((await world.call(`find?b=${high}`)).text).rows, [["integer"]]);
});

test("a whole number that a body can only round is told to come as digits", async () => {
  await using world = await publishedApp();
  await echo(world, "POST", { type: "integer" });
  for (const number of ["9007199254740992", "-9223372036854775808", "9223372036854776000", "1e300"]) {
    const { status, body } = await world.call("echo", { body: `{"v":${number}}` });
    assertEquals(
      [status, body.issues],
      [400, [{
        path: "v",
        message: "Send whole numbers beyond 2^53 as strings of digits, of at most 64 bits",
      }]],
      number,
    );
  }
});

test("unknown, repeated, prototype and $ names are refused, all at once", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.put({ slug: "post-item", method: "POST" });
  assertEquals(
    issuePaths(await world.call("item?id=1&$user_id=7&__proto__=1&constructor=x")),
    ["$user_id", "__proto__", "constructor"],
  );
  assertEquals(issuePaths(await world.call("item?id=1&id=2")), ["id"]);
  assertEquals(issuePaths(await world.call("item?id=1&%69d=2")), ["id"]);
  assertEquals(
    issuePaths(
      await world.call("post-item", { body: '{"id":1,"$user_id":7,"__proto__":{"id":2},"toString":1}' }),
    ),
    ["$user_id", "__proto__", "toString"],
  );
  for (const body of ['{"id":1,"id":2}', '{"id":1,"\\u0069d":2}', '{"a\\"":[":",{"b":1}],"id":1,"id" :1}']) {
    const answer = await world.call("post-item", { body });
    assertEquals([answer.status, answer.body.code], [400, "invalid_json"], body);
  }
  assertEquals(({} as { id?: number }).id, undefined);
});

test("a body that is no JSON object, is not UTF-8 or is too large is refused", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "post-item", method: "POST" });
  for (
    const body of [
      "[]",
      "null",
      "1",
      "{",
      "id=1",
      "{'id':1}",
      '{"id":01}',
      "\ufeff{}x",
      new Uint8Array([0x7b, 0xff]),
    ]
  ) {
    const answer = await world.call("post-item", { body });
    assertEquals([answer.status, answer.body.code], [400, "invalid_json"], String(body));
  }
  const gzip = new Blob(['{"sql":"SELECT 1"}']).stream().pipeThrough(new CompressionStream("gzip"));
  const compressed = {
    body: new Uint8Array(await new Response(gzip).arrayBuffer()),
    headers: { "content-encoding": "gzip" },
  };
  const { token, database } = world.acme;
  for (
    const answer of [
      await world.call("post-item", compressed),
      await world.app.request("POST", `${database.path}/query`, { ...compressed, token }),
    ]
  ) {
    assertEquals([answer.status, answer.body.code, answer.body.error], [
      ...[400, "invalid_json"],
      "Send the body without Content-Encoding; it is compressed",
    ]);
  }
  const mebibyte = 1024 * 1024;
  const fits = JSON.stringify({ id: 1 }).padEnd(mebibyte, " ");
  assertEquals((await world.call("post-item", { body: fits })).status, 200);
  assertEquals((await world.call("post-item", { body: `${fits} ` })).status, 413);
  assertEquals(issuePaths(await world.call("post-item", { body: "" })), ["id"]);
});

test("JSON ten thousand levels deep or of a thousand unknown names is an issue, not an end", async () => {
  await using world = await publishedApp();
  await echo(world, "POST", { type: "json" });
  const nested = (depth: number) => `{"v":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  assertEquals((await world.call("echo", { body: nested(1000) })).status, 200);
  for (const depth of [1002, 10_000, 300_000]) {
    const { status } = await world.call("echo", { body: nested(depth) });
    assertEquals(status, 400, String(depth));
  }
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`n${at}`, 1]));
  assertEquals(issuePaths(await world.call("echo", { body: many })), [""]);
  await echo(world, "GET", { type: "json" });
  assertEquals(issuePaths(await world.call(`echo?v=${"%5B".repeat(2000)}${"%5D".repeat(2000)}`)), ["v"]);
});

test("JSON with a number that no double holds is an issue, never a null in its place", async () => {
  await using world = await publishedApp();
  await echo(world, "POST", { type: "json" });
  for (const value of ["1e400", "-1e400", '{"price":[1e400]}']) {
    const answer = await world.call("echo", { body: `{"v":${value}}` });
    assertEquals([answer.status, issuePaths(answer)], [400, ["v"]], value);
  }
  const held = await world.call("echo", { body: '{"v":{"price":[1e308,null]}}' });
  assertEquals(JSON.parse(held.text).rows, [['{"price":[1e+308,null]}', "text"]]);
});

test("JSON with a number beyond 2^53 is a REAL there to whoever reads it by SQL, as it came", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "read",
    method: "POST",
    sql: "SELECT ?1, json_extract(?1, '$.n') = 1152921504606846976.0, typeof(json_extract(?1, '$.n'))",
    input: [{ name: "v", type: "json" }],
  });
  const read = await world.call("read", { body: '{"v":{"n":1.152921504606846976e18,"few":[1,2.5]}}' });
  assertEquals(JSON.parse(read.text).rows, [['{"n":1.152921504606847e+18,"few":[1,2.5]}', 1, "real"]]);
});

test("required, enum, pattern, range and length are checked and every issue is told", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "check",
    method: "POST",
    sql: "SELECT ?, ?, ?, ?, ?, ?",
    input: [
      { name: "a", type: "text", required: true },
      { name: "b", type: "text", enum: ["x", "y"] },
      { name: "c", type: "text", pattern: "^[a-z]+$" },
      { name: "d", type: "integer", min: 1, max: 10 },
      { name: "e", type: "number", min: 0.5 },
      { name: "f", type: "text", maxLength: 3 },
    ],
  });
  const good = { a: "", b: "x", c: "abc", d: 10, e: 0.5, f: "😀😀😀" };
  assertEquals(JSON.parse((await world.call("check", { body: good })).text).rows, [Object.values(good)]);
  const bad = { b: "z", c: "abc\n", d: 11, e: 0.4, f: "abcd" };
  assertEquals(issuePaths(await world.call("check", { body: bad })), ["a", "b", "c", "d", "e", "f"]);
});

test("the length of JSON is that of its text", async () => {
  await using world = await publishedApp();
  await echo(world, "POST", { type: "json", maxLength: 7 });
  for (const good of [[1, 2, 3], { a: 1 }, "12345", 1234567, null]) {
    assertEquals((await world.call("echo", { body: { v: good } })).status, 200, JSON.stringify(good));
  }
  for (const bad of [[1, 2, 34], { ab: 1 }, "123456", 12345678]) {
    assertEquals(issuePaths(await world.call("echo", { body: { v: bad } })), ["v"], JSON.stringify(bad));
  }
  await echo(world, "GET", { type: "json", maxLength: 7 });
  assertEquals((await world.call("echo?v=%5B1,2,3%5D")).status, 200);
  assertEquals(issuePaths(await world.call("echo?v=%5B1,2,34%5D")), ["v"]);
});

test("a question has at most 500 characters, whatever its specification says", async () => {
  await using world = await publishedApp();
  const question = { name: "question", type: "text", required: true } as const;
  for (const [maxLength, method] of [[undefined, "POST"], [9000, "POST"], [500, "GET"]] as const) {
    const input = [maxLength === undefined ? question : { ...question, maxLength }];
    const askConfig = { allowedTables: ["item"] };
    await world.put({ slug: "ask", kind: "ask", method, sql: "", output: "answer", input, askConfig });
    const ask = (text: string) =>
      method === "GET"
        ? world.call(`ask?question=${encodeURIComponent(text)}`)
        : world.call("ask", { body: { question: text } });
    const longest = await ask("How many items are there?".padEnd(500, " "));
    assertEquals(longest.status, 200, longest.text);
    assertEquals(JSON.parse(longest.text).rows, [[3]]);
    assertEquals(issuePaths(await ask("How many items are there?".padEnd(501, " "))), ["question"]);
    assert((await ask("😀".repeat(500))).status !== 400);
    assertEquals(issuePaths(await ask("😀".repeat(501))), ["question"]);
  }
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", sql: "", output: "answer" },
    ...{ input: [{ ...question, maxLength: 10 }], askConfig: { allowedTables: ["item"] } },
  });
  assertEquals(issuePaths(await world.call("ask", { body: { question: "How many items?" } })), ["question"]);
});

test("what is left out binds its default, else NULL; values bind in the order of the inputs", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "list",
    sql: "SELECT id FROM item WHERE price > coalesce(?, 0) ORDER BY id LIMIT ? OFFSET ?",
    input: [
      { name: "above", type: "number" },
      { name: "limit", type: "integer", default: 2, min: 1, max: 500 },
      { name: "offset", type: "integer", default: 0 },
    ],
  });
  const ids = async (query: string) => JSON.parse((await world.call(`list${query}`)).text).rows.flat();
  assertEquals(await ids(""), [1, 2]);
  assertEquals(await ids("?offset=1"), [2, 3]);
  assertEquals(await ids("?limit=1&above=2"), [2]);
});

test("no input of any type reaches the SQL as SQL", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "find",
    method: "POST",
    sql: "SELECT count(*) FROM item WHERE name = ? OR id = ? OR price = ?",
    input: [{ name: "n", type: "text" }, { name: "i", type: "json" }, { name: "p", type: "email" }],
  });
  const attack = "' OR 1=1; DROP TABLE item; --";
  const answer = await world.call("find", { body: { n: attack, i: { a: attack }, p: "'or'1'='1@a.b" } });
  assertEquals(JSON.parse(answer.text).rows, [[0]]);
  assertEquals((await world.acme.query("SELECT count(*) FROM item")).status, 200);
});

test("a body of one MiB is validated in little time", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "big",
    method: "POST",
    sql: "SELECT length(?)",
    input: [{ name: "v", type: "text", pattern: "^(a+)+$", maxLength: 1_000_000 }],
  });
  const answer = await world.call("big", { body: { v: "a".repeat(900_000) + "!" } });
  assertEquals(issuePaths(answer), ["v"]);
  assert((await world.call("big", { body: { v: "aaa" } })).status === 200);
});
