// What every answer looks like: envelope, request id, unknown addresses, wrong methods; and what never shows.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { errorTable } from "../../lib/core/error_table.ts";
import { securityTable } from "../../routes/security_table.ts";
import { execute, hello, openSocket, request } from "../hrana/hrana_socket.ts";
import { connectMcp } from "../mcp/mcp_client.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("what every answer looks like", run);

const SECRET = "hunter2-in-sql";

/** Answers of every kind: successes, and failures from each stage a request goes through. */
async function manyAnswers(app: StartedApp, tenant: TestNamespace): Promise<ApiAnswer[]> {
  const { token, database } = tenant;
  const post = (path: string, body: unknown) => app.request("POST", path, { token, body });
  const answers = [
    await app.request("GET", "/healthz"),
    await app.request("GET", "/readyz"),
    await app.request("GET", "/v1/me"),
    await app.request("GET", "/v1/me", { token: `${token}x` }),
    await app.request("GET", "/v1/me", { token }),
    await app.request("GET", `/nowhere/${SECRET}`, { token }),
    await app.request("PUT", `${database.path}/query`, { token }),
    await post("/v1/db/acme/nowhere/query", { sql: "SELECT 1" }),
    await post("/api/namespaces", { slug: "x" }),
    await post(`/api/namespaces/acme/databases`, { slug: "main" }),
    await post(`${database.path}/query`, `{"sql": "${SECRET}`),
    await post(`${database.path}/query`, { sql: 1, [SECRET]: 1 }),
  ];
  for (
    const sql of [
      "CREATE TABLE t (a TEXT UNIQUE CHECK (a <> 'no'), n INTEGER NOT NULL) STRICT",
      `INSERT INTO t VALUES ('${SECRET}', 1)`,
      `INSERT INTO t VALUES ('${SECRET}', 1)`,
      `INSERT INTO t VALUES ('${SECRET}', NULL)`,
      `INSERT INTO t VALUES ('x', '${SECRET}')`,
      `SELECT '${SECRET}' FROM`,
      `SELECT '${SECRET}`,
      `SELECT '${SECRET}' '${SECRET}' x y`,
      `SELECT nope('${SECRET}')`,
      `SELECT json_extract('{', '${SECRET}')`,
      `SELECT json('${SECRET}')`,
      `SELECT * FROM t WHERE a MATCH '${SECRET}'`,
      `SELECT 1 LIMIT '${SECRET}'`,
      `ATTACH '${SECRET}' AS x`,
      `SELECT '${SECRET}'; SELECT 2`,
      `-- ${SECRET}`,
    ]
  ) answers.push(await post(`${database.path}/query`, { sql }));
  return answers;
}

test("every answer has an X-Request-Id of its own", async () => {
  await using app = await startApp();
  const answers = await manyAnswers(app, await app.namespace());
  const ids = answers.map(({ headers }) => headers.get("x-request-id") ?? "");
  for (const id of ids) assertMatch(id, /^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  assertEquals(new Set(ids).size, ids.length);
});

test("every failure has the envelope, a code of the table with its status, and a message of the house's style", async () => {
  await using app = await startApp();
  const failures = (await manyAnswers(app, await app.namespace())).filter(({ status }) => status >= 400);
  assert(failures.length >= 20, `${failures.length}`);
  for (const { status, body, headers, text } of failures) {
    assertMatch(headers.get("content-type") ?? "", /^application\/json/);
    assertEquals(body.success, false);
    const row = Object.entries(errorTable).find(([code]) => code === body.code)?.[1];
    assertEquals(status, row?.status, text);
    assert((body.error ?? "").length > 0, text);
    assertEquals(/[.\n]$/.test(body.error ?? "."), false, text);
    for (const name of Object.keys(body)) {
      assert(["success", "error", "code", "errorDetail", "issues", "failedIndex"].includes(name), text);
    }
  }
});

test("no message, detail or log line holds a value of the statement, or a token", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const answers = await manyAnswers(app, tenant);
  for (const { text, status } of answers) {
    if (status < 400) continue;
    assertEquals(text.includes(SECRET) && !text.includes(`"path":"${SECRET}"`), false, text);
    assertEquals(text.includes(tenant.token), false);
  }
  for (const line of app.logLines) {
    for (const secret of [SECRET, tenant.token, app.operatorKey]) {
      assertEquals(line.includes(secret), false, line);
    }
  }
});

