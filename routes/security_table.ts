// Every mounted route and who may call it, for review in one place. It decides nothing; a test compares the app with it.
import type { Role } from "../lib/core/role.ts";

/**
 * `none`: anybody. `operator`: the operator, by key or by session. `namespace_reader`: a member of the namespace,
 * whoever may manage it. `namespace_admin`: an admin member or an unscoped admin token of the namespace, or the
 * operator. `person`: an admin member or the operator, never an API token. `self`: a person for itself, whatever its
 * role. `member`: the same without the operator. `token`: any API token. `database:<role>`: an API token that reaches
 * the database with that role; the pipeline decides what a statement needs beyond it. Sessions count under `/api` only.
 * `scraper`: the operator key or `METRICS_TOKEN`.
 */
export type Access =
  | ("none" | "operator" | "namespace_reader" | "namespace_admin" | "person" | "self" | "member" | "token")
  | "scraper"
  | `database:${Role}`;

/** One route. */
export interface SecuredRoute {
  /** `ALL`: every method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "ALL";
  /** As mounted in Hono, with `:name` for a parameter. */
  readonly path: string;
  readonly access: Access;
}

/** All routes. */
export const securityTable: readonly SecuredRoute[] = [
  { method: "GET", path: "/healthz", access: "none" },
  { method: "GET", path: "/readyz", access: "none" },
  { method: "GET", path: "/metrics", access: "scraper" },
  { method: "GET", path: "/openapi.json", access: "none" },
  { method: "GET", path: "/.well-known/endpoints.json", access: "none" },
  { method: "GET", path: "/p/:ns/:db/.well-known/endpoints.json", access: "none" },
  { method: "GET", path: "/p/:ns/:db/openapi.json", access: "none" },
  { method: "GET", path: "/p/:ns/:db/client.ts", access: "none" },
  { method: "GET", path: "/p/:ns/:db/client.js", access: "none" },
  { method: "GET", path: "/.well-known/oauth-protected-resource", access: "none" },
  { method: "GET", path: "/.well-known/oauth-protected-resource/mcp", access: "none" },
  { method: "GET", path: "/.well-known/oauth-authorization-server", access: "none" },
  { method: "GET", path: "/.well-known/oauth-authorization-server/mcp", access: "none" },
  { method: "GET", path: "/oauth/authorize", access: "none" },
  { method: "POST", path: "/oauth/register", access: "none" },
  { method: "POST", path: "/oauth/token", access: "none" },
  { method: "POST", path: "/oauth/revoke", access: "none" },
  { method: "GET", path: "/", access: "none" },
  { method: "GET", path: "/docs", access: "none" },
  { method: "GET", path: "/docs/api", access: "none" },
  { method: "GET", path: "/docs/assets/:name", access: "none" },
  { method: "GET", path: "/docs/:page", access: "none" },
  { method: "GET", path: "/llms.txt", access: "none" },
  { method: "ALL", path: "/p/:ns/:db/:slug", access: "none" },
  { method: "GET", path: "/p/:ns/:db/:slug/captcha", access: "none" },

  { method: "POST", path: "/v1/handoff/redeem", access: "none" },
  { method: "GET", path: "/v1/me", access: "token" },
  { method: "POST", path: "/v1/sessions", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/query", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/batch", access: "database:read" },
  { method: "GET", path: "/v1/changes/:ticket", access: "none" },
  { method: "GET", path: "/v1/db/:ns/:db/changes", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/changes/ticket", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/tables", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/query_log", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/latency", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/describe", access: "database:read" },
  { method: "PUT", path: "/v1/db/:ns/:db/describe", access: "database:admin" },
  { method: "GET", path: "/v1/db/:ns/:db/search", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/doctor", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/validate", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/handoff", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/propose", access: "database:write" },
  { method: "POST", path: "/v1/db/:ns/:db/apply", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/redeem_approval", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/approvals/:token", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/claim_branch", access: "database:admin" },
  { method: "GET", path: "/v1/db/:ns/:db/branches", access: "database:read" },
  { method: "DELETE", path: "/v1/db/:ns/:db/branches/:ref", access: "database:admin" },
  { method: "POST", path: "/v1/db/:ns/:db/branches/:ref/reset", access: "database:admin" },
  { method: "GET", path: "/v1/db/:ns/:db/branches/:ref/diff", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/branches/:ref/merge", access: "database:admin" },
  { method: "GET", path: "/v1/db/:ns/:db/snapshots", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/snapshots", access: "database:write" },
  { method: "GET", path: "/v1/db/:ns/:db/archive", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/restore", access: "database:admin" },
  { method: "GET", path: "/v1/db/:ns/:db/migrations", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/migrations", access: "database:admin" },

  { method: "GET", path: "/v1/db/:ns/:db/export", access: "database:read" },
  { method: "POST", path: "/v1/db/:ns/:db/import", access: "database:admin" },
  { method: "GET", path: "/v1/db/:ns/:db/exports/:id", access: "database:read" },
  { method: "DELETE", path: "/v1/db/:ns/:db/exports/:id", access: "database:read" },
  { method: "GET", path: "/v1/db/:ns/:db/imports/:id", access: "database:admin" },
  { method: "DELETE", path: "/v1/db/:ns/:db/imports/:id", access: "database:admin" },

  { method: "POST", path: "/mcp", access: "token" },
  { method: "POST", path: "/mcp/", access: "token" },
  { method: "GET", path: "/hrana/:ns/:call{.+}", access: "none" },
  { method: "POST", path: "/hrana/:ns/:call{.+}", access: "database:read" },
  { method: "POST", path: "/v1/execute", access: "token" },
  { method: "POST", path: "/v1/batch", access: "token" },
  { method: "GET", path: "/v2", access: "none" },
  { method: "GET", path: "/v3", access: "none" },
  { method: "POST", path: "/v2/:operation", access: "token" },
  { method: "POST", path: "/v3/:operation", access: "token" },

  { method: "GET", path: "/api/backup", access: "operator" },
  { method: "GET", path: "/api/audit", access: "operator" },
  { method: "POST", path: "/api/namespaces", access: "operator" },
  { method: "GET", path: "/api/namespaces", access: "operator" },
  { method: "GET", path: "/api/namespaces/:slug", access: "namespace_reader" },
  { method: "PATCH", path: "/api/namespaces/:slug", access: "namespace_admin" },
  { method: "DELETE", path: "/api/namespaces/:slug", access: "operator" },
  { method: "POST", path: "/api/namespaces/:slug/databases", access: "namespace_admin" },
  { method: "GET", path: "/api/namespaces/:slug/databases", access: "namespace_reader" },
  { method: "GET", path: "/api/namespaces/:slug/databases/:dbSlug", access: "namespace_reader" },
  { method: "PATCH", path: "/api/namespaces/:slug/databases/:dbSlug", access: "namespace_admin" },
  { method: "DELETE", path: "/api/namespaces/:slug/databases/:dbSlug", access: "namespace_admin" },
  { method: "POST", path: "/api/namespaces/:slug/databases/restore", access: "namespace_admin" },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/sessions/revoke_all",
    access: "namespace_admin",
  },
  { method: "POST", path: "/api/namespaces/:slug/tokens", access: "namespace_admin" },
  { method: "GET", path: "/api/namespaces/:slug/tokens", access: "namespace_reader" },
  { method: "DELETE", path: "/api/namespaces/:slug/tokens/:id", access: "namespace_admin" },
  { method: "POST", path: "/api/namespaces/:slug/members", access: "namespace_admin" },
  { method: "GET", path: "/api/namespaces/:slug/members", access: "namespace_reader" },
  { method: "PATCH", path: "/api/namespaces/:slug/members/:id", access: "namespace_admin" },
  { method: "DELETE", path: "/api/namespaces/:slug/members/:id", access: "namespace_admin" },
  { method: "POST", path: "/api/namespaces/:slug/members/:id/invite", access: "namespace_admin" },
  { method: "GET", path: "/api/me/sessions", access: "self" },
  { method: "DELETE", path: "/api/me/sessions", access: "self" },
  { method: "DELETE", path: "/api/me/sessions/:id", access: "self" },
  { method: "POST", path: "/api/me/confirm", access: "self" },
  { method: "POST", path: "/api/me/confirm/options", access: "member" },
  { method: "GET", path: "/api/me/passkeys", access: "member" },
  { method: "POST", path: "/api/me/passkeys/options", access: "member" },
  { method: "POST", path: "/api/me/passkeys", access: "member" },
  { method: "DELETE", path: "/api/me/passkeys/:id", access: "member" },
  { method: "GET", path: "/api/namespaces/:slug/databases/:dbSlug/webhooks", access: "namespace_admin" },
  { method: "POST", path: "/api/namespaces/:slug/databases/:dbSlug/webhooks", access: "namespace_admin" },
  {
    method: "PATCH",
    path: "/api/namespaces/:slug/databases/:dbSlug/webhooks/:id",
    access: "namespace_admin",
  },
  {
    method: "DELETE",
    path: "/api/namespaces/:slug/databases/:dbSlug/webhooks/:id",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/webhooks/:id/test",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/webhooks/:id/redeliver",
    access: "namespace_admin",
  },
  { method: "GET", path: "/api/namespaces/:slug/databases/:dbSlug/rules", access: "namespace_reader" },
  { method: "POST", path: "/api/namespaces/:slug/databases/:dbSlug/rules", access: "namespace_admin" },
  { method: "PATCH", path: "/api/namespaces/:slug/databases/:dbSlug/rules/:id", access: "namespace_admin" },
  { method: "DELETE", path: "/api/namespaces/:slug/databases/:dbSlug/rules/:id", access: "namespace_admin" },
  { method: "GET", path: "/api/namespaces/:slug/databases/:dbSlug/endpoints", access: "namespace_reader" },
  { method: "POST", path: "/api/namespaces/:slug/databases/:dbSlug/endpoints", access: "namespace_admin" },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/scaffold-crud",
    access: "namespace_admin",
  },
  {
    method: "GET",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint",
    access: "namespace_reader",
  },
  {
    method: "PUT",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint",
    access: "namespace_admin",
  },
  {
    method: "PATCH",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint",
    access: "namespace_admin",
  },
  {
    method: "DELETE",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/publish",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/pause",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/unpublish",
    access: "namespace_admin",
  },
  {
    method: "GET",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/stats",
    access: "namespace_reader",
  },
  {
    method: "GET",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/revisions",
    access: "namespace_reader",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/revisions/:n/restore",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/test",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/link",
    access: "namespace_admin",
  },
  {
    method: "POST",
    path: "/api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/unlock",
    access: "namespace_admin",
  },
  { method: "GET", path: "/api/namespaces/:slug/approvals", access: "namespace_reader" },
  { method: "GET", path: "/api/namespaces/:slug/approvals/:id", access: "namespace_reader" },
  { method: "POST", path: "/api/namespaces/:slug/approvals/:id/look", access: "person" },
  { method: "POST", path: "/api/namespaces/:slug/approvals/:id/approve", access: "person" },
  { method: "POST", path: "/api/namespaces/:slug/approvals/:id/deny", access: "person" },
  { method: "GET", path: "/api/namespaces/:slug/approvals/:id/undo", access: "person" },
  { method: "POST", path: "/api/namespaces/:slug/approvals/:id/undo", access: "person" },
  { method: "GET", path: "/api/namespaces/:slug/audit", access: "namespace_reader" },
  { method: "GET", path: "/api/namespaces/:slug/balance", access: "namespace_reader" },
  { method: "POST", path: "/api/namespaces/:slug/credits", access: "operator" },
  { method: "GET", path: "/api/namespaces/:slug/usage", access: "namespace_reader" },
];
