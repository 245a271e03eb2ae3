// Attacks on the door that is open to everybody. The table of routes/docs/security.md names them all, with the tests of each.
import { assert, assertEquals } from "@std/assert";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { issuePaths, type PublishedApp, publishedApp } from "../published/publish.ts";
import { rowsOf } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("attacks on the door that is open to everybody", run);

const ENDPOINTS = "/api/namespaces/acme/databases/main/endpoints";

const types = ["text", "email", "url", "integer", "number", "boolean", "json"] as const;

/** Each ends a literal, a comment, a list or a statement somewhere, or is a placeholder itself. */
const injections = [
  "' OR '1'='1",
  '" OR ""="',
  "1; DROP TABLE item",
  "1 OR 1=1",
  "1) OR (1=1",
  "') UNION SELECT name, 1 FROM sqlite_schema --",
  "x'/**/OR/**/1=1--",
  "?1",
  ":id",
  "0x1 OR 1",
  "CASE WHEN 1 THEN 1 END",
  "\\' OR 1=1 --",
  "' OR 1=1@shop.example",
  "https://shop.example/' OR '1'='1",
  "%' OR name LIKE '%",
  "＇ OR ＇1＇=＇1",
];

/** What the attacker is after: every row, or a change. */
async function untouched({ acme }: PublishedApp): Promise<void> {
  const names = rowsOf(
    await acme.query("SELECT group_concat(name) FROM (SELECT name FROM item ORDER BY id)"),
  );
  assertEquals(names, [["one,two,three"]]);
  const tables = await acme.query(
    "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE '\\_%' ESCAPE '\\' AND type = 'table'",
  );
  assertEquals(rowsOf(tables), [[1]], tables.text);
}

test("no value of any input type is read as SQL, in a query string or in a body", async () => {
  await using world = await publishedApp();
  let bound = 0;
  for (const type of types) {
    const field: FieldSpec = { name: "v", type, required: true };
    const sql =
      "SELECT count(*), typeof(?1) FROM item WHERE name = ?1 OR name LIKE ?1 ESCAPE '\\' OR id = ?1";
    await world.put({ slug: "by-query", sql, input: [field] });
    await world.put({ slug: "by-body", method: "POST", sql, input: [field] });
    for (const value of injections) {
      for (
        const answer of [
          await world.call(
            `by-query?v=${encodeURIComponent(type === "json" ? JSON.stringify(value) : value)}`,
          ),
          await world.call("by-body", { body: { v: value } }),
        ]
      ) {
        if (answer.status === 400) assertEquals(issuePaths(answer), ["v"], `${type} ${value}`);
        else {
          // Every row has a name, so a pattern that matches all of them would count three.
          assertEquals(JSON.parse(answer.text).rows, [[0, "text"]], `${type} ${value}`);
          bound++;
        }
      }
    }
  }
  assert(bound > 2 * injections.length, `only ${bound} values were bound at all`);
  await untouched(world);
});

test("no value reaches an INSERT, a LIMIT or an ORDER BY as SQL", async () => {
  await using world = await publishedApp();
  await world.put({
    ...{ slug: "add", kind: "mutation", method: "POST", output: "rows" },
    sql: "INSERT INTO item (name) VALUES (?) RETURNING name",
    input: [{ name: "v", type: "text", required: true }],
  });
  await world.put({
    slug: "sorted",
    sql: "SELECT id FROM item WHERE id < 4 ORDER BY ? LIMIT ?",
    input: [{ name: "by", type: "text" }, { name: "limit", type: "integer", max: 2 }],
  });
  for (const value of injections) {
    const added = await world.call("add", { body: { v: value } });
    assertEquals(JSON.parse(added.text).rows, [[value]]);
    const sorted = await world.call(`sorted?limit=2&by=${encodeURIComponent(value)}`);
    assertEquals(JSON.parse(sorted.text).rows, [[1], [2]]);
    const query = encodeURIComponent(value);
    assertEquals(issuePaths(await world.call(`sorted?limit=${query}`)), ["limit"], value);
  }
  await world.acme.query("DELETE FROM item WHERE id > 3");
  await untouched(world);
});

