// The `/p` pipeline: what is found, in which order the steps refuse, and what answers look like.
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { rowsOf } from "../testing/test_namespace.ts";
import { itemById, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("the /p pipeline", run);

test("a published query answers the bare shape and nothing else", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  const { status, text, headers } = await world.call("item?id=2");
  assertEquals([status, text], [200, '{"columns":["id","name"],"rows":[[2,"two"]]}']);
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assertStringIncludes(headers.get("content-security-policy") ?? "", "default-src 'none'");
  assertEquals(headers.get("access-control-allow-origin"), null);
  assertMatch(headers.get("x-request-id") ?? "", /^req_/);
});

test("first_row answers an object or null, rows_written a number", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "item",
    output: "first_row",
    sql: 'SELECT id, name AS "__proto__" FROM item WHERE id = ?',
  });
  assertEquals((await world.call("item?id=1")).text, '{"row":{"id":1,"__proto__":"one"}}');
  assertEquals((await world.call("item?id=9")).text, '{"row":null}');
  await world.put({
    slug: "rename",
    kind: "mutation",
    method: "POST",
    output: "rows_written",
    sql: "UPDATE item SET name = ? WHERE id > ?",
    input: [{ name: "name", type: "text" }, { name: "above", type: "integer", required: true }],
  });
  const renamed = await world.call("rename", { body: { above: 1 } });
  assertEquals(renamed.text, '{"rowsWritten":2}');
  const names = [
    "cache-control",
    "x-content-type-options",
    "referrer-policy",
    "cross-origin-resource-policy",
  ];
  assertEquals(names.map((name) => renamed.headers.get(name)), [
    ...["no-store", "nosniff", "no-referrer", "same-origin"],
  ]);
  assertEquals(rowsOf(await world.acme.query("SELECT name FROM item ORDER BY id")), [["one"], [null], [
    null,
  ]]);
});

test("unknown namespaces, databases, branches, slugs and drafts are the same 404", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.put({ slug: "hidden" }, "draft");
  const paths = ["no/main/item", "acme/no/item", "acme/main/no", "acme/main/hidden", "acme/main@no/item"];
  for (
    const path of [...paths, "acme/main/%00", "acme/main@/item", "acme/main/ITEM", "acme/main/item%0d%0ax:1"]
  ) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const answer = await world.app.request(method, `/p/${path}`);
      assertEquals([answer.status, answer.body.code], [404, "endpoint_not_found"], `${method} ${path}`);
    }
  }
  assertEquals((await world.app.request("GET", "/p/acme/main@main/item?id=1")).status, 200);
});

test("a paused endpoint answers 503 before it looks at method, rate, captcha or input", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", captcha: true, rateLimit: { perMin: 1 } }, "paused");
  for (const method of ["GET", "POST", "DELETE"]) {
    for (let i = 0; i < 2; i++) {
      const answer = await world.call("item?nonsense", { method });
      assertEquals([answer.status, answer.body.code], [503, "endpoint_paused"]);
      assertEquals(answer.headers.get("ratelimit"), null);
    }
  }
  await world.put({ slug: "item" }, "published");
  assertEquals((await world.call("item?id=1")).status, 200);
});

