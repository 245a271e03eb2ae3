// Calls every route of the security table with a valid request, in the name of whoever is given.
import { type SecuredRoute, securityTable } from "../../routes/security_table.ts";
import type { StartedApp } from "../testing/start_app.ts";

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
  "POST /oauth/register": { redirect_uris: ["https://client.example/callback"] },
  "POST /oauth/token": "grant_type=refresh_token&client_id=cli_none&refresh_token=none",
  "POST /oauth/revoke": "client_id=cli_none&token=none",
  "POST /v1/handoff/redeem": { token: "none", name: "fresh" },
  "POST /v1/sessions": { namespaceSlug: "acme", databaseSlug: "main", userId: "1" },
  "POST /v1/db/:ns/:db/handoff": { role: "read", ttlSec: 60 },
  "POST /v1/db/:ns/:db/propose": { sql: "CREATE TABLE fresh (a)" },
  "POST /v1/db/:ns/:db/apply": { executionToken: "pmut_none" },
  "POST /v1/db/:ns/:db/redeem_approval": { approvalToken: "appr_none" },
  "POST /hrana/:ns/:call{.+}": { requests: [{ type: "execute", stmt: { sql: "SELECT 1" } }] },
  "POST /v2/:operation": { requests: [{ type: "execute", stmt: { sql: "SELECT 1" } }] },
  "POST /v3/:operation": { requests: [{ type: "execute", stmt: { sql: "SELECT 1" } }] },
  "POST /v1/execute": { stmt: { sql: "SELECT 1" } },
  "POST /v1/batch": { batch: { steps: [{ stmt: { sql: "SELECT 1" } }] } },
  "POST /mcp": { jsonrpc: "2.0", id: 1, method: "tools/list" },
  "POST /mcp/": { jsonrpc: "2.0", id: 1, method: "tools/list" },
  "POST /api/namespaces/:slug/databases/:dbSlug/webhooks": {
    url: "https://app.example/hooks",
    events: ["change"],
  },
  "PATCH /api/namespaces/:slug/databases/:dbSlug/webhooks/:id": { enabled: false },
  "POST /api/namespaces/:slug/databases/:dbSlug/webhooks/:id/redeliver": {},
  "POST /api/namespaces/:slug/databases/:dbSlug/rules": { tableGlob: "none", effect: "deny" },
  "PATCH /api/namespaces/:slug/databases/:dbSlug/rules/:id": { note: "new" },
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints": endpoint,
  "PUT /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint": endpoint,
  "PATCH /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint": { name: "Another" },
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/scaffold-crud": { table: "things" },
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/test": {},
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/link": { email: "ada@example.com" },
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/unlock": { email: "ada@example.com" },
  "POST /v1/db/:ns/:db/restore": { snapshot: "none" },
  "POST /v1/db/:ns/:db/import": "id\n",
  "POST /v1/db/:ns/:db/migrations": { files: [{ name: "0001.sql", sql: "" }] },
  "POST /v1/db/:ns/:db/claim_branch": { purpose: "fresh" },
  "POST /v1/db/:ns/:db/branches/:ref/merge": { mode: "data", onConflict: "abort" },
  "POST /api/namespaces": { slug: "fresh" },
  "PATCH /api/namespaces/:slug": { name: "New name", monthlyCapUsd: 25 },
  "DELETE /api/namespaces/:slug": { confirm: "acme" },
  "POST /api/namespaces/:slug/databases": { slug: "fresh" },
  "PATCH /api/namespaces/:slug/databases/:dbSlug": { name: "New name" },
  "DELETE /api/namespaces/:slug/databases/:dbSlug": { confirm: "main" },
  "POST /api/namespaces/:slug/databases/restore": { slug: "gone" },
  "POST /api/namespaces/:slug/credits": { amountUsd: 1, reference: "invoice-1" },
  "POST /api/namespaces/:slug/tokens": { name: "fresh", role: "read" },
  "POST /api/namespaces/:slug/members": { email: "fresh@example.com", role: "viewer" },
  "PATCH /api/namespaces/:slug/members/:id": { role: "viewer" },
  "POST /api/me/confirm": { secret: "a guess" },
  "POST /api/me/passkeys": { name: "fresh", answer: { id: "none", response: {} } },
};

/** Query parameters that a route cannot do without. */
const queries: Readonly<Record<string, string>> = {
  "GET /v1/db/:ns/:db/search": "?q=orders",
  "POST /v1/db/:ns/:db/import": "?format=csv&mode=append&table=things",
  "GET /v1/db/:ns/:db/export": "?format=csv&table=things",
  "GET /.well-known/endpoints.json": "?namespace=acme&database=main",
};

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Headers without which a route answers 404, or takes nothing. */
const headers: Readonly<Record<string, Record<string, string>>> = {
  "GET /": { accept: "text/html" },
  "POST /mcp": { accept: "application/json, text/event-stream" },
  "POST /mcp/": { accept: "application/json, text/event-stream" },
  "POST /oauth/token": FORM,
  "POST /oauth/revoke": FORM,
};

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
  call: "main/v2/pipeline",
  operation: "pipeline",
  id: "tok_01ARZ3NDEKTSV4RRFFQ69G5FAV",
};

/** Where one pattern has several meanings. */
const paths: Readonly<Record<string, string>> = { "GET /hrana/:ns/:call{.+}": "/hrana/:ns/:db/v2" };

/** What a backup is told where KV is no file, as in these tests, once the door is open. */
export const IN_MEMORY = "backup_elsewhere";

/** Routes that ask who calls. */
export const guarded = securityTable.filter((route) => route.access !== "none");
/** As `GET /v1/me`. */
export const nameOf = (route: SecuredRoute): string => `${route.method} ${route.path}`;

/** Status and code of the route's answer to whoever these headers prove. */
export async function knock(
  { request }: StartedApp,
  route: SecuredRoute,
  proof: Readonly<Record<string, string>> = {},
): Promise<{ status: number; code: string | undefined; challenge: boolean }> {
  const path = (paths[nameOf(route)] ?? route.path).replace(
    /:(\w+)(?:\{[^}]*\})?/g,
    (_, name) => segments[name] ?? name,
  );
  const body = bodies[nameOf(route)];
  const { status, headers: answered, body: answer } = await request(
    route.method,
    path + (queries[nameOf(route)] ?? ""),
    {
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers[nameOf(route)],
        ...proof,
      },
      ...(body === undefined ? {} : { body }),
    },
  );
  // Clients of libSQL get codes in capitals.
  return { status, code: answer.code?.toLowerCase(), challenge: answered.has("www-authenticate") };
}