test("names that other servers read as lists or objects are unknown names", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "item" });
  await world.put({ slug: "post-item", method: "POST" });
  for (const name of ["id[]", "id[0]", "id[$ne]", "id.x", "ID", "id ", " id", "id\u200b", "i\u0064\u0301"]) {
    const query = await world.call(`item?id=1&${encodeURIComponent(name)}=2`);
    assertEquals(issuePaths(query), [name]);
    assertEquals(issuePaths(await world.call("post-item", { body: { id: 1, [name]: 2 } })), [name]);
  }
  for (const value of [[1], { $ne: 0 }, { length: 1 }, { toString: 1 }, "1", true, 1.5]) {
    assertEquals(issuePaths(await world.call("post-item", { body: { id: value } })), ["id"]);
  }
  assertEquals(issuePaths(await world.call("item?id=1,2")), ["id"]);
  assertEquals(issuePaths(await world.call("item?id=1;id=2")), ["id"]);
});

test("text that is not the shortest UTF-8 is refused wherever it stands", async () => {
  await using world = await publishedApp();
  await world.put({ slug: "say", method: "POST", sql: "SELECT ?", input: [{ name: "v", type: "text" }] });
  await world.put({ slug: "say-it", sql: "SELECT ?", input: [{ name: "v", type: "text" }] });
  // A slash, a quote and NUL in two to four bytes, half a surrogate pair, and what lies beyond Unicode.
  const wrong = ["c0af", "c0a7", "c080", "e080af", "f08080af", "eda080", "f4908080", "80", "fe"];
  for (const hex of wrong) {
    const bytes = (hex.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
    const body = Uint8Array.from([
      ...new TextEncoder().encode('{"v":"'),
      ...bytes,
      ...new TextEncoder().encode('"}'),
    ]);
    const posted = await world.call("say", { body });
    assertEquals([posted.status, posted.body.code], [400, "invalid_json"], hex);
    const escaped = bytes.map((byte) => `%${byte.toString(16)}`).join("");
    assertEquals(issuePaths(await world.call(`say-it?v=${escaped}`)), ["v"], hex);
    const slug = await world.app.request("GET", `/p/acme/main/say-it${escaped}`);
    assert(slug.status === 404 || slug.status === 400, hex);
  }
});

test("a slug with a line break makes no header and no endpoint", async () => {
  await using world = await publishedApp();
  const { app, acme } = world;
  const broken = [
    "item%0d%0aX-Broken:%201",
    "item%0aX-Broken:1",
    "item%0d",
    "item%00",
    "item%20",
    "item%E5%98%8AX-Broken:1",
  ];
  for (const slug of broken) {
    const raw = decodeURIComponent(slug);
    for (
      const [method, path, body] of [
        ["GET", `/p/acme/main/${slug}`],
        ["OPTIONS", `/p/acme/main/${slug}`],
        ["GET", `/p/${slug}/main/item`],
        ["GET", `/p/acme/${slug}/item`],
        ["GET", `/p/acme/main/${slug}/captcha`],
        ["GET", `/p/acme/${slug}/openapi.json`],
        ["GET", `${ENDPOINTS}/${slug}`],
        ["POST", `${ENDPOINTS}/${slug}/publish`],
        ["POST", ENDPOINTS, { ...readItem, slug: raw }],
        ["PUT", `${ENDPOINTS}/${slug}`, { ...readItem, slug: raw }],
      ] as const
    ) {
      const answer = await app.request(method, path, { token: acme.token, ...(body ? { body } : {}) });
      assert([400, 404].includes(answer.status), `${method} ${path}: ${answer.status}`);
      for (const [name, value] of answer.headers) {
        assert(!/broken/i.test(name + value), `${method} ${path}: ${name}`);
      }
    }
  }
});

const readItem = {
  ...{ slug: "item", name: "Item", kind: "query", method: "GET", output: "rows" },
  ...{ sql: "SELECT id, name FROM item WHERE id = ?", input: [{ name: "id", type: "integer" }] },
};

test("keys that a session's own header brings or names are not used", async () => {
  const asked: string[] = [];
  await using world = await publishedApp({
    fetch: (input) => {
      asked.push(String(input));
      return Promise.reject(new TypeError("nothing may be fetched"));
    },
  });
  const { acme } = world;
  await world.put({
    slug: "mine",
    auth: "session",
    sql: "SELECT ?",
    input: [{ name: "$user_id", type: "text" }],
  });
  const sessionBody = { namespaceSlug: "acme", databaseSlug: "main", userId: "1" };
  const minted = await world.app.request("POST", "/v1/sessions", { token: acme.token, body: sessionBody });
  assertEquals((await world.call("mine", { token: JSON.parse(minted.text).data.token })).status, 200);
  const nowSec = Math.floor(Date.now() / 1000);
  const claims = { sub: "1", aud: acme.database.id, iat: nowSec, exp: nowSec + 600 };
  const sign = (header: object, key: Uint8Array | CryptoKey) =>
    new SignJWT(claims).setProtectedHeader({ alg: "HS256", ...header }).sign(key);
  const text = (value: string) => new TextEncoder().encode(value);
  const own = new Uint8Array(32).fill(7);
  const pair = await generateKeyPair("ES256");
  const hostile = [
    await sign({ alg: "ES256", jwk: await exportJWK(pair.publicKey) }, pair.privateKey),
    await sign({ jwk: { kty: "oct", k: own.toBase64() } }, own),
    await sign({ jku: "https://evil.example/keys" }, own),
    await sign({ x5u: "https://evil.example/cert" }, own),
    await sign({ kid: acme.database.id }, own),
    await sign({ kid: "../../../../dev/null" }, new Uint8Array(1)),
    await sign({}, text(acme.database.id)),
    await sign({}, text(acme.token)),
  ];
  for (const token of hostile) {
    const answer = await world.call("mine", { token });
    assertEquals([answer.status, answer.body.code], [401, "session_invalid"], token.slice(0, 80));
  }
  assertEquals(asked, []);
});

test("publishing and pausing at once leave one state, the one that the newest revision tells", async () => {
  await using world = await publishedApp();
  const { app, acme } = world;
  await world.put({ slug: "item" });
  const send = (method: string, rest: string) =>
    app.request(method, `${ENDPOINTS}/item${rest}`, { token: acme.token });
  for (let round = 0; round < 10; round++) {
    const moves = Array.from({ length: 8 }, (_, i) => send("POST", i % 2 === 0 ? "/pause" : "/publish"));
    const calls = Array.from({ length: 8 }, () => world.call("item?id=1"));
    for (const { status } of await Promise.all(moves)) {
      assert(status === 200 || status === 409, String(status));
    }
    for (const { status } of await Promise.all(calls)) {
      assert(status === 200 || status === 503, String(status));
    }
    const { data: record } = JSON.parse((await send("GET", "")).text);
    const { data: [newest, ...older] } = JSON.parse((await send("GET", "/revisions")).text);
    assertEquals([newest.status, newest.revision], [record.status, record.revision]);
    // A move to the state that it has leaves no revision, so neighbours differ, and no number is given twice.
    const statuses = [newest, ...older].filter(({ change }) => change === "status");
    for (const [at, { status, revision }] of statuses.entries()) {
      assert(statuses[at + 1]?.status !== status, `revision ${revision}`);
      assert((statuses[at + 1]?.revision ?? 0) < revision, `revision ${revision}`);
    }
    assertEquals((await world.call("item?id=1")).status, record.status === "published" ? 200 : 503);
  }
});

test("an address in an input is never called", async () => {
  const asked: string[] = [];
  await using world = await publishedApp({
    fetch: (input) => {
      asked.push(String(input));
      return Promise.reject(new TypeError("nothing may be fetched"));
    },
  });
  await world.put({ slug: "link", method: "POST", sql: "SELECT ?", input: [{ name: "v", type: "url" }] });
  const addresses = [
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:1/",
    "http://[::1]/",
    "http://localhost/p/acme/main/link",
    "https://user:secret@evil.example/",
  ];
  for (const v of addresses) {
    const answer = await world.call("link", { body: { v } });
    assert(answer.status === 400 || JSON.parse(answer.text).rows[0][0] === v, answer.text);
  }
  for (
    const v of ["file:///etc/passwd", "gopher://127.0.0.1/", "http://", "//evil.example", "http:evil.example"]
  ) {
    assertEquals(issuePaths(await world.call("link", { body: { v } })), ["v"], v);
  }
  assertEquals(asked, []);
});
