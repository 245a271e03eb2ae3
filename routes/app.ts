// The whole HTTP surface in mounting order: headers of every answer, health, flood control, then the API.
import { Hono } from "hono";
import { AppError } from "../lib/core/errors.ts";
import { FloodControl } from "../lib/guard/flood.ts";
import { ReadinessCheck, type ReadinessContext } from "../lib/services/health/check_readiness.ts";
import { apiRoutes } from "./api/mod.ts";
import { ComposedRouter } from "./composed_router.ts";
import { consoleRoutes } from "./console/mod.ts";
import { docsRoutes } from "./docs/mod.ts";
import { sendData } from "./http/answers.ts";
import type { AppDeps } from "./http/app_deps.ts";
import type { Env } from "./http/env.ts";
import { hranaRoutes } from "./hrana/mod.ts";
import { mcpRoutes } from "./mcp/mod.ts";
import { metricsRoutes } from "./metrics.ts";
import { answerHeaders, ResponsePadding } from "./middleware/answer_headers.ts";
import { errorBoundary } from "./middleware/error_boundary.ts";
import { floodGate } from "./middleware/flood_gate.ts";
import { notFound } from "./middleware/not_found.ts";
import { soundHost } from "./middleware/sound_host.ts";
import { oauthRoutes } from "./oauth/mod.ts";
import { openapiRoutes } from "./openapi.ts";
import { discoveryRoutes, publishedRoutes, wellKnownRoutes } from "./p/published.ts";
import { SurfaceRouter } from "./surface_router.ts";
import { v1Routes } from "./v1/mod.ts";

/** Ready for `Deno.serve(app.fetch)` and `app.request`. */
export function createApp(deps: AppDeps): Hono<Env> {
  const { config, clock, log, bodyWatch } = deps;
  const failureAnswer = errorBoundary(log);
  const app = new Hono<Env>({ router: new ComposedRouter(new SurfaceRouter(), failureAnswer) });
  app.onError(failureAnswer);
  app.notFound(notFound(app));
  const responsePadding = config.hosted ? null : new ResponsePadding();
  app.use(answerHeaders({ clock, bodyWatch, requests: deps.requests, responsePadding }));
  app.use(soundHost());
  app.route("/", healthRoutes(deps));
  app.use(
    floodGate({ flood: new FloodControl(config.floodPer10s), clock, log, trustedHops: config.trustProxy }),
  );
  app.route("/", metricsRoutes(deps));
  app.route("/", wellKnownRoutes(deps));
  app.route("/", oauthRoutes(deps));
  app.route("/", openapiRoutes(app, deps.baseUrl));
  app.route("/", hranaRoutes(deps));
  app.route("/", docsRoutes(deps));
  app.route("/console", consoleRoutes(deps));
  app.route("/api", apiRoutes(deps));
  app.route("/p", discoveryRoutes(deps));
  app.route("/p", publishedRoutes(deps));
  app.route("/v1", v1Routes(deps));
  app.route("/", mcpRoutes(deps));
  return app;
}

const MAKE_ROOM = "Make room on the disk, or make it writable; a part of the service can only be read";

/** For load balancers and process managers. Mounted at the root, without bearer and flood control. */
function healthRoutes(ready: ReadinessContext): Hono<Env> {
  const readiness = new ReadinessCheck(ready);
  return new Hono<Env>()
    .get("/healthz", (c) => sendData(c, { status: "ok" }))
    .get("/readyz", async (c) => {
      const { notReady, full, degraded } = await readiness.check();
      if (full.length > 0) throw new AppError("not_ready", { message: MAKE_ROOM, extra: { notReady, full } });
      if (notReady.length > 0) throw new AppError("not_ready", { extra: { notReady } });
      if (degraded.length > 0) return sendData(c, { status: "degraded", degraded });
      return sendData(c, { status: "ready" });
    });
}
