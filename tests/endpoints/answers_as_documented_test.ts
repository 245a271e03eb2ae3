// Whatever is sent to a documented operation, the answer's status is documented and its body fits the schema.
import { assert, assertEquals } from "@std/assert";
import { publishedApp } from "../published/publish.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import {
  apiOperations,
  assertFits,
  jsonOperations,
  type Operation,
  operationsOf,
  requestOf,
} from "./documented_requests.ts";

const { run, test } = oneStore();
Deno.test("answers as documented", run);

/** Values of every JSON type: each is wrong somewhere. */
const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  "x",
  "\u0000",
  "ü".repeat(300),
  [],
  [1],
  {},
  { a: 1 },
];
const bodies: readonly unknown[] = ["", "{", "[", "null", "[]", "1", '"x"', "{}", '{"a":1,"a":2}'];
const headers: readonly Readonly<Record<string, string>>[] = [
  { "idempotency-key": "" },
  { "plan-key": "k" },
  { "plan-key": "k", "plan-step": "s" },
  { "x-integers": "number" },
  { "x-integers": "string" },
  { "x-max-affected": "-1" },
  { "x-dry-run": "1" },
  { "x-service-no-snapshot": "yes" },
];

/** Requests that are made of the documented one: it, and each part of it spoilt in turn. */
function* variants(operation: Operation): Generator<{ readonly path: string; readonly request: ApiRequest }> {
  const { path, request } = requestOf(operation, { path: { id: "none", token: "none" } });
  yield { path, request };
  for (const more of headers) yield { path, request: { ...request, headers: more } };
  yield { path: `${path}${path.includes("?") ? "&" : "?"}unknown=1`, request };
  for (const segment of new Set(operation.path.match(/\{\w+\}/g))) {
    for (const value of ["none", "%00", "Ü", "a".repeat(300)]) {
      yield { path: operation.path.replace(segment, value).replace(/\{\w+\}/g, "main"), request };
    }
  }
  const { body } = request;
  if (body === undefined || typeof body !== "object" || body === null) return;
  for (const text of bodies) yield { path, request: { body: text } };
  for (const name of Object.keys(body)) {
    const { [name as keyof typeof body]: _, ...without } = body as Record<string, unknown>;
    yield { path, request: { body: without } };
    for (const value of values) yield { path, request: { body: { ...body, [name]: value } } };
  }
  yield { path, request: { body: { ...body, unknown: 1 } } };
}

test("whatever is sent to /v1 and /api is answered by a documented status and form", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  for (
    const sql of [
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT, total REAL NOT NULL)",
      "INSERT INTO orders VALUES (1, 'first', 12.5), (2, NULL, 3)",
    ]
  ) assertEquals((await acme.query(sql)).status, 200);
  const operations = await jsonOperations(app);
  const seen = new Set<number>();
  const look = (operation: Operation, answer: ApiAnswer, what: string) => {
    assertFits(operation, answer, what);
    assert(answer.status < 500, `${what}: ${answer.text}`);
    seen.add(answer.status);
  };
  const inTest = (path: string) => path.replace("/shop", "/main");
  // What takes the ground away from under others comes last.
  const deleting = (one: Operation) => one.method === "DELETE" || one.path.endsWith("/restore") ? 1 : 0;
  for (const operation of operations.toSorted((a, b) => deleting(a) - deleting(b))) {
    const name = `${operation.method} ${operation.path}`;
    const kinds = (operation.security ?? []).flatMap((one) => Object.keys(one));
    const tokens = [undefined, "wrong", kinds.includes("operator") ? app.operatorKey : acme.token];
    const documented = requestOf(operation, { path: { id: "none", token: "none" } });
    for (const token of tokens) {
      const more = token === undefined ? {} : { token };
      const answer = await app.request(operation.method, inTest(documented.path), {
        ...documented.request,
        ...more,
      });
      look(operation, answer, `${name} with ${token === undefined ? "no bearer" : token.slice(0, 8)}`);
    }
    const token = tokens[2] ?? "";
    for (const { path, request } of variants(operation)) {
      const answer = await app.request(operation.method, inTest(path), { token, ...request });
      look(operation, answer, `${name} ${path} ${JSON.stringify(request).slice(0, 300)}`);
    }
  }
  for (const status of [200, 201, 400, 401, 403, 404, 409]) {
    assert(seen.has(status), `no answer was ${status}`);
  }
});

test("a body may be missing exactly where the description says that it is not required", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const optional: string[] = [];
  for (const operation of await jsonOperations(app)) {
    const { method, requestBody, security = [] } = operation;
    const kinds = security.flatMap((one) => Object.keys(one));
    if (requestBody === undefined || kinds.join() === "session") continue;
    const { path } = requestOf(operation, { path: { id: "none", token: "none" } });
    const token = kinds.includes("operator") ? app.operatorKey : acme.token;
    const { status, body, text } = await app.request(method, path.replace("/shop", "/main"), { token });
    const isMissed = status === 400 && body.code === "invalid_json";
    assertEquals(isMissed, requestBody.required, `${method} ${path}: ${text}`);
    if (!requestBody.required) optional.push(`${method} ${operation.path.split("/").at(-1)}`);
  }
  const verbs = ["approve", "deny", "redeliver", "snapshots", "test", "undo"];
  assertEquals(optional.toSorted(), verbs.map((verb) => `POST ${verb}`));
});

