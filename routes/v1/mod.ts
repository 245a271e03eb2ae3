// Everything under /v1: SQL and what belongs to it, for an API token of the namespace.
import { Hono } from "hono";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { target, tokenBearer } from "../middleware/access.ts";
import { refuseHeaders } from "../middleware/header_flag.ts";
import { plan } from "../middleware/plan.ts";
import { refuseParameters } from "../middleware/refuse_parameters.ts";
import { branchRoutes } from "./branches.ts";
import { changesRoutes, ticketRoutes } from "./changes.ts";
import { migrationRoutes } from "./migrations.ts";
import { queryRoutes, validateRoutes } from "./query.ts";
import { describeRoutes, doctorRoutes, searchRoutes } from "./schema.ts";
import { sessionRoutes } from "./sessions.ts";
import { snapshotRoutes } from "./snapshots.ts";
import { tableRoutes } from "./tables.ts";
import { handoffRoutes, meRoutes, redeemHandoffRoutes } from "./tokens.ts";
import { transferRoutes } from "./transfers.ts";
import { writeRoutes } from "./writes.ts";

/** Mounted under `/v1`. */
export function v1Routes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .route("/", redeemHandoffRoutes(deps))
    .route("/", ticketRoutes(deps))
    .use(tokenBearer(deps))
    .route("/", meRoutes())
    .route("/", sessionRoutes(deps))
    .route("/db/:ns/:db", transferRoutes(deps))
    .use("/db/:ns/:db/*", target(deps), refuseParameters(), plan(deps.query.replays))
    .route("/db/:ns/:db", queryRoutes(deps.query))
    .use("/db/:ns/:db/*", refuseHeaders({ plans: true }))
    .route("/db/:ns/:db", writeRoutes(deps))
    .route("/db/:ns/:db", tableRoutes(deps.query))
    .route("/db/:ns/:db", changesRoutes(deps))
    .route("/db/:ns/:db", describeRoutes(deps.query))
    .route("/db/:ns/:db", searchRoutes(deps))
    .route("/db/:ns/:db", doctorRoutes(deps))
    .route("/db/:ns/:db", validateRoutes(deps.query))
    .route("/db/:ns/:db", handoffRoutes(deps))
    .route("/db/:ns/:db", branchRoutes(deps))
    .route("/db/:ns/:db", snapshotRoutes(deps))
    .route("/db/:ns/:db", migrationRoutes(deps));
}