test("an unexpected failure is 500 with the request id and nothing of its cause, and is logged by that id", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  app.deps.kv.close = () => {};
  const broken = Object.assign(app.deps.tenants, {
    open: () => {
      throw new RangeError(`cause with ${tenant.token.slice(0, 5)} details`);
    },
  });
  assert(broken);
  const answer = await tenant.query("SELECT 1");
  Reflect.deleteProperty(app.deps.tenants, "open");
  Reflect.deleteProperty(app.deps.kv, "close");
  assertEquals([answer.status, answer.body.code], [500, "internal"]);
  assertEquals(answer.text.includes("cause"), false);
  const line = app.logLines.find((entry) => entry.includes("request_failed"));
  assert(line?.includes(answer.headers.get("x-request-id") ?? "no id"), line);
});

test("the log of an unexpected failure repeats nothing that a parser could not read", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  Object.assign(app.deps.tenants, { open: () => JSON.parse(`{ "value": ${SECRET} }`) });
  const answer = await tenant.query("SELECT 1");
  Reflect.deleteProperty(app.deps.tenants, "open");
  assertEquals([answer.status, answer.body.code], [500, "internal"]);
  const line = app.logLines.find((entry) => entry.includes("request_failed")) ?? "";
  assertEquals([line.includes("SyntaxError"), line.includes(SECRET.slice(0, 5))], [true, false], line);
});

test("agents by MCP and sockets of libSQL are told nothing of an unexpected failure, and the log is, without what a parser could not read", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  Object.assign(app.deps.tenants, { open: () => JSON.parse(`{ "value": ${SECRET} }`) });
  await using agent = await connectMcp(app.app, { token: tenant.token });
  const told = [(await agent.call("query", { sql: "SELECT 1" })).text];
  const client = await openSocket(`ws://127.0.0.1:${server.addr.port}/hrana/acme/main/`);
  client.send(hello(tenant.token));
  client.send(request(1, { type: "open_stream", stream_id: 1 }));
  client.send(execute(2, "SELECT 1"));
  for (let at = 0; at < 3; at++) told.push(JSON.stringify(await client.next()));
  client.socket.close();
  await client.closed;
  await server.shutdown();
  Reflect.deleteProperty(app.deps.tenants, "open");
  assertEquals(
    told.filter((text) => text.includes("internal") || text.includes("INTERNAL")).length,
    2,
    told.join(),
  );
  const lines = app.logLines.filter((entry) => entry.includes("request_failed"));
  assertEquals(lines.map((line) => line.includes("SyntaxError")), [true, true]);
  assertEquals([...told, ...lines].filter((text) => text.includes(SECRET.slice(0, 5))), []);
});

test("an unknown address is 404 not_found, above /v1 and /api without a bearer", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  for (const path of ["/", "/nowhere", "/v4/me", "/healthz/x", "//v1/me"]) {
    const answer = await app.request("GET", path);
    assertEquals([answer.status, answer.body.code], [404, "not_found"], path);
  }
  for (const path of ["/v1", "/v1/nowhere", "/api", "/api/x", "/v1/db/acme", "/v1/db/acme/main"]) {
    const answer = await app.request("GET", path, { token });
    assertEquals([answer.status, answer.body.code], [404, "not_found"], path);
  }
  const answer = await app.request("GET", `${database.path}/nowhere`, { token });
  assertEquals([answer.status, answer.body.code], [404, "not_found"]);
});

test("the bare address leads a browser to the documentation, and nobody else", async () => {
  await using app = await startApp();
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const asked: readonly [accept: string, status: number, location: string | null][] = [
    [browser, 302, "/docs"],
    ["application/json, text/html;q=0.5", 404, null],
    ["*/*", 404, null],
    ["text/html;q=0", 404, null],
  ];
  for (const [accept, ...expected] of asked) {
    const { status, headers } = await app.request("GET", "/", { headers: { accept } });
    assertEquals([status, headers.get("location")], expected, accept);
    assertEquals(headers.get("vary"), "Accept", accept);
  }
  const { status, headers } = await app.request("POST", "/", { headers: { accept: browser } });
  assertEquals([status, headers.get("allow")], [405, "GET, HEAD"]);
});