test("a claim that resets its branch is answered as documented", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const operations = await jsonOperations(app);
  const claim = operations.find(({ path }) => path.endsWith("/claim_branch"));
  assert(claim);
  const statuses = [];
  for (let round = 0; round < 2; round++) {
    const request = { token: acme.token, body: { purpose: "try", ref: "try" } };
    const answer = await app.request("POST", "/v1/db/acme/main/claim_branch", request);
    assertFits(claim, answer, "claim");
    statuses.push(answer.status);
  }
  assertEquals(statuses, [201, 200]);
});

test("a restore into a new database, and a dry run, are answered as documented", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  await acme.setup("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
  const operations = await jsonOperations(app);
  const send = async (end: string, body: unknown, headers: Record<string, string> = {}) => {
    const operation = operations.find(({ method, path }) =>
      method === "POST" && path === `/v1/db/{ns}/{db}/${end}`
    );
    assert(operation, end);
    const answer = await app.request("POST", `/v1/db/acme/main/${end}`, { token: acme.token, body, headers });
    assert(answer.status < 300, answer.text);
    assertFits(operation, answer, end);
  };
  await send("snapshots", { label: "now" });
  await send("restore", { snapshot: "now", into: "copy" });
  await send("restore", { snapshot: "now" });
  const sql = "INSERT INTO orders VALUES (1)";
  await send("query", { sql }, { "x-dry-run": "1" });
  await send("batch", { statements: [{ sql }, { sql: "SELECT 1" }] }, { "x-dry-run": "1" });
  await send("batch", { statements: [{ sql }], transaction: false }, { "idempotency-key": "k" });
});

test("what a failure says beside its code is documented: of rules, approvals, batches and merges", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  await acme.setup("CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL)");
  await acme.query("INSERT INTO orders VALUES (1, 1), (2, 2)");
  const operations = await jsonOperations(app);
  const send = async (path: string, to: string, body: unknown, more: ApiRequest = {}) => {
    const operation = operations.find((one) => one.method === "POST" && one.path.endsWith(path));
    assert(operation, path);
    const answer = await app.request("POST", to, { token: acme.token, body, ...more });
    assertFits(operation, answer, path);
    const said: Record<string, unknown> = JSON.parse(answer.text);
    return said;
  };
  const shop = (end: string, body: unknown, more: ApiRequest = {}) =>
    send(`/${end}`, `/v1/db/acme/main/${end}`, body, more);
  const query = (sql: string, headers: Record<string, string> = {}) => shop("query", { sql }, { headers });
  const statements = [{ sql: "SELECT 1" }, { sql: "SELEC" }];
  assertEquals((await shop("batch", { statements }))["failedIndex"], 1);
  assertEquals((await query("UPDATE orders SET total = 3", { "x-max-affected": "1" }))["affected"], 2);

  await shop("claim_branch", { purpose: "try", ref: "try" });
  await send("/query", "/v1/db/acme/main@try/query", { sql: "UPDATE orders SET total = 4 WHERE id = 1" });
  await query("UPDATE orders SET total = 5 WHERE id = 1");
  const merge = await send("/merge", "/v1/db/acme/main/branches/try/merge", {
    mode: "data",
    onConflict: "abort",
  });
  assertEquals(merge["code"], "merge_conflict");

  const rules = "/api/namespaces/acme/databases/main/rules";
  await send("/rules", rules, { tableGlob: "orders", actions: ["delete"], effect: "require_approval" });
  const sql = "DELETE FROM orders WHERE total < 3";
  const held = await query(sql);
  assertEquals(held["code"], "approval_required");
  const person = { token: app.operatorKey };
  const pending = await app.request("GET", "/api/namespaces/acme/approvals?state=pending", person);
  const { data: [waiting] } = JSON.parse(pending.text);
  const decide = (verb: string, body: unknown) =>
    send(`/${verb}`, `/api/namespaces/acme/approvals/${waiting.id}/${verb}`, body, person);
  await decide("approve", {});
  await query("INSERT INTO orders VALUES (3, 0)");
  const redeem = () => shop("redeem_approval", { approvalToken: held["approvalToken"] });
  assertEquals((await redeem())["approvedRows"], 1);
  assertEquals((await decide("approve", {}))["look"], 1);
  await decide("deny", { reason: "No" });
  assertEquals((await redeem())["reason"], "No");
  await send("/rules", rules, { tableGlob: "orders", actions: ["delete"], effect: "deny" });
  assertEquals((await query(sql))["code"], "rule_denied");
});

