// The whole HTTP surface in mounting order: what every answer carries, health, flood control, then the API.
import { Hono } from "hono";
import type { Config } from "../lib/config.ts";
import type { Clock } from "../lib/core/clock.ts";
import type { Log } from "../lib/core/log.ts";
import type { BodyWatch } from "../lib/guard/body_watch.ts";
import { FloodControl } from "../lib/guard/flood.ts";
import type { TenantStore } from "../lib/tenant/tenant_store.ts";
import type { Env } from "./env.ts";
import { healthRoutes } from "./health.ts";
import { answerHeaders } from "./middleware/answer_headers.ts";
import { errorBoundary } from "./middleware/error_boundary.ts";
import { floodGate } from "./middleware/flood_gate.ts";
import { notFound } from "./middleware/not_found.ts";

/** What the process gives the HTTP surface. */
export interface AppDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly kv: Deno.Kv;
  readonly tenants: TenantStore;
  readonly bodyWatch: BodyWatch;
}

/** Ready for `Deno.serve(app.fetch)` and `app.request`. */
export function createApp(deps: AppDeps): Hono<Env> {
  const { config, clock, log, bodyWatch } = deps;
  const app = new Hono<Env>();
  app.onError(errorBoundary(log));
  app.notFound(notFound(app));
  app.use(answerHeaders(clock, bodyWatch));
  app.route("/", healthRoutes(deps));
  app.use(floodGate({ flood: new FloodControl(config.floodPer10s), clock, trustedHops: config.trustProxy }));
  return app;
}