test("a query parameter that a GET does not know is refused by name", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const reads = securityTable.filter(({ method, access }) => method === "GET" && access !== "none");
  assert(reads.length > 20);
  for (const { path, access } of reads) {
    const filled = path.replace(":slug/", "acme/").replace(/:slug$/, "acme").replace(":ns", "acme")
      .replace(/:db\w*/, "main").replace(/:\w+/g, "x1");
    const bearer = access === "operator" || access === "scraper" ? app.operatorKey : token;
    const { status, body } = await app.request("GET", `${filled}?q=1&nonsense=1`, { token: bearer });
    assertEquals([status, body.code], [400, "validation_failed"], path);
    assert(body.issues?.some((issue) => issue.path === "nonsense"), path);
  }
});

test("a change that changes nothing is refused, whatever it is of", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  const rules = "/api/namespaces/acme/databases/main/rules";
  const rule = await app.request("POST", rules, { token, body: { tableGlob: "*", effect: "deny" } });
  const { id } = rule.body.data as { id: string };
  for (const path of ["/api/namespaces/acme", "/api/namespaces/acme/databases/main", `${rules}/${id}`]) {
    const { status, body } = await app.request("PATCH", path, { token, body: {} });
    assertEquals([status, body.code, body.issues?.length], [400, "validation_failed", 1], path);
  }
});

test("a wrong method is 405 with Allow", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  const calls = [
    ["GET", `${database.path}/query`, "POST"],
    ["DELETE", `${database.path}/batch`, "POST"],
    ["POST", `${database.path}/tables`, "GET, HEAD"],
    ["PUT", "/api/namespaces/acme", "GET, PATCH, DELETE, HEAD"],
    ["POST", "/v1/me", "GET, HEAD"],
  ] as const;
  for (const [method, path, allow] of calls) {
    const answer = await app.request(method, path, { token });
    assertEquals([answer.status, answer.body.code], [405, "method_not_allowed"], path);
    assertEquals(answer.headers.get("allow"), allow);
  }
  const health = await app.request("POST", "/healthz");
  assertEquals([health.status, health.headers.get("allow")], [405, "GET, HEAD"]);
});

test("a GET answer is not cached and not sniffed", async () => {
  await using app = await startApp();
  const { token, database } = await app.namespace();
  for (const path of ["/v1/me", `${database.path}/export?format=sqlite`]) {
    const { status, headers } = await app.request("GET", path, { token });
    assertEquals(status, 200, path);
    assertEquals(headers.get("cache-control"), "no-store", path);
    assertEquals(headers.get("x-content-type-options"), "nosniff", path);
  }
});

test("healthz and readyz answer without a bearer, readyz 503 when a part is gone", async () => {
  await using app = await startApp();
  for (const path of ["/healthz", "/readyz"]) assertEquals((await app.request("GET", path)).status, 200);
  Object.assign(app.deps.tenants, { ready: () => Promise.reject(new Error("gone")) });
  const answer = await app.request("GET", "/readyz");
  assertEquals([answer.status, answer.body.code], [503, "not_ready"]);
  assertMatch(answer.headers.get("retry-after") ?? "", /^\d+$/);
  assertEquals((await app.request("GET", "/healthz")).status, 200);
});

test("flood control answers 429 with Retry-After before authentication, but never for healthz", async () => {
  await using app = await startApp({ settings: { FLOOD_PER_10S: "3" } });
  const answers = [];
  for (let n = 0; n < 6; n++) answers.push(await app.request("GET", "/v1/me"));
  assertEquals(answers[0]?.status, 401);
  const last = answers.at(-1);
  assertEquals([last?.status, last?.body.code], [429, "too_many_requests"]);
  assertMatch(last?.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assertEquals((await app.request("GET", "/healthz")).status, 200);
  // Whoever runs the service learns which variable it was: it may be a server of their own that is refused.
  const lines = app.logLines.filter((line) => line.includes("address_refused"));
  assertEquals([lines.length, lines.every((line) => line.includes("FLOOD_PER_10S"))], [3, true]);
});
