// The console itself, loaded at the first visit: an app of its own behind /console.
import { type Context, Hono } from "hono";
import type { AppDeps } from "../http/app_deps.ts";
import { arrivalOf, type Env } from "../http/env.ts";
import { notFound } from "../middleware/not_found.ts";
import { assetRoutes, loadAssets } from "./frame/assets.ts";
import { pageHeaders } from "./frame/csp.ts";
import { ownHost } from "./frame/own_host.ts";
import { approvalRoutes } from "./pages/approval.tsx";
import { approvalsRoutes } from "./pages/approvals.tsx";
import { accountRoutes } from "./pages/account.tsx";
import { archiveRoutes } from "./pages/archive.tsx";
import { auditPageRoutes } from "./pages/audit.tsx";
import { connectRoutes } from "./pages/connect.tsx";
import { databasesRoutes } from "./pages/databases.tsx";
import { dataRoutes } from "./pages/data.tsx";
import { deleteDatabaseRoutes } from "./pages/delete_database.tsx";
import { failurePage } from "./pages/failure.tsx";
import { linkRoutes } from "./pages/link.tsx";
import { membersRoutes } from "./pages/members.tsx";
import { namespacesRoutes } from "./pages/namespaces.tsx";
import { proveRoutes } from "./pages/prove.tsx";
import { overviewRoutes } from "./pages/overview.tsx";
import { settingsRoutes } from "./pages/settings.tsx";
import { tablesRoutes } from "./pages/tables.tsx";
import { signInRoutes } from "./pages/sign_in.tsx";
import { signOutRoutes } from "./pages/sign_out.ts";
import { themeRoutes } from "./pages/theme.ts";
import { tokensRoutes } from "./pages/tokens.tsx";
import { usageRoutes } from "./pages/usage.tsx";
import { webhooksRoutes } from "./pages/webhooks.tsx";
import { sqlRoutes } from "./pages/sql.tsx";
import { rulesRoutes } from "./pages/rules.tsx";
import { branchRoutes } from "./pages/branch.tsx";
import { branchesRoutes } from "./pages/branches.tsx";
import { endpointRoutes } from "./pages/endpoint.tsx";
import { endpointsRoutes } from "./pages/endpoints.tsx";
import { snapshotsRoutes } from "./pages/snapshots.tsx";
import { logRoutes } from "./pages/log.tsx";
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
