// Every address of the console and who gets in, for review in one place. The table lets nobody in: services do. A test
// compares the console with it.

/**
 * `anybody`: also who is not signed in. `signed_in`: every person. `member`: every member, not the
 * operator, who has no account. `viewer`: every member of the namespace, and the
 * operator. `editor`, `admin`: members with this role or more, and the operator. `operator`: whoever signed in with the
 * operator key.
 */
export type PageAccess = "anybody" | "signed_in" | "member" | "viewer" | "editor" | "admin" | "operator";

/** One address. What changes something is a POST, whose form carries the session's token. */
export interface PageRow {
  readonly method: "GET" | "POST";
  /** As mounted in Hono, with `:name` for a parameter. */
  readonly path: string;
  readonly access: PageAccess;
}

/** All addresses. */
export const pagesTable: readonly PageRow[] = [
  { method: "GET", path: "/console", access: "signed_in" },
  { method: "GET", path: "/console/-/assets/:hash/:name", access: "anybody" },

  { method: "GET", path: "/console/-/sign-in", access: "anybody" },
  { method: "POST", path: "/console/-/sign-in", access: "anybody" },
  { method: "POST", path: "/console/-/sign-in/begin", access: "anybody" },
  { method: "POST", path: "/console/-/sign-in/key", access: "anybody" },
  { method: "GET", path: "/console/-/invite/:token", access: "anybody" },
  { method: "POST", path: "/console/-/invite/:token", access: "anybody" },
  { method: "POST", path: "/console/-/invite/:token/begin", access: "anybody" },
  { method: "GET", path: "/console/-/start/:token", access: "anybody" },
  { method: "POST", path: "/console/-/start/:token", access: "anybody" },
  { method: "POST", path: "/console/-/start/:token/begin", access: "anybody" },
  { method: "GET", path: "/console/-/connect", access: "anybody" },
  { method: "POST", path: "/console/-/connect", access: "anybody" },

  { method: "POST", path: "/console/-/prove", access: "signed_in" },
  { method: "POST", path: "/console/-/prove/begin", access: "member" },
  { method: "POST", path: "/console/-/sign-out", access: "signed_in" },
  { method: "GET", path: "/console/-/account", access: "signed_in" },
  { method: "POST", path: "/console/-/account/passkeys/begin", access: "member" },
  { method: "POST", path: "/console/-/account/passkeys", access: "member" },
  { method: "POST", path: "/console/-/account/passkeys/:id/remove", access: "member" },
  { method: "POST", path: "/console/-/account/password", access: "member" },
  { method: "POST", path: "/console/-/account/sessions/end-others", access: "signed_in" },
  { method: "POST", path: "/console/-/account/sessions/:id/end", access: "signed_in" },
  { method: "GET", path: "/console/-/namespaces", access: "operator" },
  { method: "POST", path: "/console/-/namespaces", access: "operator" },
  { method: "POST", path: "/console/-/theme", access: "signed_in" },

  { method: "GET", path: "/console/:ns", access: "viewer" },
  { method: "POST", path: "/console/:ns/databases", access: "admin" },
  { method: "POST", path: "/console/:ns/databases/bring-back", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/delete", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/delete", access: "admin" },

  { method: "GET", path: "/console/:ns/approvals", access: "viewer" },
  { method: "GET", path: "/console/:ns/approvals/since", access: "viewer" },
  { method: "GET", path: "/console/:ns/approvals/:id", access: "viewer" },
  { method: "GET", path: "/console/:ns/approvals/:id/since", access: "viewer" },
  { method: "POST", path: "/console/:ns/approvals/:id/look", access: "admin" },
  { method: "POST", path: "/console/:ns/approvals/:id/decide", access: "admin" },
  { method: "GET", path: "/console/:ns/approvals/:id/undo", access: "admin" },
  { method: "POST", path: "/console/:ns/approvals/:id/undo", access: "admin" },

  { method: "GET", path: "/console/:ns/usage", access: "viewer" },
  { method: "GET", path: "/console/:ns/tokens", access: "viewer" },
  { method: "POST", path: "/console/:ns/tokens", access: "admin" },
  { method: "GET", path: "/console/:ns/tokens/:id/revoke", access: "admin" },
  { method: "POST", path: "/console/:ns/tokens/:id/revoke", access: "admin" },
  { method: "GET", path: "/console/:ns/members", access: "viewer" },
  { method: "POST", path: "/console/:ns/members", access: "admin" },
  { method: "POST", path: "/console/:ns/members/:id/role", access: "admin" },
  { method: "POST", path: "/console/:ns/members/:id/link", access: "admin" },
  { method: "POST", path: "/console/:ns/members/:id/remove", access: "admin" },
  { method: "GET", path: "/console/:ns/audit", access: "viewer" },
  { method: "GET", path: "/console/:ns/settings", access: "viewer" },
  { method: "POST", path: "/console/:ns/settings", access: "admin" },
  { method: "POST", path: "/console/:ns/settings/credit", access: "operator" },
  { method: "POST", path: "/console/:ns/settings/delete", access: "operator" },

  { method: "GET", path: "/console/:ns/db/:db", access: "viewer" },
  { method: "GET", path: "/console/:ns/db/:db/findings", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/descriptions", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/sql", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/sql", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/sql/check", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/sql/download", access: "viewer" },

  { method: "GET", path: "/console/:ns/db/:db/rules", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/rules", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/rules/:id", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/rules/:id/enabled", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/rules/:id/delete", access: "admin" },

  { method: "GET", path: "/console/:ns/db/:db/webhooks", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/webhooks", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/webhooks/:id/test", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/webhooks/:id/redeliver", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/webhooks/:id/enabled", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/webhooks/:id/secret", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/webhooks/:id/delete", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/tables", access: "viewer" },
  { method: "GET", path: "/console/:ns/db/:db/tables/:t", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/tables/:t/row", access: "editor" },

  { method: "GET", path: "/console/:ns/db/:db/branches", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/branches", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/branches/:ref", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/branches/:ref/merge", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/branches/:ref/reset", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/branches/:ref/delete", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/snapshots", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/snapshots", access: "editor" },
  { method: "GET", path: "/console/:ns/db/:db/snapshots/:label/restore", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/snapshots/:label/restore", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/snapshots/:label/copy", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/archive", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/archive/moment", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/data", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/data/export", access: "viewer" },
  { method: "GET", path: "/console/:ns/db/:db/endpoints", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/endpoints/-/new", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/-/check", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/-/scaffold", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/endpoints/:slug", access: "viewer" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/check", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/test", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/restore", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/delete", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/publish", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/pause", access: "admin" },
  { method: "POST", path: "/console/:ns/db/:db/endpoints/:slug/unpublish", access: "admin" },
  { method: "GET", path: "/console/:ns/db/:db/log", access: "viewer" },
];
