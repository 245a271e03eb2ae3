// Holds the app to routes/security_table.ts: what is mounted is listed, and lets in whom the table names.
import { assert, assertEquals } from "@std/assert";
import { newToken } from "../../lib/access/token_format.ts";
import { type Access, type SecuredRoute, securityTable } from "../../routes/security_table.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";

const endpoint = {
  ...{
    slug: "fresh",
    name: "Fresh",
    kind: "query",
    method: "GET",
    sql: "SELECT 1",
    input: [],
    output: "rows",
  },
};

/** Valid bodies, so that no refusal of a body hides an open door. */
const bodies: Readonly<Record<string, unknown>> = {
  "POST /v1/db/:ns/:db/query": { sql: "SELECT 1" },
  "POST /v1/db/:ns/:db/batch": { statements: [{ sql: "SELECT 1" }] },
  "PUT /v1/db/:ns/:db/describe": {},
  "POST /v1/db/:ns/:db/validate": { sql: "SELECT 1" },
  "POST /v1/handoff/redeem": { token: "none", name: "fresh" },
  "POST /v1/sessions": { namespaceSlug: "acme", databaseSlug: "main", userId: "1" },
  "POST /v1/db/:ns/:db/handoff": { role: "read", ttlSec: 60 },
  "POST /v1/db/:ns/:db/propose": { sql: "CREATE TABLE fresh (a)" },
  "POST /v1/db/:ns/:db/apply": { executionToken: "pmut_none" },
  "POST /v1/db/:ns/:db/redeem_approval": { approvalToken: "appr_none" },
  "POST /api/namespaces/:slug/databases/:dbSlug/rules": { tableGlob: "none", effect: "deny" },
  "PATCH /api/namespaces/:slug/databases/:dbSlug/rules/:id": { note: "new" },
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints": endpoint,
  "PUT /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint": endpoint,
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/scaffold-crud": { table: "things" },
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/test": {},
  "POST /v1/db/:ns/:db/restore": { snapshot: "none" },
  "POST /v1/db/:ns/:db/claim_branch": { purpose: "fresh" },
  "POST /v1/db/:ns/:db/branches/:ref/merge": { mode: "data", onConflict: "abort" },
  "POST /api/namespaces": { slug: "fresh" },
  "PATCH /api/namespaces/:slug": { name: "New name" },
  "DELETE /api/namespaces/:slug": { confirm: "acme" },
  "POST /api/namespaces/:slug/databases": { slug: "fresh" },
  "PATCH /api/namespaces/:slug/databases/:dbSlug": { name: "New name" },
  "DELETE /api/namespaces/:slug/databases/:dbSlug": { confirm: "main" },
  "POST /api/namespaces/:slug/databases/restore": { slug: "gone" },
  "POST /api/namespaces/:slug/credits": { amountUsd: 1, reference: "invoice-1" },
  "POST /api/namespaces/:slug/tokens": { name: "fresh", role: "read" },
};

/** Query parameters that a route cannot do without. */
const queries: Readonly<Record<string, string>> = {
  "GET /v1/db/:ns/:db/search": "?q=orders",
  "GET /.well-known/endpoints.json": "?namespace=acme&database=main",
};

/** Headers without which a route answers 404. */
const headers: Readonly<Record<string, Record<string, string>>> = { "GET /": { accept: "text/html" } };

const segments: Readonly<Record<string, string>> = {
  ns: "acme",
  slug: "acme",
  db: "main",
  dbSlug: "main",
  endpoint: "fresh",
  n: "1",
  ref: "pr-1",
  page: "agents",
  name: "docs.css",
  id: "tok_01ARZ3NDEKTSV4RRFFQ69G5FAV",
};

const guarded = securityTable.filter((route) => route.access !== "none");
const nameOf = (route: SecuredRoute) => `${route.method} ${route.path}`;

/** Status and code of the route's answer to `authorization`. */
async function knock(
  { request }: StartedApp,
  route: SecuredRoute,
  authorization?: string,
): Promise<{ status: number; code: string | undefined; challenge: boolean }> {
  const path = route.path.replace(/:(\w+)/g, (_, name) => segments[name] ?? name);
  const body = bodies[nameOf(route)];
  const { status, headers: answered, body: answer } = await request(
    route.method,
    path + (queries[nameOf(route)] ?? ""),
    {
      headers: {
        ...headers[nameOf(route)],
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body }),
    },
  );
  return { status, code: answer.code, challenge: answered.has("www-authenticate") };
}

/** One bearer of every kind: unscoped ones of `acme`, scoped ones of it, and one of another namespace. */
async function bearersOf(started: StartedApp) {
  const acme = await started.namespace("acme");
  await acme.query("CREATE TABLE things (id INTEGER PRIMARY KEY)");
  const other = await started.namespace("other");
  const stock = await acme.createDatabase("stock");
  const claim = { token: acme.token, body: { purpose: "a branch to knock at", ref: "pr-1" } };
  assertEquals((await started.request("POST", `${acme.database.path}/claim_branch`, claim)).status, 201);
  const scopedTo = (databaseId: string) =>
    acme.mint("admin", { scopes: [{ databaseId, branchRef: "main", role: "admin" }] });
  return {
    operator: started.operatorKey,
    admin: acme.token,
    reader: (await acme.mint("read")).token,
    mainAdmin: (await scopedTo(acme.database.id)).token,
    stockAdmin: (await scopedTo(stock.id)).token,
    foreignAdmin: other.token,
  };
}