test("another method than the specification's is 405 and says which; HEAD is GET without a body", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.put({ slug: "post-item", method: "POST" });
  for (
    const [slug, method, allow] of [
      ["item", "POST", "GET, HEAD, OPTIONS"],
      ["item", "DELETE", "GET, HEAD, OPTIONS"],
      ["post-item", "GET", "POST, OPTIONS"],
      ["post-item", "HEAD", "POST, OPTIONS"],
    ] as const
  ) {
    const response = await world.app.app.request(`/p/acme/main/${slug}?id=1`, { method });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("allow")], [405, allow], `${method} ${slug}`);
  }
  const head = await world.app.app.request("/p/acme/main/item?id=1", { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
  assertMatch(head.headers.get("etag") ?? "", /^W\/"/);
});

test("a pause or a new specification counts at once in the process that made it", async () => {
  await using world = await publishedApp();
  for (let round = 0; round < 20; round++) {
    await world.put({ slug: "item" }, "published");
    assertEquals((await world.call("item?id=1")).status, 200);
    const [answer] = await Promise.all([world.call("item?id=1"), world.put({ slug: "item" }, "paused")]);
    assert([200, 503].includes(answer.status), answer.text);
    assertEquals((await world.call("item?id=1")).status, 503);
  }
});

test("GET carries a weak ETag, honours If-None-Match, and caches what its owner allows", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", cacheSec: 60, cors: ["https://shop.example"] });
  await world.put({ slug: "plain" });
  await world.put({ slug: "own", auth: "session", cacheSec: 60 });
  const first = await world.call("item?id=1");
  const etag = first.headers.get("etag") ?? "";
  assertMatch(etag, /^W\/"[\w-]+"$/);
  assertEquals(first.headers.get("cache-control"), "public, max-age=60");
  for (const value of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
    const again = await world.call("item?id=1", { headers: { "if-none-match": value } });
    assertEquals([again.status, again.text, again.headers.get("etag")], [304, "", etag], value);
    assertEquals(again.headers.get("vary"), "Origin, X-Integers");
  }
  const other = await world.call("item?id=2", { headers: { "if-none-match": etag } });
  assertEquals(other.status, 200);
  assertNotEquals(other.headers.get("etag"), etag);
  assertEquals((await world.call("plain?id=1")).headers.get("cache-control"), "no-cache");
  const body = { namespaceSlug: "acme", databaseSlug: "main", userId: "1" };
  const minted = await world.app.request("POST", "/v1/sessions", { token: world.acme.token, body });
  const own = await world.call("own?id=1", { token: JSON.parse(minted.text).data.token });
  assertEquals([own.status, own.headers.get("cache-control")], [200, "no-store"], own.text);
});

test("CORS: listed origins word for word, never null or a likeness, and nothing without a list", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", cors: ["https://shop.example", "capacitor://localhost"] });
  await world.put({ slug: "closed" });
  const app = await world.call("item?id=1", { headers: { origin: "capacitor://localhost" } });
  assertEquals(app.headers.get("access-control-allow-origin"), "capacitor://localhost");
  const listed = { headers: { origin: "https://shop.example" } };
  const good = await world.call("item?id=1", listed);
  assertEquals(good.headers.get("access-control-allow-origin"), "https://shop.example");
  assertEquals(good.headers.get("access-control-allow-credentials"), null);
  assertStringIncludes(good.headers.get("access-control-expose-headers") ?? "", "RateLimit");
  const failed = await world.call("item", listed);
  assertEquals(failed.status, 400);
  assertEquals(failed.headers.get("access-control-allow-origin"), "https://shop.example");
  for (
    const origin of [
      "null",
      "https://shop.example.evil",
      "http://shop.example",
      "https://SHOP.example",
      "*",
      "",
    ]
  ) {
    const { headers } = await world.call("item?id=1", { headers: { origin } });
    assertEquals([headers.get("access-control-allow-origin"), headers.get("vary")], [null, "Origin"], origin);
  }
  const closed = await world.call("closed?id=1", listed);
  assertEquals([closed.headers.get("access-control-allow-origin"), closed.headers.get("vary")], [null, null]);
});

test("CORS: a page may read that a call has failed as nobody expected, and the log tells of it once", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", cors: ["https://shop.example"], rateLimit: { perMin: 5 } });
  const { rateCounters } = world.app.deps.published;
  Object.assign(rateCounters, { take: () => Promise.reject(new RangeError("unexpected")) });
  const { status, headers, body } = await world.call("item?id=1", {
    headers: { origin: "https://shop.example" },
  });
  Reflect.deleteProperty(rateCounters, "take");
  assertEquals([status, body.code], [500, "internal"]);
  assertEquals(headers.get("access-control-allow-origin"), "https://shop.example");
  const lines = world.app.logLines.filter((line) => line.includes("request_failed"));
  assertEquals([lines.length, lines[0]?.includes("RangeError")], [1, true], lines.join());
});

