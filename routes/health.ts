// GET /healthz and /readyz, for load balancers and process managers. Without bearer and flood control.
import { Hono } from "hono";
import { AppError } from "../lib/core/errors.ts";
import { ReadinessCheck, type ReadinessContext } from "../lib/services/health/check_readiness.ts";
import type { Env } from "./http/env.ts";

/** Mounted at the root. */
export function healthRoutes(ready: ReadinessContext): Hono<Env> {
  const readiness = new ReadinessCheck(ready);
  return new Hono<Env>()
    .get("/healthz", (c) => c.json({ success: true, data: { status: "ok" } }))
    .get("/readyz", async (c) => {
      const { notReady, degraded } = await readiness.check();
      if (notReady.length > 0) throw new AppError("not_ready", { extra: { notReady } });
      if (degraded.length > 0) return c.json({ success: true, data: { status: "degraded", degraded } });
      return c.json({ success: true, data: { status: "ready" } });
    });
}
