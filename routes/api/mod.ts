// Everything under /api: management, for an unscoped admin token of the namespace, the operator's key, or people who
// have signed in to the console.
import { Hono } from "hono";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { bearerOrSession } from "../middleware/access.ts";
import { refuseHeaders } from "../middleware/header_flag.ts";
import { onlyPost } from "../middleware/not_found.ts";
import { refuseParameters } from "../middleware/refuse_parameters.ts";
import { accountRoutes } from "./accounts.ts";
import { approvalRoutes, undoRoutes } from "./approvals.ts";
import { auditRoutes, serviceAuditRoutes } from "./audit.ts";
import { backupRoutes } from "./backup.ts";
import { databaseRoutes, sessionRoutes } from "./databases.ts";
import { endpointRoutes } from "./endpoints.ts";
import { meRoutes } from "./me.ts";
import { memberRoutes } from "./members.ts";
import { moneyRoutes } from "./money.ts";
import { namespaceRoutes } from "./namespaces.ts";
import { ruleRoutes } from "./rules.ts";
import { tokenRoutes } from "./tokens.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Mounted under `/api`. */
export function apiRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .use(bearerOrSession(deps))
    .use("/namespaces/:slug/databases/restore/*", onlyPost())
    .use("/namespaces/:slug/databases/:dbSlug/endpoints/scaffold-crud/*", onlyPost())
    .use("/me/passkeys/options/*", onlyPost())
    .use(refuseHeaders({ plans: false }), refuseParameters())
    .route("/namespaces", namespaceRoutes(deps))
    .route("/namespaces", databaseRoutes(deps))
    .route("/namespaces", sessionRoutes(deps))
    .route("/namespaces", tokenRoutes(deps))
    .route("/namespaces", memberRoutes(deps))
    .route("/me", meRoutes(deps))
    .route("/", backupRoutes(deps))
    .route("/", serviceAuditRoutes(deps))
    .route("/namespaces", moneyRoutes(deps))
    .route("/namespaces", ruleRoutes(deps))
    .route("/namespaces", webhookRoutes(deps))
    .route("/namespaces", approvalRoutes(deps))
    .route("/namespaces", undoRoutes(deps))
    .route("/namespaces", auditRoutes(deps))
    .route("/namespaces", endpointRoutes(deps))
    .route("/namespaces", accountRoutes(deps));
}