test("OPTIONS is answered with CORS, for paused endpoints too, and runs nothing", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", cors: ["https://shop.example"], rateLimit: { perMin: 1 } }, "paused");
  const asked = { origin: "https://shop.example", "access-control-request-method": "GET" };
  for (let i = 0; i < 3; i++) {
    const { status, headers, text } = await world.call("item", { method: "OPTIONS", headers: asked });
    assertEquals([status, text], [204, ""]);
    assertEquals(headers.get("access-control-allow-origin"), "https://shop.example");
    assertEquals(headers.get("access-control-allow-methods"), "GET");
    assertStringIncludes(headers.get("access-control-allow-headers") ?? "", "X-Captcha-Token");
    assertEquals([headers.get("access-control-max-age"), headers.get("vary")], [
      ...["600", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"],
    ]);
  }
  const foreign = await world.call("item", {
    method: "OPTIONS",
    headers: { ...asked, origin: "https://evil.example" },
  });
  assertEquals([foreign.status, foreign.headers.get("access-control-allow-origin")], [204, null]);
  await world.put({ slug: "post-item", method: "POST" });
  for (const [slug, headers] of [["item", asked], ["item", {}], ["post-item", {}]] as const) {
    const answer = await world.call(slug, { method: "OPTIONS", headers });
    const allow = slug === "item" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
    assertEquals([answer.status, answer.headers.get("allow")], [204, allow], slug);
  }
});

test("without money nothing runs: 402, and a repetition too", async () => {
  await using world = await publishedApp({ settings: { WELCOME_CREDIT_USD: "0.00001" } });
  await world.put({ slug: "item" });
  const answers = [];
  for (let i = 0; i < 40; i++) answers.push(await world.call("item?id=1"));
  const statuses = answers.map(({ status }) => status);
  const paid = statuses.indexOf(402);
  assert(paid > 0, statuses.join());
  assertEquals(statuses, [...Array(paid).fill(200), ...Array(40 - paid).fill(402)]);
  // Whoever has the answer already is not told either that it is still the same.
  const etag = answers[0]?.headers.get("etag") ?? "";
  const again = await world.call("item?id=1", { headers: { "if-none-match": etag } });
  assertEquals([again.status, again.body.code], [402, answers.at(-1)?.body.code]);
  await world.app.request("POST", "/api/namespaces/acme/credits", {
    token: world.app.operatorKey,
    body: { amountUsd: 1, reference: "test" },
  });
  const log = "SELECT status, count(*), sum(rows_read) FROM _service_meta_query_log " +
    "WHERE operation = 'endpoint' GROUP BY status ORDER BY status";
  assertEquals(rowsOf(await world.acme.query(log)), [["ok", paid, paid]]);
  const calls =
    "SELECT http_status, sum(count) FROM _service_meta_endpoint_call GROUP BY http_status ORDER BY 1";
  assertEquals(rowsOf(await world.acme.query(calls)), [[200, paid], [402, 41 - paid]]);
});

test("a rule that denies or holds a write stops it, and tells strangers nothing of the rule", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "remove",
    kind: "mutation",
    method: "POST",
    output: "rows_written",
    sql: "DELETE FROM item WHERE id = ?",
  });
  for (const effect of ["require_approval", "deny"]) {
    const made = await world.app.request("POST", "/api/namespaces/acme/databases/main/rules", {
      token: world.acme.token,
      body: { tableGlob: "item", effect, note: "secret note" },
    });
    assertEquals(made.status, 201, made.text);
    const answer = await world.call("remove", { body: { id: 1 } });
    assertEquals([answer.status, answer.body.code], [403, "rule_denied"], answer.text);
    assert(!/secret note|appr_|hits/.test(answer.text), answer.text);
  }
  const held = await world.app.request("GET", "/api/namespaces/acme/approvals", { token: world.acme.token });
  assertEquals(held.body.data, []);
  assertEquals(rowsOf(await world.acme.query("SELECT count(*) FROM item")), [[3]]);
});