Deno.test("every mounted route is in the security table, and every row of it is mounted", async () => {
  await using started = await startApp();
  const { routes } = started.app;
  // Middleware answers every method too, and sits on a prefix or on everything.
  const mounted = new Set(
    routes.filter(({ method, path }) => method !== "ALL" || !path.endsWith("*"))
      .map(({ method, path }) => `${method} ${path}`),
  );
  assertEquals([...mounted].sort(), securityTable.map(nameOf).sort());
});

Deno.test("every route but the open ones answers 401 without a bearer and with a wrong one", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const wrong = [
    `Bearer ${newToken("cub_live_")}`,
    `Bearer ${newToken("cub_op_")}`,
    `Bearer ${bearers.admin.slice(0, -1)}`,
    `Bearer ${bearers.admin} ${bearers.admin}`,
    "Bearer ",
    "Bearer null",
    bearers.admin,
    `Basic ${btoa(`admin:${bearers.admin}`)}`,
  ];
  for (const route of guarded) {
    const name = nameOf(route);
    assertEquals(
      await knock(started, route),
      { status: 401, code: "missing_bearer", challenge: true },
      name,
    );
    for (const authorization of wrong) {
      const { status, challenge } = await knock(started, route, authorization);
      assertEquals({ status, challenge }, { status: 401, challenge: true }, name);
    }
  }
});

Deno.test("the operator key is no bearer under /v1", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const routes = guarded.filter((route) => route.path.startsWith("/v1/"));
  assert(routes.length > 0);
  for (const route of routes) {
    const { status, code } = await knock(started, route, `Bearer ${bearers.operator}`);
    assertEquals({ status, code }, { status: 401, code: "invalid_bearer" }, nameOf(route));
  }
});

Deno.test("every route refuses whoever its row leaves out", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const { admin, reader, mainAdmin, stockAdmin, foreignAdmin } = bearers;
  const refused: Readonly<Record<string, readonly [bearer: string, code: string][]>> = {
    operator: [[admin, "operator_required"], [foreignAdmin, "operator_required"]],
    namespace_admin: [
      [reader, "role_too_low"],
      [mainAdmin, "out_of_scope"],
      [foreignAdmin, "namespace_mismatch"],
    ],
    token: [],
    person: [[admin, "person_required"], [reader, "person_required"], [foreignAdmin, "person_required"]],
    database: [[stockAdmin, "out_of_scope"], [foreignAdmin, "namespace_mismatch"]],
  };
  const readers: readonly [bearer: string, code: string][] = [[reader, "role_too_low"]];
  for (const route of guarded) {
    const more = /^database:(?!read)/.test(route.access) ? readers : [];
    for (const [bearer, code] of [...refused[route.access.replace(/:.*/, "")] ?? [], ...more]) {
      const answer = await knock(started, route, `Bearer ${bearer}`);
      assertEquals(answer, { status: 403, code, challenge: false }, nameOf(route));
    }
  }
});

Deno.test("every route lets in whom its row names", async () => {
  await using started = await startApp();
  const bearers = await bearersOf(started);
  const { admin, reader, operator, mainAdmin } = bearers;
  const enough = (access: Access): string[] => {
    if (access === "none") return [];
    if (access === "operator" || access === "person") return [operator];
    if (access === "namespace_admin") return [operator, admin];
    return access === "database:read" || access === "token" ? [reader, mainAdmin, admin] : [mainAdmin, admin];
  };
  // Deleting comes last, what is inside before what holds it; a second maker or deleter finds 404 or 409.
  const inOrder = [
    ...guarded.filter((route) => route.method !== "DELETE"),
    ...guarded.filter((route) => route.method === "DELETE").sort((a, b) => b.path.length - a.path.length),
  ];
  for (const route of inOrder) {
    for (const bearer of enough(route.access)) {
      const { status } = await knock(started, route, `Bearer ${bearer}`);
      assert([200, 201, 404, 409].includes(status), `${nameOf(route)}: ${status}`);
      // Of an approval there is only an unknown one.
      if (route.method === "GET" && !route.path.includes("/approvals/:")) {
        assertEquals(status, 200, nameOf(route));
      }
    }
  }
  for (const route of securityTable.filter((route) => route.access === "none")) {
    const { status, code } = await knock(started, route);
    // Without a bearer it is the thing asked for that is missing, not the right to ask.
    const missing = ["handoff_not_found", "endpoint_not_found", "database_not_found"].includes(code ?? "");
    assert(status === 200 || status === 302 || missing, nameOf(route));
  }
});
