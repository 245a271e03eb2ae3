// Every request that the API descriptions show is made here, and is answered as they say.
import { assert, assertEquals } from "@std/assert";
import { type ApiAnswer, type ApiRequest, callApi } from "../testing/call_api.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { type DocumentedPerson, documentedPerson } from "./documented_person.ts";
import {
  assertAsDocumented,
  type Filled,
  jsonOperations,
  type Operation,
  operationsOf,
  requestOf,
} from "./documented_requests.ts";

const { run, test } = oneStore();
Deno.test("documented requests", run);

const SHOP = "/v1/db/acme/shop";
const API = "/api/namespaces/acme";

/** What the examples talk about, beside what they make themselves. */
const CONTENT = [
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT, total REAL NOT NULL)",
  "INSERT INTO orders VALUES (1, 'first', 12.5), (2, NULL, 3)",
  "CREATE TABLE payments (id INTEGER PRIMARY KEY, amount REAL)",
  "INSERT INTO payments VALUES (1, 12.5), (2, 3), (3, 4)",
];

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

class Shop {
  #token = "";
  #person: Promise<DocumentedPerson> | null = null;

  constructor(readonly app: StartedApp) {}

  /** Makes the documented request with the first kind of bearer that it may have, and looks at the answer. */
  async run(operation: Operation): Promise<ApiAnswer> {
    const { path, request } = requestOf(operation, await this.#filled(nameOf(operation)));
    const kinds = (operation.security ?? []).flatMap((one) => Object.keys(one));
    if (kinds[0] === "session") return await this.#runAsPerson(operation, path, request);
    const bearer = kinds[0] === "operator" || this.#token === "" ? this.app.operatorKey : this.#token;
    const token = kinds.length === 0 ? {} : { token: bearer };
    const answer = await this.app.request(operation.method, path, { ...request, ...token });
    assertAsDocumented(operation, answer);
    return answer;
  }

  async #runAsPerson(operation: Operation, path: string, request: ApiRequest): Promise<ApiAnswer> {
    const { headers } = await this.person();
    const answer = await this.app.request(operation.method, path, { ...request, headers });
    assertAsDocumented(operation, answer);
    return answer;
  }

  /** A member with the documented password and a passkey. */
  person(): Promise<DocumentedPerson> {
    return this.#person ??= documentedPerson(this.app);
  }

  /** By the token of the documented request from then on. */
  async open(token: string): Promise<void> {
    this.#token = token;
    for (const sql of CONTENT) await this.#send(200, "POST", `${SHOP}/query`, { body: { sql } });
  }

