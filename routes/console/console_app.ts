// The console itself, loaded at the first visit: an app of its own behind /console.
import { type Context, Hono } from "hono";
import type { AppDeps } from "../http/app_deps.ts";
import { arrivalOf, type Env } from "../http/env.ts";
import { notFound } from "../middleware/not_found.ts";
import { assetRoutes, loadAssets } from "./frame/assets.ts";
import { pageHeaders } from "./frame/csp.ts";
import { ownHost } from "./frame/own_host.ts";
import { approvalRoutes } from "./pages/approvals/approval.tsx";
import { approvalsRoutes } from "./pages/approvals/approvals.tsx";
import { accountRoutes } from "./pages/account/account.tsx";
import { archiveRoutes } from "./pages/archive/archive.tsx";
import { auditPageRoutes } from "./pages/namespace/audit.tsx";
import { connectRoutes } from "./pages/account/connect.tsx";
import { databasesRoutes } from "./pages/namespace/databases.tsx";
import { dataRoutes } from "./pages/tables/data.tsx";
import { deleteDatabaseRoutes } from "./pages/namespace/delete_database.tsx";
import { failurePage } from "./pages/failure.tsx";
import { linkRoutes } from "./pages/account/link.tsx";
import { membersRoutes } from "./pages/namespace/members.tsx";
import { namespacesRoutes } from "./pages/namespace/namespaces.tsx";
import { proveRoutes } from "./pages/account/prove.tsx";
import { overviewRoutes } from "./pages/database/overview.tsx";
import { settingsRoutes } from "./pages/namespace/settings.tsx";
import { tablesRoutes } from "./pages/tables/tables.tsx";
import { signInRoutes } from "./pages/account/sign_in.tsx";
import { signOutRoutes } from "./pages/account/sign_out.ts";
import { themeRoutes } from "./pages/account/theme.ts";
import { tokensRoutes } from "./pages/namespace/tokens.tsx";
import { usageRoutes } from "./pages/namespace/usage.tsx";
import { webhooksRoutes } from "./pages/database/webhooks.tsx";
import { sqlRoutes } from "./pages/sql/sql.tsx";
import { rulesRoutes } from "./pages/database/rules.tsx";
import { branchRoutes } from "./pages/branches/branch.tsx";
import { branchesRoutes } from "./pages/branches/branches.tsx";
import { endpointRoutes } from "./pages/endpoints/endpoint.tsx";
import { endpointsRoutes } from "./pages/endpoints/endpoints.tsx";
import { snapshotsRoutes } from "./pages/database/snapshots.tsx";
import { logRoutes } from "./pages/database/log.tsx";
import { sessionWord, signedInOnly, visiting } from "./frame/session.ts";
import { pageBehind } from "./page_behind.ts";

/** How one gets in, with whatever session the browser has already. */
const doors: readonly ((deps: AppDeps) => Hono<Env>)[] = [signInRoutes, linkRoutes];

/** In the order of their addresses; what belongs to no namespace first. */
const pages: readonly ((deps: AppDeps) => Hono<Env>)[] = [
  approvalsRoutes,
  approvalRoutes,
  signOutRoutes,
  accountRoutes,
  namespacesRoutes,
  themeRoutes,
  databasesRoutes,
  deleteDatabaseRoutes,
  rulesRoutes,
  webhooksRoutes,
  usageRoutes,
  tokensRoutes,
  membersRoutes,
  auditPageRoutes,
  settingsRoutes,
  overviewRoutes,
  sqlRoutes,
  tablesRoutes,
  branchesRoutes,
  branchRoutes,
  snapshotsRoutes,
  archiveRoutes,
  dataRoutes,
  endpointsRoutes,
  endpointRoutes,
  logRoutes,
];

/** Makes the app, with its assets. Its routes are those of `routes/security_table.ts` under `/console`. */
export async function consoleApp(deps: AppDeps): Promise<Hono<Env>> {
  const assets = await loadAssets();
  // With or without a slash at the end: people type addresses.
  const app = new Hono<Env>({ strict: false });
  app.onError(failurePage({ ...deps, pageBehind }));
  app.notFound(notFound(app));
  app.use(async (c, next) => {
    takeOver(c);
    await next();
  });
  app.use(ownHost(deps.baseUrl));
  app.route("/console/-/assets", assetRoutes(assets));
  app.use(pageHeaders({ secure: deps.baseUrl.startsWith("https:") }));
  app.use(visiting(deps, assets));
  for (const routesOf of doors) app.route("/console", routesOf(deps));
  app.use(sessionWord());
  app.route("/console", connectRoutes(deps));
  app.use(signedInOnly());
  app.get("/console", (c) => c.redirect(firstPage(c), 302));
  app.route("/console", proveRoutes(deps, (request, env) => app.fetch(request, env)));
  for (const routesOf of pages) app.route("/console", routesOf(deps));
  return app;
}

/** What was found out about the request before it came here. */
function takeOver(c: Context<Env>): void {
  const { carried } = c.env;
  if (carried === undefined) throw new TypeError("the console answers behind the service's own app only");
  c.set("arrival", arrivalOf(carried));
}

/** Where somebody begins: a member in the own namespace, the operator with all of them. */
function firstPage(c: Context<Env>): string {
  const caller = c.get("caller");
  return caller.kind === "member" ? `/console/${caller.namespaceSlug}` : "/console/-/namespaces";
}