test("what a failure says beside its code is documented: of migration files and of rows that are appended", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  await acme.setup("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
  const operations = await apiOperations(app);
  const send = async (end: string, body: unknown, token = acme.token) => {
    const [path = ""] = end.split("?");
    const operation = operations.find((one) => one.method === "POST" && one.path.endsWith(`{db}/${path}`));
    assert(operation, path);
    const answer = await app.request("POST", `/v1/db/acme/main/${end}`, { token, body });
    assertFits(operation, answer, end);
    const said: Record<string, unknown> = JSON.parse(answer.text);
    return said;
  };
  const first = { name: "1.sql", sql: "CREATE TABLE a (x)" };
  const migrate = (...files: readonly object[]) => send("migrations", { files });
  assertEquals((await migrate(first, { name: "2.sql", sql: "SELEC" }))["pending"], ["2.sql"]);
  assertEquals((await migrate({ ...first, sql: "CREATE TABLE b (x)" }))["file"], "1.sql");
  assertEquals((await migrate({ name: "2.sql", sql: "SELECT 1" }, first))["behind"], "2.sql");
  assertEquals((await migrate(first, { name: "0.sql", sql: "SELECT 1" }))["code"], "migration_out_of_order");
  await app.request("PATCH", "/api/namespaces/acme", { token: acme.token, body: { monthlyCapUsd: 0 } });
  const unpaid = await migrate(first, { name: "2.sql", sql: "CREATE TABLE c (x)" });
  assertEquals([unpaid["code"], unpaid["failedIndex"]], ["monthly_cap_reached", null]);
  await app.request("PATCH", "/api/namespaces/acme", { token: acme.token, body: { monthlyCapUsd: null } });

  const ids = Array.from({ length: 6000 }, (_, at) => at);
  const appended = await send("import?format=csv&mode=append&table=orders", ["id", ...ids, 1].join("\n"));
  assertEquals(appended["rows"], 5000);
});

test("whatever is sent to published endpoints is answered by a documented status and form", async () => {
  await using world = await publishedApp({
    setup: ["CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)"],
  });
  const auth = {
    ...{ method: "POST" as const, output: "session" as const },
    input: [
      { name: "email", type: "email" as const, required: true },
      { name: "password", type: "text" as const, required: true },
    ],
    authConfig: { usersTable: "users", passwordColumn: "password_hash" as const },
  };
  await world.put({
    ...{ ...auth, slug: "join", kind: "auth_signup" },
    sql: "INSERT INTO users (email, password_hash) VALUES (?, ?) RETURNING id",
  });
  await world.put({
    ...{ ...auth, slug: "log-in", kind: "auth_login" },
    sql: "SELECT id, password_hash FROM users WHERE email = ?",
  });
  await world.put({ slug: "item" });
  await world.put({ slug: "first", output: "first_row", auth: "session" });
  await world.put({
    ...{ slug: "add", kind: "mutation", method: "POST", output: "rows_written" },
    sql: "INSERT INTO item (name, price) VALUES (?, ?)",
    input: [{ name: "name", type: "text", required: true, maxLength: 9 }, { name: "price", type: "number" }],
  });
  await world.put({
    ...{ slug: "ask", kind: "ask", method: "POST", output: "answer", sql: "" },
    input: [{ name: "question", type: "text", required: true }],
    askConfig: { allowedTables: ["item"] },
  });
  const operations = operationsOf((await world.app.request("GET", "/p/acme/main/openapi.json")).text);
  assertEquals(operations.length, 6);
  const person = { email: "ada@shop.example", password: "correct horse" };
  const { token } = JSON.parse((await world.call("join", { body: person })).text);
  const seen = new Set<number>();
  for (const operation of operations) {
    for (const { path, request } of variants(operation)) {
      for (const more of operation.security?.length ? [{}, { token }, { token: "x.y.z" }] : [{}]) {
        const answer = await world.call(path.slice(1), { method: operation.method, ...request, ...more });
        assertFits(operation, answer, `${path} ${JSON.stringify(request).slice(0, 300)}`);
        assert(answer.status < 500, answer.text);
        seen.add(answer.status);
      }
    }
  }
  for (const status of [200, 400, 401, 409, 422]) assert(seen.has(status), `no answer was ${status}`);
});

test("an endpoint whose columns have types of their own answers as documented, whatever its output", async () => {
  await using world = await publishedApp();
  for (const output of ["rows", "first_row"] as const) {
    const sql = `SELECT '{"a":[1]}' AS item, 1 AS flag`;
    const outputTypes = { item: "json", flag: "boolean" } as const;
    await world.put({ slug: output.replace("_", "-"), output, sql, input: [], outputTypes });
  }
  const operations = operationsOf((await world.call("openapi.json")).text);
  assertEquals(operations.length, 2);
  for (const operation of operations) {
    const answer = await world.call(operation.path.slice(1));
    assertEquals(answer.status, 200, answer.text);
    assertFits(operation, answer, operation.path);
  }
});