  async #send(status: number, method: string, path: string, more: ApiRequest = {}): Promise<ApiAnswer> {
    const answer = await this.app.request(method, path, { token: this.#token, ...more });
    assertEquals(answer.status, status, `${method} ${path}: ${answer.text}`);
    return answer;
  }

  /** Ids and tokens that a request needs and that only an answer tells. */
  async #filled(name: string): Promise<Filled> {
    switch (name) {
      case "POST /api/namespaces/{slug}/databases/restore":
        await this.#send(201, "POST", `${API}/databases`, { body: { slug: "old-shop" } });
        await this.#send(200, "DELETE", `${API}/databases/old-shop`, { body: { confirm: "old-shop" } });
        return {};
      case "DELETE /api/namespaces/{slug}/tokens/{id}": {
        const body = { name: "Short-lived", role: "read" };
        return { path: { id: member(await this.#send(201, "POST", `${API}/tokens`, { body }), "id") } };
      }
      case "PATCH /api/namespaces/{slug}/members/{id}":
      case "DELETE /api/namespaces/{slug}/members/{id}":
      case "POST /api/namespaces/{slug}/members/{id}/invite": {
        const body = { email: `${name.toLowerCase().replace(/\W/g, "")}@example.com`, role: "editor" };
        return { path: { id: member(await this.#send(201, "POST", `${API}/members`, { body }), "id") } };
      }
      case "POST /api/namespaces/{slug}/databases/{dbSlug}/endpoints/{endpoint}/link":
        return { path: { endpoint: await this.#accounts("auth_reset") } };
      case "POST /api/namespaces/{slug}/databases/{dbSlug}/endpoints/{endpoint}/unlock":
        return { path: { endpoint: await this.#accounts("auth_login") } };
      case "DELETE /api/me/sessions/{id}":
        return { path: { id: (await this.person()).otherSession } };
      case "POST /api/me/passkeys":
        return { body: { answer: await (await this.person()).makePasskey() } };
      case "DELETE /api/me/passkeys/{id}":
        return { path: { id: (await this.person()).passkey } };
      case "PATCH /api/namespaces/{slug}/databases/{dbSlug}/rules/{id}":
      case "DELETE /api/namespaces/{slug}/databases/{dbSlug}/rules/{id}": {
        const body = { tableGlob: "archive", effect: "deny" };
        const made = await this.#send(201, "POST", `${API}/databases/shop/rules`, { body });
        return { path: { id: member(made, "id") } };
      }
      case "GET /api/namespaces/{slug}/approvals/{id}":
      case "POST /api/namespaces/{slug}/approvals/{id}/look":
      case "POST /api/namespaces/{slug}/approvals/{id}/approve":
      case "POST /api/namespaces/{slug}/approvals/{id}/deny":
        return { path: { id: (await this.#hold()).id } };
      case "GET /api/namespaces/{slug}/approvals/{id}/undo":
      case "POST /api/namespaces/{slug}/approvals/{id}/undo": {
        const { id, token } = await this.#hold();
        const body = { snapshot: true };
        await this.#send(200, "POST", `${API}/approvals/${id}/approve`, {
          token: this.app.operatorKey,
          body,
        });
        await this.#send(200, "POST", `${SHOP}/redeem_approval`, { body: { approvalToken: token } });
        return { path: { id } };
      }
      case "PATCH /api/namespaces/{slug}/databases/{dbSlug}/webhooks/{id}":
      case "DELETE /api/namespaces/{slug}/databases/{dbSlug}/webhooks/{id}":
      case "POST /api/namespaces/{slug}/databases/{dbSlug}/webhooks/{id}/test":
      case "POST /api/namespaces/{slug}/databases/{dbSlug}/webhooks/{id}/redeliver": {
        const body = { url: "https://shop.example/hooks", events: ["change"] };
        return {
          path: {
            id: member(await this.#send(201, "POST", `${API}/databases/shop/webhooks`, { body }), "id"),
          },
        };
      }
      case "GET /v1/db/{ns}/{db}/exports/{id}":
      case "DELETE /v1/db/{ns}/{db}/exports/{id}": {
        const made = await this.#send(200, "GET", `${SHOP}/export?format=sqlite`);
        return { path: { id: made.headers.get("x-export-id") ?? "" } };
      }
      case "GET /v1/db/{ns}/{db}/imports/{id}":
      case "DELETE /v1/db/{ns}/{db}/imports/{id}": {
        const id = crypto.randomUUID();
        await this.#send(201, "POST", `${API}/databases`, { body: { slug: `in-${id.slice(0, 8)}` } });
        const into = `${SHOP.replace(/[^/]+$/, "")}in-${id.slice(0, 8)}`;
        await this.#send(200, "POST", `${into}/import?format=sql&mode=create&id=${id}`, {
          body: "CREATE TABLE t (v);",
        });
        return { path: { id, db: `in-${id.slice(0, 8)}` } };
      }
      case "GET /v1/db/{ns}/{db}/approvals/{token}":
        return { path: { token: (await this.#hold()).token } };
      case "POST /v1/db/{ns}/{db}/redeem_approval": {
        const { id, token } = await this.#hold();
        await this.#send(200, "POST", `${API}/approvals/${id}/approve`, { token: this.app.operatorKey });
        return { body: { approvalToken: token } };
      }
      case "POST /v1/db/{ns}/{db}/apply": {
        const body = { sql: "UPDATE orders SET note = 'second' WHERE id = 2" };
        const proposed = await this.#send(200, "POST", `${SHOP}/propose`, { body });
        return { body: { executionToken: member(proposed, "executionToken") } };
      }
      case "POST /v1/handoff/redeem": {
        const made = await this.#send(201, "POST", `${SHOP}/handoff`, { body: { role: "read", ttlSec: 60 } });
        return { body: { token: member(made, "token") } };
      }
      case "POST /v1/db/{ns}/{db}/branches/{ref}/merge": {
        const body = { sql: "INSERT INTO orders VALUES (77, 'of the branch', 1)" };
        await this.#send(200, "POST", `${SHOP}%40new-index/query`, { body });
        return {};
      }
    }
    return {};
  }

  /** An endpoint of that kind, of a users table with the user of the documented requests. */
  async #accounts(kind: "auth_reset" | "auth_login"): Promise<string> {
    const table = kind.replace("auth_", "people_");
    const columns = "id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT";
    await this.#send(200, "POST", `${SHOP}/query`, { body: { sql: `CREATE TABLE ${table} (${columns})` } });
    const sql = `INSERT INTO ${table} (email) VALUES ('ada@example.com')`;
    await this.#send(200, "POST", `${SHOP}/query`, { body: { sql } });
    const body = {
      ...{ table, shape: "app", operations: [kind.replace("auth_", "")] },
      resetUrl: "https://shop.example/reset",
    };
    const made = await this.#send(200, "POST", `${API}/databases/shop/endpoints/scaffold-crud`, { body });
    return JSON.parse(made.text).data.created[0].slug;
  }

  /** A write that the documented rule holds for a person. */
  async #hold(): Promise<{ id: string; token: string }> {
    const body = { sql: "DELETE FROM payments WHERE id = 1" };
    const { text } = await this.#send(403, "POST", `${SHOP}/query`, { body });
    const { approvalToken, approvalUrl }: { approvalToken: string; approvalUrl: string } = JSON.parse(text);
    return { id: approvalUrl.split("/").at(-1) ?? "", token: approvalToken };
  }
}

test("every documented request of /v1 and /api is answered as documented", async () => {
  await using app = await startApp();
  const operations = await jsonOperations(app);
  const shop = new Shop(app);
  const names = ["/api/namespaces", "/api/namespaces/{slug}/databases", "/api/namespaces/{slug}/tokens"]
    .map((path) => `POST ${path}`);
  for (const name of names) {
    const operation = operations.find((one) => nameOf(one) === name);
    assert(operation, name);
    const answer = await shop.run(operation);
    if (name.endsWith("/tokens")) await shop.open(member(answer, "token"));
  }
  const later = operations.filter((one) => !names.includes(nameOf(one)));
  assertEquals(later.length, operations.length - 3);
  // What is deleted comes last, what is inside before what holds it.
  const deleting = later.filter(({ method }) => method === "DELETE");
  const isApi = ({ path }: Operation) => Number(path.startsWith("/api/namespaces"));
  deleting.sort((a, b) => isApi(a) - isApi(b) || b.path.length - a.path.length);
  for (const operation of later.filter(({ method }) => method !== "DELETE")) await shop.run(operation);
  for (const operation of deleting) await shop.run(operation);
});

test("no body of /v1 and /api takes a member that is not documented", async () => {
  await using app = await startApp();
  const operations = await jsonOperations(app);
  // A GET has no body that anybody looks at.
  const taking = operations.filter(({ method }) => method !== "GET");
  assert(taking.length > 40);
  assert(taking.some(({ requestBody }) => requestBody === undefined));
  const acme = await app.namespace();
  await acme.query(CONTENT[0] ?? "");
  const create = operations.find(({ method, path }) => method === "POST" && path.endsWith("/endpoints"));
  assert(create);
  const { path, request } = requestOf(create);
  const made = { token: acme.token, ...request };
  assertEquals((await app.request("POST", path.replace("/shop", "/main"), made)).status, 201);
  for (const operation of taking) {
    const { path, request } = requestOf(operation, { path: { id: "none", token: "none" } });
    const address = path.replace("/shop", "/main");
    const operator = (operation.security ?? []).some((one) => "operator" in one);
    const token = operator ? app.operatorKey : acme.token;
    const send = async (body: unknown) => {
      const answer = await callApi(app.app, operation.method, address, { token, body });
      return { ...answer, outcome: [nameOf(operation), answer.status, answer.body.code] };
    };
    const refused = await send({ ...Object(request.body), notDocumented: 1 });
    assertEquals(refused.outcome, [nameOf(operation), 400, "validation_failed"], refused.text);
    assert(refused.body.issues?.some((issue) => issue.path === "notDocumented"), refused.text);
    for (const broken of ["{nope", "null nope", "{'dryRun':true}"]) {
      assertEquals((await send(broken)).outcome, [nameOf(operation), 400, "invalid_json"]);
    }
    assertEquals((await send([1])).outcome, [nameOf(operation), 400, "validation_failed"]);
  }
});

/** Endpoints whose descriptions show one request each, in the order in which they can be called. */
const published = [
  {
    ...{ slug: "join", name: "Join", kind: "auth_signup", method: "POST", output: "session" },
    sql: "INSERT INTO members (email, password_hash) VALUES (?, ?) RETURNING id",
    input: [
      { name: "email", type: "email", required: true },
      { name: "password", type: "text", required: true },
    ],
    authConfig: { usersTable: "members", passwordColumn: "password_hash" },
  },
  {
    ...{ slug: "log-in", name: "Log in", kind: "auth_login", method: "POST", output: "session" },
    sql: "SELECT id, password_hash FROM members WHERE email = ?",
    input: [
      { name: "email", type: "email", required: true },
      { name: "password", type: "text", required: true },
    ],
    authConfig: { usersTable: "members", passwordColumn: "password_hash" },
  },
  {
    ...{ slug: "my-note", name: "My note", kind: "mutation", method: "POST", output: "rows_written" },
    auth: "session",
    sql: "INSERT INTO orders (note, total, kind) VALUES (? || ?, ?, ?)",
    input: [
      { name: "note", type: "text", required: true, pattern: "^[A-Z]+$", maxLength: 8 },
      { name: "$user_id", type: "integer" },
      { name: "total", type: "number", required: true, min: 0.25, max: 0.75 },
      { name: "kind", type: "text", enum: ["web", "phone"], required: true },
    ],
  },
  {
    ...{ slug: "every-type", name: "Every type", kind: "query", method: "GET", output: "first_row" },
    sql: "SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e, ? AS f",
    input: [
      { name: "a", type: "boolean", required: true },
      { name: "b", type: "json", required: true },
      { name: "c", type: "url", required: true },
      { name: "d", type: "email", required: true },
      { name: "e", type: "integer", required: true, min: -5, max: -1.5 },
      { name: "f", type: "text", maxLength: 3 },
    ],
  },
  {
    ...{ slug: "large", name: "Large", kind: "query", method: "POST", output: "first_row" },
    sql: "SELECT ? AS a, ? AS b",
    input: [
      { name: "a", type: "integer", required: true, min: 1e16 },
      { name: "b", type: "integer", required: true, max: -1e16 },
    ],
  },
  {
    ...{ slug: "ask", name: "Ask", kind: "ask", method: "POST", output: "answer", sql: "" },
    input: [{ name: "question", type: "text", required: true, maxLength: 500 }],
    askConfig: { allowedTables: ["orders"] },
  },
];

test("every documented request of a database's published endpoints is answered as documented", async () => {
  await using app = await startApp();
  const acme = await app.namespace();
  const endpoints = `/api/namespaces/acme/databases/main/endpoints`;
  const send = async (path: string, body?: unknown) => {
    const answer = await app.request("POST", endpoints + path, { token: acme.token, body });
    assert(answer.status < 300, answer.text);
    return answer;
  };
  for (
    const sql of [
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT, total REAL NOT NULL, kind TEXT)",
      "CREATE TABLE members (id INTEGER PRIMARY KEY, email TEXT UNIQUE, password_hash TEXT)",
      "INSERT INTO orders VALUES (1, 'first', 12.5, 'web')",
    ]
  ) assertEquals((await acme.query(sql)).status, 200);
  for (const spec of published) await send("", spec);
  const { text } = await send("/scaffold-crud", { table: "orders" });
  const { data }: { data: { created: { slug: string }[] } } = JSON.parse(text);
  const slugs = [...published, ...data.created].map(({ slug }) => slug);
  for (const slug of slugs) await send(`/${slug}/publish`);
  const operations = operationsOf((await app.request("GET", "/p/acme/main/openapi.json")).text);
  assertEquals(operations.map(({ path }) => path.slice(1)).sort(), slugs.toSorted());
  let session = "";
  for (const slug of slugs) {
    const operation = operations.find(({ path }) => path === `/${slug}`);
    assert(operation, slug);
    const { path, request } = requestOf(operation);
    const token = (operation.security ?? []).length > 0 ? { token: session } : {};
    const answer = await app.request(operation.method, `/p/acme/main${path}`, { ...request, ...token });
    assertAsDocumented(operation, answer);
    if (slug === "log-in") session = JSON.parse(answer.text).token;
  }
});