test("a statement that no longer fits the schema does not tell strangers about the schema", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.acme.query("ALTER TABLE item RENAME TO items_renamed");
  const answer = await world.call("item?id=1");
  assertEquals([answer.status, answer.body.code], [400, "sql_error"]);
  assertEquals(answer.body.errorDetail, undefined);
  assert(!answer.text.includes("item"), answer.text);
});

test("a constraint of the data is told: 400 with errorDetail", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "add",
    kind: "mutation",
    method: "POST",
    output: "rows_written",
    sql: "INSERT INTO item (name) VALUES (?)",
    input: [{ name: "name", type: "text", required: true }],
  });
  const answer = await world.call("add", { body: { name: "one" } });
  assertEquals([answer.status, answer.body.code], [400, "sql_error"]);
  assertEquals(answer.body.errorDetail?.kind, "unique_violation");
});

test("every call leaves its row, refused ones too, without the address", async () => {
  await using world = await publishedApp({ settings: { TRUST_PROXY: "1" } });
  await world.put({ slug: "item", rateLimit: { perMin: 3 } });
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  await world.call("item?id=1", from("192.0.2.1"));
  await world.call("item?id=x", from("192.0.2.1"));
  await world.call("item?id=1", { ...from("192.0.2.2"), method: "POST" });
  for (let i = 0; i < 2; i++) await world.call("item?id=1", from("192.0.2.1"));
  const rows = rowsOf(
    await world.acme.query(
      "SELECT endpoint, status, http_status, rows_read, ip_hash FROM _service_meta_endpoint_call ORDER BY id",
    ),
  );
  assertEquals(rows.map((row) => row.slice(0, 4)), [
    ["item", "ok", 200, 1],
    ["item", "error", 400, 0],
    ["item", "error", 405, 0],
    ["item", "ok", 200, 1],
    ["item", "error", 429, 0],
  ]);
  const hashes = rows.map((row) => row[4]);
  assertMatch(String(hashes[0]), /^[0-9a-f]{32}$/);
  assertEquals(new Set(hashes).size, 2);
  assertEquals([hashes[1], hashes[3], hashes[4]], [hashes[0], hashes[0], hashes[0]]);
  const log = rowsOf(
    await world.acme.query(
      "SELECT token_id, operation FROM _service_meta_query_log WHERE operation = 'endpoint'",
    ),
  );
  assertEquals(log, [["endpoint:item", "endpoint"], ["endpoint:item", "endpoint"]]);
});

test("a branch serves its trunk's endpoints with its own rows", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item", sql: itemById.sql });
  const claim = await world.app.request("POST", "/v1/db/acme/main/claim_branch", {
    token: world.acme.token,
    body: { purpose: "trial", ref: "trial", ttlSec: 600 },
  });
  assert(claim.status < 300, claim.text);
  await world.acme.query("UPDATE item SET name = 'trunk' WHERE id = 1");
  const [trunk, branch] = await Promise.all([
    world.call("item?id=1"),
    world.app.request("GET", "/p/acme/main%40trial/item?id=1"),
  ]);
  assertEquals([trunk.text.includes("trunk"), branch.text.includes('"one"')], [true, true], branch.text);
});

test("ask answers with the SQL that ran, its rows and a sentence; what it does not understand is 422", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "ask",
    kind: "ask",
    method: "POST",
    sql: "",
    output: "answer",
    input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
    askConfig: { allowedTables: ["item"] },
  });
  const answer = await world.call("ask", { body: { question: "How many items are there?" } });
  assertEquals(answer.status, 200, answer.text);
  const body = JSON.parse(answer.text);
  assertEquals(Object.keys(body), ["sql", "columns", "rows", "explanation"]);
  assertEquals(body.rows, [[3]]);
  assertEquals((await world.call("ask", { body: { question: "Colourless green ideas" } })).status, 422);
});
