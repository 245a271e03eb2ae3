// GET /metrics: the figures of the process for Prometheus, of no tenant alone.
import { Hono, type MiddlewareHandler } from "hono";
import { requireScraper } from "../lib/access/authenticate.ts";
import { METRICS_TYPE, metricsText } from "../lib/core/metrics.ts";
import { collectMetrics } from "../lib/services/metrics/collect_metrics.ts";
import type { AppDeps } from "./http/app_deps.ts";
import type { Env } from "./http/env.ts";
import { noQuery } from "./http/schemas.ts";
import { validate } from "./middleware/validate.ts";

/** Mounted at the root, behind flood control. */
export function metricsRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get("/metrics", scraperOnly(deps), validate("query", noQuery), async (c) => {
    return c.body(metricsText(await collectMetrics(deps)), 200, { "Content-Type": METRICS_TYPE });
  });
}

function scraperOnly(deps: AppDeps): MiddlewareHandler<Env> {
  return (c, next) => {
    requireScraper(deps, deps.config.metricsToken, c.req.header("authorization"));
    return next();
  };
}
