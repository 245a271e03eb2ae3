// The whole HTTP surface in mounting order: headers of every answer, health, flood control, then the API.
import { Hono } from "hono";
import { FloodControl } from "../lib/guard/flood.ts";
import { apiRoutes } from "./api/mod.ts";
import { docsRoutes } from "./docs/mod.ts";
import { healthRoutes } from "./health.ts";
import type { AppDeps } from "./http/app_deps.ts";
import type { Env } from "./http/env.ts";
import { answerHeaders, ResponsePadding } from "./middleware/answer_headers.ts";
import { errorBoundary } from "./middleware/error_boundary.ts";
import { floodGate } from "./middleware/flood_gate.ts";
import { notFound } from "./middleware/not_found.ts";
import { openapiRoutes } from "./openapi.ts";
import { discoveryRoutes, wellKnownRoutes } from "./p/discovery.ts";
import { publishedRoutes } from "./p/published.ts";
import { SurfaceRouter } from "./surface_router.ts";
import { v1Routes } from "./v1/mod.ts";

/** Ready for `Deno.serve(app.fetch)` and `app.request`. */
export function createApp(deps: AppDeps): Hono<Env> {
  const { config, clock, log, bodyWatch } = deps;
  const app = new Hono<Env>({ router: new SurfaceRouter() });
  app.onError(errorBoundary(log));
  app.notFound(notFound(app));
  const responsePadding = config.hosted ? null : new ResponsePadding(clock);
  app.use(answerHeaders({ clock, bodyWatch, responsePadding }));
  app.route("/", healthRoutes(deps));
  app.use(floodGate({ flood: new FloodControl(config.floodPer10s), clock, trustedHops: config.trustProxy }));
  app.route("/", wellKnownRoutes(deps));
  app.route("/", openapiRoutes(app, deps.baseUrl));
  app.route("/", docsRoutes(deps));
  app.route("/api", apiRoutes(deps));
  app.route("/p", discoveryRoutes(deps));
  app.route("/p", publishedRoutes(deps));
  app.route("/v1", v1Routes(deps));
  return app;
}
